package live

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/scan"
	"github.com/netsteer/netsteer/internal/testenv"
)

// nicsOf opens the sockets inside ns; the questions can then be put anywhere.
func nicsOf(t testing.TB, ns *testenv.NS) *NICs {
	t.Helper()
	var n *NICs
	ns.Do(t, func() {
		var err error
		if n, err = NewNICs(); err != nil {
			t.Fatal(err)
		}
	})
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// pairOf makes va with 4 RX and 2 TX queues, and vb.
func pairOf(t testing.TB, ns *testenv.NS) {
	t.Helper()
	ns.Run(t, "ip", "link", "add", "va", "numrxqueues", "4", "numtxqueues", "2",
		"type", "veth", "peer", "name", "vb", "numrxqueues", "2", "numtxqueues", "4")
	ns.Run(t, "ip", "link", "set", "va", "up")
	ns.Run(t, "ip", "link", "set", "vb", "up")
}

// setGRO is ETHTOOL_SGRO: with it on, a veth has NAPIs.
func setGRO(t testing.TB, ns *testenv.NS, device string) {
	t.Helper()
	value := [8]byte{}
	binary.NativeEndian.PutUint32(value[:], unix.ETHTOOL_SGRO)
	binary.NativeEndian.PutUint32(value[4:], 1)
	ifr := struct {
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [16]byte
	}{data: unsafe.Pointer(&value)}
	copy(ifr.name[:], device)
	ns.Do(t, func() {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
		if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&ifr))); e != 0 {
			t.Fatalf("ETHTOOL_SGRO %s: %v", device, e)
		}
	})
	runtime.KeepAlive(&value)
}

// questions are all that name a device.
func questions(n *NICs, device string) map[string]func() error {
	return map[string]func() error{
		"DriverInfo": func() error { _, err := n.DriverInfo(device); return err },
		"Channels":   func() error { _, err := n.Channels(device); return err },
		"Rings":      func() error { _, err := n.Rings(device); return err },
		"Coalesce":   func() error { _, err := n.Coalesce(device); return err },
		"Features":   func() error { _, err := n.Features(device); return err },
		"RSS":        func() error { _, err := n.RSS(device); return err },
		"Speed":      func() error { _, err := n.Speed(device); return err },
		"Stats":      func() error { _, _, err := n.Stats(device).Read(); return err },
		"QueueStats": func() error { _, err := n.QueueStats(nil, device); return err },
	}
}

func TestMissingDeviceIsNotExist(t *testing.T) {
	n := nicsOf(t, testenv.Netns(t))
	for _, device := range []string{"none0", "", "a-name-longer-than-ifnamsiz"} {
		for what, ask := range questions(n, device) {
			err := ask()
			if !errors.Is(err, fs.ErrNotExist) || !errors.Is(err, unix.ENODEV) || errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("%s(%q): error %v, want one of fs.ErrNotExist and ENODEV", what, device, err)
				continue
			}
			if !strings.Contains(err.Error(), device) {
				t.Errorf("%s(%q): error does not name the device: %v", what, device, err)
			}
		}
	}
}

// What a veth cannot tell is told apart from what went wrong.
func TestUnsupportedQuestions(t *testing.T) {
	ns := testenv.Netns(t)
	pairOf(t, ns)
	n := nicsOf(t, ns)
	unsupported := []string{"Rings", "Coalesce", "RSS", "QueueStats"}
	for what, ask := range questions(n, "va") {
		err := ask()
		if !slices.Contains(unsupported, what) {
			if err != nil {
				t.Errorf("%s: %v", what, err)
			}
			continue
		}
		if !errors.Is(err, errors.ErrUnsupported) || !errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: error %v, want errors.ErrUnsupported and EOPNOTSUPP", what, err)
			continue
		}
		if !strings.Contains(err.Error(), "va") {
			t.Errorf("%s: error does not name the device: %v", what, err)
		}
	}
}

func TestVeth(t *testing.T) {
	ns := testenv.Netns(t)
	pairOf(t, ns)
	n := nicsOf(t, ns)

	if d, err := n.DriverInfo("va"); err != nil || d.Driver != "veth" {
		t.Errorf("driver: %+v, %v", d, err)
	}
	c, err := n.Channels("va")
	if err != nil {
		t.Fatal(err)
	}
	if want := (host.Channels{
		RX: host.Pair{Current: host.Known(4), Max: host.Known(4)},
		TX: host.Pair{Current: host.Known(2), Max: host.Known(2)},
	}); c != want {
		t.Errorf("channels: %+v, want %+v", c, want)
	}
	if s, err := n.Speed("va"); err != nil || s != host.Known(10_000_000_000/8) {
		t.Errorf("speed: %v, %v, want the 10 Gbit/s in bytes that veth tells", s, err)
	}
	want := []host.Option{{Name: "generic-receive-offload", Value: "off"}, {Name: "large-receive-offload", Value: "off"},
		{Name: "ntuple-filters", Value: "off"}, {Name: "receive-hashing", Value: "off"}}
	if f, err := n.Features("va"); err != nil || !slices.Equal(f, want) {
		t.Errorf("features: %v, %v, want %v", f, err, want)
	}
	setGRO(t, ns, "va")
	want[0].Value = "on"
	if f, err := n.Features("va"); err != nil || !slices.Equal(f, want) {
		t.Errorf("features with GRO: %v, %v, want %v", f, err, want)
	}
}

func TestStatsKeepTheirNames(t *testing.T) {
	ns := testenv.Netns(t)
	pairOf(t, ns)
	n := nicsOf(t, ns)
	reader := n.Stats("va")
	names, values, err := reader.Read()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.Index(names, "rx_queue_3_xdp_packets")
	if i < 0 || len(names) != len(values) || slices.Contains(names, "rx_queue_4_xdp_packets") {
		t.Fatalf("%d values for the names %q", len(values), names)
	}
	again, _, err := reader.Read()
	if err != nil || &again[0] != &names[0] {
		t.Errorf("second reading: %v; the names are another slice", err)
	}
	if allocs := testing.AllocsPerRun(20, func() {
		if _, _, err := reader.Read(); err != nil {
			t.Error(err)
		}
	}); allocs != 0 {
		t.Errorf("%v allocations per reading", allocs)
	}

	ns.Run(t, "ip", "link", "del", "va")
	if _, _, err := reader.Read(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a device that is gone: %v", err)
	}
	ns.Run(t, "ip", "link", "add", "va", "numrxqueues", "5", "numtxqueues", "2", "type", "veth", "peer", "name", "vb")
	if names, _, err = reader.Read(); err != nil || !slices.Contains(names, "rx_queue_4_xdp_packets") {
		t.Errorf("a device made anew: %q, %v", names, err)
	}
}

// The number of a name is never kept.
func TestDeviceMadeAnewIsAskedByItsNewNumber(t *testing.T) {
	ns := testenv.Netns(t)
	n := nicsOf(t, ns)
	for _, queues := range []uint64{4, 3} {
		ns.Run(t, "ip", "link", "add", "va", "numrxqueues", strconv.FormatUint(queues, 10), "type", "veth", "peer", "name", "vb")
		c, err := n.Channels("va")
		if err != nil || c.RX.Current != host.Known(queues) {
			t.Errorf("%+v, %v, want %d RX channels", c, err, queues)
		}
		ns.Run(t, "ip", "link", "del", "va")
	}
}

// ifindexes reads what sysfs says of a device.
func ifindexes(t testing.TB, tree *Tree, device string) (ifindex, iflink int) {
	t.Helper()
	var n [2]int
	for i, file := range []string{"ifindex", "iflink"} {
		var err error
		if n[i], err = strconv.Atoi(strings.TrimSpace(read(t, tree, "sys/class/net/"+device+"/"+file))); err != nil {
			t.Fatal(err)
		}
	}
	return n[0], n[1]
}

// Two namespaces may have devices of one name and number: only iflink differs.
func TestSameNamespace(t *testing.T) {
	ours, theirs := testenv.Netns(t), testenv.Netns(t)
	ours.Run(t, "ip", "link", "add", "eth9", "index", "70", "type", "veth", "peer", "name", "vb", "index", "71")
	theirs.Run(t, "ip", "link", "add", "eth9", "index", "70", "type", "veth", "peer", "name", "vb", "index", "72")
	n := nicsOf(t, ours)

	ifindex, iflink := ifindexes(t, newTree(t, "/proc", sysfs(t, ours)), "eth9")
	if ifindex != 70 || iflink != 71 {
		t.Fatalf("sysfs: ifindex %d, iflink %d", ifindex, iflink)
	}
	theirIndex, theirLink := ifindexes(t, newTree(t, "/proc", sysfs(t, theirs)), "eth9")
	lo, loLink := ifindexes(t, newTree(t, "/proc", "/sys"), "lo")
	for _, c := range []struct {
		why             string
		device          string
		ifindex, iflink int
		want            bool
	}{
		{"our own sysfs", "eth9", ifindex, iflink, true},
		{"without IFLA_LINK", "lo", lo, loLink, true},
		{"another namespace's sysfs", "eth9", theirIndex, theirLink, false},
		{"another name", "vb", ifindex, iflink, false},
		{"a number that nobody has", "eth9", 4711, 4711, false},
		{"no number", "eth9", 0, 0, false},
	} {
		if got := n.Same(c.device, c.ifindex, c.iflink); got != c.want {
			t.Errorf("%s: Same(%q, %d, %d) = %v", c.why, c.device, c.ifindex, c.iflink, got)
		}
	}
}

// threadedPair is a veth whose NAPIs have threads, as netdev-genl lists them.
func threadedPair(t testing.TB) (ifindex int, d scan.Netdev) {
	t.Helper()
	ns := testenv.Netns(t)
	pairOf(t, ns)
	setGRO(t, ns, "va")
	ns.Run(t, "sh", "-c", "echo 1 >/sys/class/net/va/threaded")
	n := nicsOf(t, ns)
	if !n.conn.HasNetdev() {
		t.Skip("needs netdev-genl, Linux 6.8")
	}
	d, err := n.Netdev()
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip("needs netdev-genl's queues and NAPIs, Linux 6.8")
	}
	if err != nil {
		t.Fatal(err)
	}
	ifindex, _ = ifindexes(t, newTree(t, "/proc", sysfs(t, ns)), "va")
	return ifindex, d
}

func TestNetdevOfVeth(t *testing.T) {
	ifindex, d := threadedPair(t)
	var got []string
	for _, q := range d.Queues {
		if q.Ifindex == ifindex {
			got = append(got, fmt.Sprintf("%v-%d %v", q.Direction, q.Index, q.NAPI.OK))
		}
	}
	// A veth never links its queues to its NAPIs.
	want := []string{"rx-0 false", "rx-1 false", "rx-2 false", "rx-3 false", "tx-0 false", "tx-1 false"}
	if !slices.Equal(got, want) {
		t.Errorf("queues %q, want %q", got, want)
	}
	napis := 0
	for _, p := range d.NAPIs {
		if p.Ifindex != ifindex {
			continue
		}
		napis++
		if p.ID == 0 || p.IRQ.OK || !p.Thread.OK || p.Deferred {
			t.Errorf("NAPI %+v, want an id and a thread only", p)
		}
	}
	if napis != 4 {
		t.Errorf("%d NAPIs, want one for each RX queue", napis)
	}
}

func TestDeferredNAPI(t *testing.T) {
	ns := testenv.Netns(t)
	pairOf(t, ns)
	setGRO(t, ns, "va")
	n := nicsOf(t, ns)
	if napis, err := n.conn.NAPIs(nil); err != nil || len(napis) == 0 || !napis[0].GROFlushTimeout.OK {
		t.Skipf("needs netdev-genl's settings of a NAPI, Linux 6.13: %+v, %v", napis, err)
	}
	for _, want := range []bool{false, true} {
		if want {
			ns.Run(t, "sh", "-c", "echo 200000 >/sys/class/net/va/gro_flush_timeout")
		}
		d, err := n.Netdev()
		if err != nil || len(d.NAPIs) != 4 {
			t.Fatalf("%+v, %v, want 4 NAPIs", d, err)
		}
		for _, p := range d.NAPIs {
			if p.Deferred != want {
				t.Errorf("NAPI %+v, want Deferred %v", p, want)
			}
		}
	}
}

// A NIC of hardware, or what a virtual machine has for it.
func TestVirtioNet(t *testing.T) {
	const device = "eth0"
	n, err := NewNICs()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	d, err := n.DriverInfo(device)
	if err != nil || d.Driver != "virtio_net" {
		t.Skipf("needs an eth0 of virtio_net: %q, %v", d.Driver, err)
	}
	ifindex, iflink := ifindexes(t, newTree(t, "/proc", "/sys"), device)
	if ifindex != iflink || !n.Same(device, ifindex, iflink) {
		t.Errorf("ifindex %d, iflink %d: want them equal and netlink to agree", ifindex, iflink)
	}
	c, err := n.Channels(device)
	if err != nil || !c.Combined.Current.OK || c.Combined.Current.N == 0 || c.RX.Current.OK {
		t.Errorf("channels: %+v, %v, want combined ones only", c, err)
	}
	if r, err := n.Rings(device); err != nil || !r.RX.Max.OK || r.RX.Current.N > r.RX.Max.N {
		t.Errorf("rings: %+v, %v", r, err)
	}
	o, err := n.Coalesce(device)
	if err != nil || !slices.IsSortedFunc(o, func(a, b host.Option) int { return strings.Compare(a.Name, b.Name) }) ||
		!slices.ContainsFunc(o, func(o host.Option) bool { return o.Name == "rx-usecs" && o.Value != "" }) {
		t.Errorf("coalesce: %v, %v, want rx-usecs among sorted names", o, err)
	}
	rss, err := n.RSS(device)
	if c.Combined.Max.N == 1 && (err != nil || rss.Table != nil) {
		t.Errorf("RSS with one queue: %+v, %v, want an answer without a table", rss, err)
	}
	if !slices.IsSortedFunc(rss.Fields, func(a, b host.Option) int { return strings.Compare(a.Name, b.Name) }) {
		t.Errorf("hash fields out of order: %v", rss.Fields)
	}

	stats, err := n.QueueStats(nil, device)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip("qstats need Linux 6.9")
	}
	if err != nil || len(stats) != 2*int(c.Combined.Current.N) {
		t.Fatalf("%+v, %v, want an RX and a TX entry for each of %d channels", stats, err, c.Combined.Current.N)
	}
	var rx host.Count
	for _, s := range stats {
		if s.Direction == host.RX && s.Index == 0 {
			rx = s.Packets
		}
	}
	if !rx.OK || rx.N == 0 {
		t.Errorf("rx-0 packets: %+v in %+v", rx, stats)
	}
	if again, err := n.QueueStats(stats, device); err != nil || len(again) != 2*len(stats) {
		t.Errorf("QueueStats did not append: %d, then %d, %v", len(stats), len(again), err)
	}
}
