package netlink

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// Families and operations come from the kernel's own list.
func TestHas(t *testing.T) {
	c := dial(t)
	if !c.HasEthtool() {
		t.Fatal("no ethtool family (Linux 5.6)")
	}
	if !c.HasOp("ethtool", unix.ETHTOOL_MSG_CHANNELS_GET) {
		t.Error("no channels-get")
	}
	for _, tc := range []struct {
		family string
		cmd    uint8
	}{{"ethtool", 0}, {"ethtool", 255}, {"netdev", 255}, {"nosuch", 1}} {
		if c.HasOp(tc.family, tc.cmd) {
			t.Errorf("has %s %d", tc.family, tc.cmd)
		}
	}
}

// A family the kernel does not have (netdev in 6.1) is no error of Dial; its requests are unsupported.
func TestMissingFamily(t *testing.T) {
	s, err := dialFamily("nst-none")
	if err != nil {
		t.Fatal(err)
	}
	defer s.conn.Close()
	c := dial(t)
	defer func(s *sock) { c.netdev = s }(c.netdev)
	c.netdev = s
	if c.HasNetdev() || c.HasOp("nst-none", 1) {
		t.Error("has a family that does not exist")
	}
	for name, err := range map[string]error{
		"queues": second(c.Queues(nil)),
		"napis":  second(c.NAPIs(nil)),
		"qstats": second(c.QueueStats(1, nil)),
	} {
		if !errors.Is(err, ErrUnsupported) || !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// requests are all that ask about one device.
func requests(c *Conn, name string, index int) map[string]func() error {
	return map[string]func() error{
		"channels":    func() error { return second(c.Channels(index)) },
		"rings":       func() error { return second(c.Rings(index)) },
		"coalesce":    func() error { return second(c.Coalesce(index)) },
		"rss":         func() error { return second(c.RSS(index, 0)) },
		"rss ioctl":   func() error { return second(c.rssByIoctl(index, 0)) },
		"features":    func() error { return second(c.Features(index)) },
		"strings":     func() error { return second(c.StringSet(index, StringsStats)) },
		"speed":       func() error { _, _, err := c.LinkSpeed(index); return err },
		"linkstate":   func() error { return second(c.LinkUp(index)) },
		"contexts":    func() error { return second(c.RSSContexts(index)) },
		"qstats":      func() error { return second(c.QueueStats(index, nil)) },
		"driver":      func() error { return second(c.DriverInfo(name)) },
		"rxflowhash":  func() error { return second(c.RXFlowHash(name, UDP4)) },
		"rxrulecount": func() error { return second(c.RXRuleCount(name)) },
		"rxrules":     func() error { return second(c.RXRules(name)) },
		"rxrings":     func() error { return second(c.RXRings(name)) },
		"stats":       func() error { _, _, err := c.NewStats(name).Read(); return err },
	}
}

// "The device is not there" and "the device can't do that" are different answers, and each says which
// device and which request.
func TestNoDeviceIsNotUnsupported(t *testing.T) {
	r := newRig(t, 1)
	for name, ask := range requests(r.Conn, "vnone", 99999) {
		err := ask()
		if !errors.Is(err, unix.ENODEV) || errors.Is(err, ErrUnsupported) {
			t.Errorf("%s of a device that is not there: %v", name, err)
			continue
		}
		var e *Error
		if !errors.As(err, &e) || e.Request == "" || (e.Device != "vnone" && e.Device != "ifindex 99999") {
			t.Errorf("%s: %#v does not say what and where", name, err)
		}
	}
	lo := 1
	for name, ask := range requests(r.Conn, "lo", lo) {
		err := ask()
		switch name {
		case "features", "linkstate", "contexts": // every device has them, or none of them
			if err != nil {
				t.Errorf("%s of lo: %v", name, err)
			}
		default:
			if !errors.Is(err, ErrUnsupported) || errors.Is(err, unix.ENODEV) {
				t.Errorf("%s of lo: %v", name, err)
			}
		}
	}
	for _, index := range []int{0, -1} {
		if _, err := r.Channels(index); !errors.Is(err, unix.ENODEV) {
			t.Errorf("ifindex %d: %v", index, err)
		}
	}
	for _, name := range []string{"", strings.Repeat("x", 16), "va" + strings.Repeat("\x00", 3) + strings.Repeat("x", 20)} {
		if _, err := r.DriverInfo(name); !errors.Is(err, unix.ENODEV) {
			t.Errorf("name %q: %v", name, err)
		}
	}
}

// A device that goes away between two requests is ENODEV at the second.
func TestDeviceRemoved(t *testing.T) {
	r := newRig(t, 2)
	stats := r.NewStats("va")
	if _, _, err := stats.Read(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Channels(r.va); err != nil {
		t.Fatal(err)
	}
	r.Run(t, "ip", "link", "del", "va")
	if _, _, err := stats.Read(); !errors.Is(err, unix.ENODEV) {
		t.Errorf("stats: %v", err)
	}
	if _, err := r.Channels(r.va); !errors.Is(err, unix.ENODEV) {
		t.Errorf("channels: %v", err)
	}
	if r.HasOp(netdevFamily, CmdQueueGet) {
		qs, err := r.Queues(nil)
		if err != nil {
			t.Error(err)
		}
		for _, q := range qs {
			if q.Ifindex == r.va {
				t.Errorf("still there: %+v", q)
			}
		}
	}
}

// A Conn keeps to the namespace it was opened in, whatever thread uses it.
func TestNamespace(t *testing.T) {
	r := newRig(t, 2)
	if _, err := dial(t).DriverInfo("va"); !errors.Is(err, unix.ENODEV) {
		t.Errorf("va is seen outside its namespace: %v", err)
	}
	d, err := r.DriverInfo("va")
	if err != nil || d.Driver != "veth" {
		t.Errorf("%+v, %v", d, err)
	}
	if up, err := r.LinkUp(r.va); err != nil || !up {
		t.Errorf("link up %v, %v", up, err)
	}
}

// Reading needs no privilege.
func TestUnprivileged(t *testing.T) {
	r := newRig(t, 2)
	done := make(chan struct{})
	go func() {
		defer close(done)
		// Raw, so that only this thread changes; it ends with the goroutine, being locked.
		runtime.LockOSThread()
		if err := setns(r.Name); err != nil {
			t.Error(err)
			return
		}
		const nobody = 65534
		if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, nobody, nobody, nobody); e != 0 {
			t.Error(e)
			return
		}
		c, err := Dial()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		for name, ask := range requests(c, "va", r.va) {
			if err := ask(); errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := c.Channels(r.va); err != nil {
			t.Error(err)
		}
		if _, _, err := c.NewStats("va").Read(); err != nil {
			t.Error(err)
		}
		if c.HasOp(netdevFamily, CmdQueueGet) {
			qs, err := c.Queues(nil)
			if err != nil {
				t.Error(err)
			}
			countVA(t, r, qs, 2)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if err := c.Monitor(ctx, func(Event) { cancel() }); !errors.Is(err, context.Canceled) {
			t.Error("monitor:", err)
		}
	}()
	<-done
}

func setns(name string) error {
	fd, err := unix.Open("/run/netns/"+name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Setns(fd, unix.CLONE_NEWNET)
}

// One Conn serves many goroutines at once, while the device changes under them.
func TestConcurrent(t *testing.T) {
	r := newRig(t, 64)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			stats := r.NewStats("va")
			for range 10 {
				for name, ask := range requests(r.Conn, "va", r.va) {
					if err := ask(); err != nil && !errors.Is(err, ErrUnsupported) {
						t.Errorf("%s: %v", name, err)
					}
				}
				v, _, err := stats.Read()
				if err != nil || len(v) != len(stats.Names()) {
					t.Errorf("%d values, %d names, %v", len(v), len(stats.Names()), err)
				}
				if _, err := r.Queues(nil); err != nil {
					t.Error(err)
				}
				if _, err := r.NAPIs(nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Go(func() {
		for i := range 10 {
			r.setChannels(t, uint32(1+(i*13)%64))
		}
	})
	wg.Wait()
}

// Requests after Close fail; a second Close does not.
func TestClosed(t *testing.T) {
	c, err := Dial()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.Close(), c.ioctl.close(c.Timeout)); err != nil {
		t.Fatal(err)
	}
	for name, ask := range requests(c, "lo", 1) {
		if name == "qstats" && !c.HasNetdev() {
			continue
		}
		if err := ask(); err == nil || errors.Is(err, ErrUnsupported) {
			t.Errorf("%s after Close: %v", name, err)
		}
	}
	if _, err := c.Queues(nil); err == nil {
		t.Error("queues after Close")
	}
}
