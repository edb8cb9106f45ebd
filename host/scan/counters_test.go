package scan_test

import (
	"slices"
	"testing"

	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/record"
	"github.com/netsteer/netsteer/host/scan"
)

func read(t *testing.T, m tree) (*host.Inventory, *host.Sample, bool, []host.Degraded) {
	t.Helper()
	s := scan.New(m.open(t), scan.Options{})
	inv := s.Inventory()
	sample := &host.Sample{}
	fits, notes := s.Counters(inv, nil).Read(sample)
	return inv, sample, fits, notes
}

func TestCounters(t *testing.T) {
	m := base()
	m.nic("eth1", "0000:00:03.0", "igb", "", 2, 1, 1, 24, 25)
	m.interrupts(row{24, [4]int{1}, "PCI-MSI 0-edge eth1"}, row{25, [4]int{4294967295, 0, 3, 0}, "PCI-MSI 1-edge eth1-TxRx-0"})
	_, s, fits, notes := read(t, m)
	if !fits || len(notes) != 0 {
		t.Errorf("fits %v, degraded %v", fits, notes)
	}
	if want := []uint32{1, 0, 0, 0, 4294967295, 0, 3, 0}; !slices.Equal(s.Cells, want) {
		t.Errorf("cells %v; want %v", s.Cells, want)
	}
	// As the kernel's own total: 32 bits.
	if want := []uint32{1, 2}; !slices.Equal(s.Sums, want) {
		t.Errorf("sums %v; want %v", s.Sums, want)
	}
	if want := []uint32{10, 20, 30, 40}; !slices.Equal(s.NetRX, want) {
		t.Errorf("NET_RX %v; want %v", s.NetRX, want)
	}
	if n := s.Softnet[3]; !n.Present || n.Columns != 11 || n.Processed != 5 || n.Dropped != 1 || n.TimeSqueeze != 2 {
		t.Errorf("softnet of CPU 3: %+v", n)
	}
	if c := s.Ticks[2]; !c.Present || c.SoftIRQ != 7 || c.Idle != 90 {
		t.Errorf("ticks of CPU 2: %+v", c)
	}
}

// A column that is not there keeps what the kernel's per_cpu_count says: a CPU
// going offline is no reset.
func TestOfflineCPUKeepsItsInterrupts(t *testing.T) {
	m := base()
	m.nic("eth1", "0000:00:03.0", "igb", "", 2, 1, 1, 25)
	m.interrupts(row{25, [4]int{}, "PCI-MSI 1-edge eth1-TxRx-0"})
	m["sys/devices/system/cpu/online"] = "0-1,3\n"
	m["proc/interrupts"] = "           CPU0       CPU1       CPU3\n 25:          1          2          4  PCI-MSI 1-edge eth1-TxRx-0\n"
	m["sys/kernel/irq/25/per_cpu_count"] = "1,2,47,4\n"
	_, s, fits, _ := read(t, m)
	if want := []uint32{1, 2, 47, 4}; !fits || !slices.Equal(s.Cells, want) || s.Sums[0] != 54 {
		t.Errorf("fits %v, cells %v, sum %v; want %v, 54", fits, s.Cells, s.Sums, want)
	}
	// Kernels before 5.10 name no CPU in softnet_stat: rows are the online CPUs.
	if s.Softnet[2].Present || !s.Softnet[3].Present {
		t.Errorf("softnet rows are not those of CPUs 0, 1 and 3: %+v", s.Softnet)
	}
}

func TestOnlineCPUsUnlikeTheInventory(t *testing.T) {
	m := base()
	m.interrupts()
	m["proc/interrupts"] = "           CPU0       CPU1       CPU3\nNMI:          1          2          4  Non-maskable interrupts\n"
	if _, _, fits, _ := read(t, m); fits {
		t.Error("a reading without CPU2 fits an Inventory with it")
	}
}

// The sources that work go on when others fail.
func TestBadFiles(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(m tree)
		want   host.Degraded
		ok     func(s *host.Sample) bool
	}{
		{"masked interrupts", func(m tree) { m["proc/interrupts"] = "" },
			host.Degraded{Source: host.SourceInterrupts, Reason: host.ReasonMasked}, func(s *host.Sample) bool { return s.InterruptsTime.IsZero() && !s.SoftirqsTime.IsZero() }},
		{"no interrupts", func(m tree) { delete(m, "proc/interrupts") },
			host.Degraded{Source: host.SourceInterrupts, Reason: host.ReasonMissing}, func(s *host.Sample) bool { return !s.StatTime.IsZero() }},
		{"garbage in softnet_stat", func(m tree) { m["proc/net/softnet_stat"] = "0000000a zz\n" },
			host.Degraded{Source: host.SourceSoftnet, Reason: host.ReasonMalformed}, func(s *host.Sample) bool { return s.SoftnetTime.IsZero() && !s.InterruptsTime.IsZero() }},
		{"no softirqs", func(m tree) { delete(m, "proc/softirqs") },
			host.Degraded{Source: host.SourceSoftirqs, Reason: host.ReasonMissing}, func(s *host.Sample) bool { return s.SoftirqsTime.IsZero() }},
		{"torn row", func(m tree) { m["proc/interrupts"] = "           CPU0       CPU1\n 25:          1\n" },
			host.Degraded{Source: host.SourceInterrupts, Reason: host.ReasonVanished}, func(s *host.Sample) bool { return s.InterruptsTime.IsZero() }},
	} {
		m := base()
		m.interrupts()
		c.change(m)
		_, s, _, notes := read(t, m)
		found := false
		for _, n := range notes {
			found = found || n.Compare(c.want) == 0
		}
		if !found || !c.ok(s) {
			t.Errorf("%s: degraded %v; want %v", c.name, notes, c.want)
		}
	}
}

// With a masked /proc/interrupts the vectors' own folders still count.
func TestMaskedInterruptsAreCountedFromSysfs(t *testing.T) {
	m := base()
	m.nic("eth1", "0000:00:03.0", "igb", "", 2, 1, 1, 25)
	m["proc/interrupts"] = ""
	m["sys/kernel/irq/25/actions"], m["sys/kernel/irq/25/per_cpu_count"] = "eth1-TxRx-0\n", "0,5,0,9\n"
	_, s, _, _ := read(t, m)
	if want := []uint32{0, 5, 0, 9}; !slices.Equal(s.Cells, want) || !s.Present[0] || s.InterruptsTime.IsZero() {
		t.Errorf("cells %v, present %v; want %v", s.Cells, s.Present, want)
	}
}

// Two Samples of our own recorded host: each counter by the source it is from.
func TestRecordedHost(t *testing.T) {
	r, err := record.Open("../../testdata/hosts/two-nic-8cpu")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s := scan.New(r.Machine(), scan.Options{})
	inv := s.Inventory()
	second, ok := r.T1()
	if !ok {
		t.Fatal("the second sample is missing")
	}
	packets := func(s *scan.Scanner, device string) []host.QueueCounters {
		d := inv.Device(device)
		queues := make([]host.QueueCounters, len(d.RX)+len(d.TX))
		var dc host.DeviceCounters
		s.Counters(inv, nil).Device(d.ID, &dc, queues)
		if dc.QueuesTime.IsZero() {
			t.Fatalf("%s: no counters of queues", device)
		}
		return queues
	}
	for _, c := range []struct {
		device string
		queue  int
		first  uint64
	}{{"eth0", 0, 800000}, {"eth0", 4, 400000}, {"eth1", 0, 9000000}, {"eth1", 6, 5000000}} {
		a := packets(s, c.device)[c.queue].Packets
		b := packets(scan.New(second, scan.Options{}), c.device)[c.queue].Packets
		if a != host.Known(c.first) || !b.OK || b.N < a.N {
			t.Errorf("%s queue %d: %+v, then %+v; want %d at first", c.device, c.queue, a, b, c.first)
		}
	}
}
