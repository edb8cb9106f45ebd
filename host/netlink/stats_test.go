package netlink

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func value(t testing.TB, s *Stats, values []uint64, name string) uint64 {
	t.Helper()
	i := slices.Index(s.Names(), name)
	if i < 0 {
		t.Fatalf("no statistic %q in %q", name, s.Names())
	}
	return values[i]
}

// Names are read once, values each time; a changed number of channels is noticed by the count and has
// the names read again.
func TestStatsFollowTheChannels(t *testing.T) {
	r := newRig(t, 8)
	s := r.NewStats("va")
	read := func() ([]uint64, bool) {
		t.Helper()
		v, changed, err := s.Read()
		if err != nil {
			t.Fatal(err)
		}
		if len(v) != len(s.Names()) {
			t.Fatalf("%d values, %d names", len(v), len(s.Names()))
		}
		return v, changed
	}
	v, changed := read()
	if !changed {
		t.Error("first read: names not reported as changed")
	}
	if value(t, s, v, "peer_ifindex") == 0 {
		t.Error("peer_ifindex is 0")
	}
	value(t, s, v, "rx_queue_7_xdp_packets")
	names := s.Names()
	if _, changed = read(); changed || &names[0] != &s.Names()[0] {
		t.Error("names were read again without a reason")
	}

	r.setChannels(t, 3)
	if _, changed = read(); !changed {
		t.Error("fewer channels: not noticed")
	}
	if slices.Contains(s.Names(), "rx_queue_3_xdp_packets") {
		t.Error("fewer channels: names of queue 3 are still there")
	}
	r.setChannels(t, 8)
	if _, changed = read(); !changed || !slices.Equal(names, s.Names()) {
		t.Error("as many channels as before: not the names of before")
	}
	s.Reset()
	if _, changed = read(); changed {
		t.Error("same names read again count as changed")
	}
}

// A count that is off, which the kernel answers with 0 or with its own, is never believed.
func TestStatsWrongCount(t *testing.T) {
	r := newRig(t, 4)
	s := r.NewStats("va")
	if _, _, err := s.Read(); err != nil {
		t.Fatal(err)
	}
	names := slices.Clone(s.Names())
	for _, wrong := range [][]string{names[:len(names)-1], append(slices.Clone(names), "more"), {"one"}} {
		s.names = wrong
		v, changed, err := s.Read()
		if err != nil || !changed || len(v) != len(names) || !slices.Equal(s.Names(), names) {
			t.Errorf("with %d names: %d values, %d names, changed %v, %v", len(wrong), len(v), len(s.Names()), changed, err)
		}
	}
}

// Values belong to their names also when channels change while they are read.
func TestStatsUnderChange(t *testing.T) {
	r := newRig(t, 32)
	peer := value32(t, r)
	var stop atomic.Bool
	var wg sync.WaitGroup
	var other *ioctl
	r.Do(t, func() {
		var err error
		if other, err = newIoctl(); err != nil {
			t.Fatal(err)
		}
	})
	defer func() {
		if err := other.close(DefaultTimeout); err != nil {
			t.Error(err)
		}
	}()
	wg.Go(func() {
		for i := uint32(0); !stop.Load(); i++ {
			if err := setChannelsByIoctl(other, "va", 1+i%32); err != nil {
				t.Error("set channels:", err)
				return
			}
		}
	})
	s := r.NewStats("va")
	changes := 0
	for begin := time.Now(); changes < 20 && time.Since(begin) < 20*time.Second; {
		v, changed, err := s.Read()
		if errors.Is(err, errStatsRestless) {
			continue
		}
		if err != nil {
			t.Error(err)
			break
		}
		if changed {
			changes++
		}
		if len(v) != len(s.Names()) || value(t, s, v, "peer_ifindex") != peer {
			t.Errorf("%d values, %d names, peer %d want %d", len(v), len(s.Names()), value(t, s, v, "peer_ifindex"), peer)
			break
		}
	}
	stop.Store(true)
	wg.Wait()
	if changes < 20 && !t.Failed() {
		t.Errorf("names changed %d times: nothing was tested", changes)
	}
}

func value32(t *testing.T, r *rig) uint64 {
	var peer int
	r.Do(t, func() { peer = ifindex(t, "vb") })
	return uint64(peer)
}

// A kernel that writes more than there is room for is stopped by the page behind the memory: EFAULT,
// which Read takes for a changed count.
func TestSurplusIsAFault(t *testing.T) {
	r := newRig(t, 512)
	io := r.ioctl
	err := io.do(DefaultTimeout, "va", func() error {
		if _, err := io.reserve(1); err != nil {
			return err
		}
		n, err := (&Stats{conn: r.Conn}).count()
		if err != nil {
			return err
		}
		if 12+stringLen*n <= len(io.mem) {
			return fmt.Errorf("%d names fit: nothing to test", n)
		}
		ne.PutUint32(io.mem, unix.ETHTOOL_GSTRINGS)
		ne.PutUint32(io.mem[4:], StringsStats)
		ne.PutUint32(io.mem[8:], uint32(n))
		return io.call()
	})
	if !errors.Is(err, unix.EFAULT) {
		t.Errorf("got %v, want EFAULT", err)
	}
	if v, _, err := r.NewStats("va").Read(); err != nil || len(v) < 512 {
		t.Errorf("afterwards: %d values, %v", len(v), err)
	}
}

// Strings end at the NUL or fill their place; leading blanks belong to the name (vmxnet3's do).
func TestStatNames(t *testing.T) {
	full := strings.Repeat("x", stringLen)
	pad := func(s string) string { return s + strings.Repeat("\x00", stringLen-len(s)) }
	in := pad("rx_packets") + pad("  ucast pkts rx") + full + pad("") + pad("a\x00junk") + "rest"
	want := []string{"rx_packets", "  ucast pkts rx", full, "", "a"}
	if got := statNames(nil, []byte(in)); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// The NIC of this machine: as many statistics as its driver says, with the driver's names.
func TestStatsOfNIC(t *testing.T) {
	n := findNIC(t)
	c := dial(t)
	d, err := c.DriverInfo(n.name)
	if err != nil {
		t.Fatal(err)
	}
	if d.Driver != n.driver {
		t.Errorf("driver %q, sysfs says %q", d.Driver, n.driver)
	}
	if bus, err := os.Readlink("/sys/class/net/" + n.name + "/device"); err == nil && !strings.HasPrefix(d.Driver, "virtio") && !strings.HasSuffix(bus, d.BusInfo) {
		t.Errorf("bus %q, sysfs says %q", d.BusInfo, bus)
	}
	s := c.NewStats(n.name)
	v, changed, err := s.Read()
	if errors.Is(err, ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil || !changed || len(v) != d.NStats || len(s.Names()) != d.NStats {
		t.Errorf("%d values, %d names, changed %v, %v; driver says %d", len(v), len(s.Names()), changed, err, d.NStats)
	}
	set, err := c.StringSet(n.ifindex, StringsStats)
	if err != nil || !slices.Equal(set, s.Names()) {
		t.Errorf("by netlink %q, %v\nby ioctl %q", set, err, s.Names())
	}
}

// After the first, a Read allocates nothing.
func TestStatsReadAllocatesNothing(t *testing.T) {
	r := newRig(t, 16)
	s := r.NewStats("va")
	read := func() {
		if _, _, err := s.Read(); err != nil {
			t.Fatal(err)
		}
	}
	read()
	if n := testing.AllocsPerRun(50, read); n != 0 {
		t.Errorf("%v allocations per Read", n)
	}
}

func BenchmarkStatsRead(b *testing.B) {
	r := newRig(b, 512)
	s := r.NewStats("va")
	v, _, err := s.Read()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if v, _, err = s.Read(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(v)), "stats")
}
