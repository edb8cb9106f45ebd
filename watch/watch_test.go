package watch_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/record"
	"github.com/netsteer/netsteer/host/scan"
	"github.com/netsteer/netsteer/skew"
	"github.com/netsteer/netsteer/watch"
)

// machine is a copy of the recorded host whose files a test may change, with
// NICs that a test may make slow.
type machine struct {
	dir string
	scan.Machine
	nics *slowNICs
}

type slowNICs struct {
	scan.NICs
	hang  map[string]*atomic.Int64 // nanoseconds, by device
	reads map[string]*atomic.Int64
	// traffic is added to every packet counter.
	traffic map[string]*atomic.Uint64
}

func perDevice() map[string]*atomic.Int64 {
	return map[string]*atomic.Int64{"eth0": {}, "eth1": {}, "veth0": {}}
}

func (n *slowNICs) Stats(device string) scan.StatsReader {
	return slowStats{n.NICs.Stats(device), n, device}
}

func (n *slowNICs) QueueStats(dst []scan.QueueStat, device string) ([]scan.QueueStat, error) {
	return nil, fmt.Errorf("qstats of %s: %w", device, errors.ErrUnsupported)
}

type slowStats struct {
	scan.StatsReader
	nics   *slowNICs
	device string
}

func (s slowStats) Read() ([]string, []uint64, error) {
	s.nics.reads[s.device].Add(1)
	time.Sleep(time.Duration(s.nics.hang[s.device].Load()))
	names, values, err := s.StatsReader.Read()
	// The recorded numbers stand still; traffic is added to them.
	for i := range values {
		if strings.HasSuffix(names[i], "_packets") {
			values[i] += s.nics.traffic[s.device].Load()
		}
	}
	return names, values, err
}

func (n *slowNICs) add(device string, packets uint64) { n.traffic[device].Store(packets) }

func newMachine(t *testing.T) *machine {
	t.Helper()
	m := &machine{dir: t.TempDir()}
	if err := os.CopyFS(m.dir, os.DirFS("../testdata/hosts/two-nic-8cpu")); err != nil {
		t.Fatal(err)
	}
	r, err := record.Open(m.dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	m.Machine = r.Machine()
	m.nics = &slowNICs{NICs: m.NICs, hang: perDevice(), reads: perDevice(), traffic: map[string]*atomic.Uint64{"eth0": {}, "eth1": {}, "veth0": {}}}
	m.NICs = m.nics
	return m
}

func (m *machine) write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(m.dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// run starts a Watcher in the bubble and waits for its first Sample.
func (m *machine) run(t *testing.T, change func(*watch.Config)) *watch.Watcher {
	t.Helper()
	c := watch.Config{
		Scanner: scan.New(m.Machine, scan.Options{}), Interval: 5 * time.Second, Window: time.Minute, MaxAge: 30 * time.Second,
		Skew: skew.Options{MinRate: 100},
	}
	if change != nil {
		change(&c)
	}
	w := watch.New(c)
	ctx, stop := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() { _ = w.Run(ctx) })
	t.Cleanup(func() { stop(); done.Wait() })
	for !w.Ready() {
		time.Sleep(100 * time.Millisecond)
	}
	return w
}

func scrape(t *testing.T, w *watch.Watcher, timeout time.Duration) (*watch.State, func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	s, release, err := w.Scrape(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return s, release
}

func packets(s *watch.State, device string) host.Count {
	return s.Sample.Queues[s.Inventory.Device(device).RX[0].ID].Packets
}

func has(s *watch.State, source host.Source, device string, reason host.Reason) bool {
	for _, d := range s.Degraded {
		if d.Source == source && d.Device == device && d.Reason == reason {
			return true
		}
	}
	return false
}

// An ioctl that hangs for a minute: the scrape returns in time, that device's
// counters vanish once its last values are too old, and the rest stays.
func TestSlowIoctl(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t)
		m.nics.hang["eth1"].Store(int64(time.Minute))
		w := m.run(t, nil)
		time.Sleep(2 * time.Second)
		begun := time.Now()
		s, release := scrape(t, w, 5*time.Second)
		defer release()
		if took := time.Since(begun); took > time.Second {
			t.Errorf("the scrape took %s", took)
		}
		if packets(s, "eth1").OK {
			t.Error("eth1 has packets though its ioctl hangs")
		}
		if !has(s, host.SourceStats, "eth1", host.ReasonTimeout) || !s.Failed[host.SourceStats] {
			t.Errorf("nothing says that eth1 is late: %v", s.Degraded)
		}
		if s.Sample.InterruptsTime.IsZero() || !s.Sample.Softnet[0].Present || s.Sample.Devices[s.Inventory.Device("eth0").ID].RXPackets == (host.Count{}) {
			t.Error("what does not hang is missing")
		}
		if n := m.nics.reads["eth1"].Load(); n != 1 {
			t.Errorf("%d readings were begun; one that hangs must not be repeated", n)
		}
		m.nics.hang["eth1"].Store(0)
		time.Sleep(time.Minute) // the goroutine that hangs must end within the bubble
	})
}

// A device that turns slow shows its last values up to the maximum age, says so,
// and is then absent.
func TestLastValues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t)
		w := m.run(t, nil)
		m.nics.hang["eth1"].Store(int64(2 * time.Minute))
		time.Sleep(20 * time.Second)
		s, release := scrape(t, w, 5*time.Second)
		if p := packets(s, "eth1"); p != host.Known(9000000) || !has(s, host.SourceStats, "eth1", host.ReasonStale) {
			t.Errorf("after 20 s: %+v, %v", p, s.Degraded)
		}
		release()
		time.Sleep(30 * time.Second)
		s, release = scrape(t, w, 5*time.Second)
		if packets(s, "eth1").OK {
			t.Error("values of 50 s ago are shown; the maximum age is 30 s")
		}
		release()
		m.nics.hang["eth1"].Store(0)
		time.Sleep(2 * time.Minute) // the goroutine that hangs must end within the bubble
	})
}

// A reading that takes 100 ms is made every 10 s, 1 % of the time, and says so.
func TestSlowDeviceCostsOnePercent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t)
		m.nics.hang["eth1"].Store(int64(100 * time.Millisecond))
		w := m.run(t, nil)
		time.Sleep(time.Minute)
		before := m.nics.reads["eth1"].Load()
		time.Sleep(2 * time.Minute)
		s, release := scrape(t, w, time.Second)
		defer release()
		if n := m.nics.reads["eth1"].Load() - before; n < 11 || n > 13 {
			t.Errorf("%d readings in 2 minutes; want one each 10 s", n)
		}
		if !has(s, host.SourceStats, "eth1", host.ReasonSlow) || has(s, host.SourceStats, "eth0", host.ReasonSlow) {
			t.Errorf("degraded: %v", s.Degraded)
		}
		if !packets(s, "eth1").OK {
			t.Error("a slow device has no packets")
		}
	})
}

func TestScrapesWithinASecondShareAReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newMachine(t).run(t, nil)
		time.Sleep(2 * time.Second)
		a, releaseA := scrape(t, w, time.Second)
		defer releaseA()
		time.Sleep(900 * time.Millisecond)
		b, releaseB := scrape(t, w, time.Second)
		defer releaseB()
		if a.Sample != b.Sample {
			t.Error("two scrapes within a second read twice")
		}
		time.Sleep(200 * time.Millisecond)
		c, releaseC := scrape(t, w, time.Second)
		defer releaseC()
		if c.Sample == a.Sample {
			t.Error("a scrape 1.1 s later did not read")
		}
	})
}

// Window gauges come when the window is half full, and its length stays within
// the window.
func TestWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newMachine(t).run(t, nil)
		for _, c := range []struct {
			after, least, most time.Duration
		}{{20 * time.Second, 0, 0}, {15 * time.Second, 30 * time.Second, 35 * time.Second}, {2 * time.Minute, 55 * time.Second, time.Minute}} {
			time.Sleep(c.after)
			s, release := scrape(t, w, time.Second)
			var got time.Duration
			if s.Rates != nil {
				got = s.Rates.Window
			}
			if got < c.least || got > c.most {
				t.Errorf("after %s more: window %s; want %s to %s", c.after, got, c.least, c.most)
			}
			release()
		}
	})
}

// A changed mask is seen with the next Sample and does not begin the window anew;
// queues that come or go do.
func TestMasksDoNotBreakTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t)
		notify := make(chan struct{}, 1)
		w := m.run(t, func(c *watch.Config) { c.Notify = notify })
		time.Sleep(40 * time.Second)
		m.write(t, "proc/irq/36/smp_affinity_list", "5\n")
		m.write(t, "proc/irq/36/effective_affinity_list", "4\n")
		time.Sleep(6 * time.Second)
		s, release := scrape(t, w, time.Second)
		v := s.Inventory.Device("eth1").RX[0].Vector
		if !s.Place.Pending[v] || s.Rates == nil {
			t.Errorf("pending %v, rates %v; want a pending move and a window", s.Place.Pending[v], s.Rates)
		}
		release()
		if err := os.RemoveAll(filepath.Join(m.dir, "sys/devices/virtual/net/veth0")); err != nil {
			t.Fatal(err)
		}
		notify <- struct{}{}
		time.Sleep(2 * time.Second)
		s, release = scrape(t, w, time.Second)
		defer release()
		if s.Inventory.Device("veth0") != nil || s.Rates != nil {
			t.Error("a device that went away is still there, or its window is")
		}
	})
}

// A NIC that goes away between the Inventory and the reading: its series vanish,
// the scrape goes on.
func TestDeviceGoesAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t)
		w := m.run(t, nil)
		matches, err := filepath.Glob(filepath.Join(m.dir, "sys/devices/pci*/*/net/eth1"))
		if len(matches) == 0 {
			matches, err = filepath.Glob(filepath.Join(m.dir, "sys/devices/pci*/*/*/net/eth1"))
		}
		if err != nil || len(matches) != 1 {
			t.Fatalf("%v, %v", matches, err)
		}
		if err := os.RemoveAll(matches[0]); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		s, release := scrape(t, w, time.Second)
		defer release()
		if s.Sample.Devices[s.Inventory.Device("eth1").ID].RXPackets.OK {
			t.Error("eth1 still has packets")
		}
		if !has(s, host.SourceSysfs, "eth1", host.ReasonMissing) {
			t.Errorf("degraded %v", s.Degraded)
		}
	})
}

// What a scrape holds stays as it was however many readings follow; what is
// released is used again.
func TestLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t)
		w := m.run(t, nil)
		held, release := scrape(t, w, time.Second)
		before := held.Sample.NetRX[0]
		text, err := os.ReadFile(filepath.Join(m.dir, "proc/softirqs"))
		if err != nil {
			t.Fatal(err)
		}
		m.write(t, "proc/softirqs", strings.ReplaceAll(string(text), "NET_RX:  ", "NET_RX: 9"))
		time.Sleep(90 * time.Second)
		if held.Sample.NetRX[0] != before {
			t.Error("a held State was overwritten")
		}
		release()
		release() // twice is once
		fresh, done := scrape(t, w, time.Second)
		defer done()
		if fresh.Sample == held.Sample {
			t.Error("the newest State lives in buffers that were just released")
		}
	})
}

func TestNotReady(t *testing.T) {
	w := watch.New(watch.Config{})
	if _, _, err := w.Scrape(t.Context()); !errors.Is(err, watch.ErrNotReady) {
		t.Errorf("Scrape before Run: %v", err)
	}
	if _, _, err := w.Latest(); !errors.Is(err, watch.ErrNotReady) || w.Ready() {
		t.Errorf("Latest before Run: %v", err)
	}
	if _, err := w.InterruptRows(t.Context()); !errors.Is(err, watch.ErrNotReady) {
		t.Errorf("InterruptRows before Run: %v", err)
	}
}

// A sosreport says nowhere when it was taken: its counters are there all the
// same, and nothing claims to be missing.
func TestRecordingWithoutTimes(t *testing.T) {
	r, err := record.Open("../testdata/hosts/sosreport-2cpu")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s := watch.Recorded(skew.Options{}, scan.New(r.Machine(), scan.Options{}), nil, time.Time{}, time.Time{})
	if got := s.Sample.NetRX; got[0] != 15900233 || got[1] != 2011 || s.Sample.SoftirqsTime.IsZero() {
		t.Errorf("NET_RX %v, read at %s", got, s.Sample.SoftirqsTime)
	}
	if s.Sample.InterruptsTime.IsZero() || s.Sample.SoftnetTime.IsZero() || s.Sample.StatTime.IsZero() || !s.Sample.Softnet[0].Present {
		t.Error("interrupts, softnet_stat or stat are missing")
	}
	if s.Rates != nil {
		t.Error("one sample gave rates")
	}
}

// Settings of the whole host that cannot be read fail their collectors.
func TestUnreadableSysfsFails(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "proc"), os.DirFS("../testdata/hosts/two-nic-8cpu/proc")); err != nil {
		t.Fatal(err)
	}
	r, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s := watch.Recorded(skew.Options{}, scan.New(r.Machine(), scan.Options{}), nil, time.Time{}, time.Time{})
	if !s.Failed[host.SourceSysfs] || !s.Failed[host.SourceTopology] || s.Failed[host.SourceSoftirqs] || s.Failed[host.SourceSysctl] {
		t.Errorf("failed: %v", s.Failed)
	}
}
