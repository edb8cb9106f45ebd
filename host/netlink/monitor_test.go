package netlink

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// patience is how long a test waits for what must come, on a busy machine too.
const patience = 20 * time.Second

// events runs Monitor until the test ends and returns its events after the first Resync.
func events(t *testing.T, c *Conn) <-chan Event {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ch := make(chan Event, 1000)
	result := make(chan error, 1)
	go func() { result <- c.Monitor(ctx, func(e Event) { ch <- e }) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-result:
			if !errors.Is(err, context.Canceled) {
				t.Error("monitor ended with", err)
			}
		case <-time.After(patience):
			t.Error("monitor did not end")
		}
	})
	if e := next(t, ch, Resync, 0); e.Kind != Resync {
		t.Fatalf("first event %+v, want resync", e)
	}
	return ch
}

// next waits for an event of that kind about that device and lets others pass.
func next(t *testing.T, ch <-chan Event, kind Kind, ifindex int) Event {
	t.Helper()
	timeout := time.After(patience)
	for {
		select {
		case e := <-ch:
			if e.Kind == kind && e.Ifindex == ifindex {
				return e
			}
		case <-timeout:
			t.Fatalf("no event %s of ifindex %d", kind, ifindex)
		}
	}
}

func drain(ch <-chan Event) {
	for {
		select {
		case <-ch:
		case <-time.After(50 * time.Millisecond):
			return
		}
	}
}

// Monitor tells of links and of ethtool settings in the Conn's namespace, which is not that of the
// thread which calls it here; whether set by netlink or by ioctl.
func TestMonitor(t *testing.T) {
	r := newRig(t, 8)
	var io *ioctl
	r.Do(t, func() {
		var err error
		if io, err = newIoctl(); err != nil {
			t.Fatal(err)
		}
	})
	defer func() {
		if err := io.close(DefaultTimeout); err != nil {
			t.Error(err)
		}
	}()
	ch := events(t, r.Conn)

	for _, tc := range []struct {
		what string
		do   func()
		kind Kind
	}{
		{"link down", func() { r.Run(t, "ip", "link", "set", "va", "down") }, Link},
		{"link up", func() { r.Run(t, "ip", "link", "set", "va", "up") }, Link},
		{"channels by netlink", func() { r.setChannels(t, 3) }, ChannelSet},
		{"channels by ioctl", func() {
			if err := setChannelsByIoctl(io, "va", 4); err != nil {
				t.Fatal(err)
			}
		}, ChannelSet},
		{"feature", func() { r.setFeature(t, FeatureGRO, true) }, FeatureSet},
	} {
		t.Run(tc.what, func(t *testing.T) {
			drain(ch)
			tc.do()
			if e := next(t, ch, tc.kind, r.va); e.Gone {
				t.Errorf("%+v: gone", e)
			}
		})
	}
	t.Run("device removed", func(t *testing.T) {
		r.Run(t, "ip", "link", "del", "va")
		for !next(t, ch, Link, r.va).Gone {
		}
	})
}

// A Monitor that was overrun says so instead of going on as if nothing were missing.
func TestMonitorOverrun(t *testing.T) {
	r := newRig(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	release := make(chan struct{})
	resyncs := make(chan struct{}, 100)
	result := make(chan error, 1)
	go func() {
		first := true
		result <- r.Monitor(ctx, func(e Event) {
			if e.Kind == Resync {
				resyncs <- struct{}{}
			} else if first {
				first = false
				<-release // a slow receiver
			}
		})
	}()
	<-resyncs
	// More than a default receive buffer (212,992 bytes) of link messages of about 1.5 KB each.
	batch := "while [ $((i+=1)) -le 300 ]; do echo link set va mtu $((1300+i)); done | ip -batch -"
	r.Run(t, "sh", "-c", batch)
	close(release)
	select {
	case <-resyncs:
	case <-time.After(patience):
		t.Error("no resync after an overrun")
	}
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// setFeature is `ethtool -K va NAME on|off`.
func (r *rig) setFeature(t testing.TB, name string, on bool) {
	t.Helper()
	attrs, err := deviceHeader(r.va, func(ae *netlink.AttributeEncoder) {
		ae.Nested(unix.ETHTOOL_A_FEATURES_WANTED, func(set *netlink.AttributeEncoder) error {
			set.Nested(unix.ETHTOOL_A_BITSET_BITS, func(bits *netlink.AttributeEncoder) error {
				bits.Nested(unix.ETHTOOL_A_BITSET_BITS_BIT, func(bit *netlink.AttributeEncoder) error {
					bit.String(unix.ETHTOOL_A_BITSET_BIT_NAME, name)
					bit.Flag(unix.ETHTOOL_A_BITSET_BIT_VALUE, on)
					return nil
				})
				return nil
			})
			return nil
		})
	})
	if err == nil {
		err = r.ethtool.get(DefaultTimeout, unix.ETHTOOL_MSG_FEATURES_SET, attrs, func([]byte) error { return nil })
	}
	if err != nil {
		t.Fatal("set feature:", err)
	}
}

// Messages that are none of ours make no event.
func TestEventDecoding(t *testing.T) {
	link := func(family byte, index uint32) []byte {
		b := make([]byte, unix.SizeofIfInfomsg)
		b[0] = family
		ne.PutUint32(b[4:], index)
		return b
	}
	header := attribute(1, attribute(unix.ETHTOOL_A_HEADER_DEV_INDEX, u32(4)))
	for name, tc := range map[string]struct {
		decode func(netlink.Message) (Event, bool)
		typ    netlink.HeaderType
		data   []byte
		want   Event
	}{
		"new link":    {linkEvent, unix.RTM_NEWLINK, link(unix.AF_UNSPEC, 4), Event{Kind: Link, Ifindex: 4}},
		"del link":    {linkEvent, unix.RTM_DELLINK, link(unix.AF_UNSPEC, 4), Event{Kind: Link, Ifindex: 4, Gone: true}},
		"bridge port": {linkEvent, unix.RTM_DELLINK, link(unix.AF_BRIDGE, 4), Event{}},
		"address":     {linkEvent, unix.RTM_NEWADDR, link(unix.AF_UNSPEC, 4), Event{}},
		"short":       {linkEvent, unix.RTM_NEWLINK, []byte{0}, Event{}},
		"rss":         {ethtoolEvent, 20, join([]byte{msgRSSNtf, 1, 0, 0}, header), Event{Kind: RSSSet, Ifindex: 4}},
		"pause":       {ethtoolEvent, 20, join([]byte{unix.ETHTOOL_MSG_PAUSE_NTF, 1, 0, 0}, header), Event{Kind: Other, Ifindex: 4}},
		"no device":   {ethtoolEvent, 20, []byte{msgRSSNtf, 1, 0, 0}, Event{}},
		"garbled":     {ethtoolEvent, 20, join([]byte{msgRSSNtf, 1, 0, 0}, header[:9]), Event{}},
		"no message":  {ethtoolEvent, 20, nil, Event{}},
	} {
		got, ok := tc.decode(netlink.Message{Header: netlink.Header{Type: tc.typ}, Data: tc.data})
		if ok != (tc.want != Event{}) || ok && got != tc.want {
			t.Errorf("%s: %+v %v, want %+v", name, got, ok, tc.want)
		}
	}
}
