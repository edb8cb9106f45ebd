package skew

import (
	"testing"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
)

func TestWhereAVectorRuns(t *testing.T) {
	grow := func(cpu int) func(*host.Sample) { return func(s *host.Sample) { s.Cells[cpu]++ } }
	for _, c := range []struct {
		name     string
		affinity string
		effect   string // "-" unknown
		samples  []func(*host.Sample)
		cpu      int
		pending  bool
	}{
		{"programmed and idle", "0-15", "5", nil, 5, false},
		{"moved, waits for its next interrupt", "3", "5", nil, 3, true},
		{"moved, and its last interrupt came before", "3", "5", []func(*host.Sample){nil, grow(5)}, 5, true},
		{"counted on another CPU than programmed", "0-15", "5", []func(*host.Sample){nil, grow(9)}, 9, false},
		{"moved within the window", "3", "3", []func(*host.Sample){nil, grow(5), nil}, 3, false},
		{"no effective_affinity", "4-5", "-", nil, 4, false},
		{"no effective_affinity, but it ran", "4-5", "-", []func(*host.Sample){nil, grow(5), nil}, 5, false},
		{"effective on several CPUs", "0-3", "2-3", nil, 2, false},
		{"nothing is known", "-", "-", nil, -1, false},
	} {
		m := newMachine()
		m.nic("a", 0, 1)
		v := &m.inv.Vectors[0]
		v.Affinity, v.Effective = mask(t, c.affinity), mask(t, c.effect)
		for _, f := range c.samples {
			m.sample(f)
		}
		_, p, _ := m.judge(plain)
		if p.CPU[0] != c.cpu || p.Pending[0] != c.pending {
			t.Errorf("%s: CPU %d, pending %v; want %d, %v", c.name, p.CPU[0], p.Pending[0], c.cpu, c.pending)
		}
	}
}

func mask(t *testing.T, text string) host.Mask {
	if text == "-" {
		return host.Mask{}
	}
	s, err := cpuset.ParseList(text)
	if err != nil {
		t.Fatal(err)
	}
	return host.KnownMask(s)
}

func TestThreadedNAPI(t *testing.T) {
	for _, c := range []struct {
		name, allowed string
		cpu           int
		roaming       bool
	}{
		{"pinned", "6", 6, false},
		{"pinned to a core", "6-7", 6, false},
		{"free", "0-15", -1, true},
		{"unknown", "-", -1, true},
	} {
		m := newMachine()
		d := m.nic("a", 0, 2, 1, 2)
		d.ThreadedNAPI = true
		for i := range d.RX {
			d.RX[i].Thread, d.RX[i].ThreadCPUs = host.Known(100), mask(t, c.allowed)
		}
		_, p, _ := m.judge(plain)
		if p.CPU[0] != c.cpu || p.Roaming[0] != c.roaming {
			t.Errorf("%s: CPU %d, roaming %v; want %d, %v", c.name, p.CPU[0], p.Roaming[0], c.cpu, c.roaming)
		}
	}
}

func TestStackedRemoteIsolated(t *testing.T) {
	for _, c := range []struct {
		name                       string
		build                      func(m *machine)
		stacked, remote, isolated  float64
		remoteKnown, stackedAbsent bool
	}{
		{"spread over the node", func(m *machine) { m.nic("a", 1, 4, 8, 10, 12, 14) }, 0, 0, 0, true, false},
		{"all on one CPU of the other node", func(m *machine) { m.nic("a", 1, 8, 2, 2, 2, 2, 2, 2, 2, 2) }, 1, 1, 0, true, false},
		{"two of four share", func(m *machine) { m.nic("a", 1, 4, 8, 8, 12, 14) }, .5, 0, 0, true, false},
		{"two NICs on one CPU", func(m *machine) { m.nic("a", 0, 1, 4); m.nic("b", 0, 1, 4) }, 1, 0, 0, true, false},
		{"more units than CPUs of the node: no free CPU, no stack", func(m *machine) {
			m.nic("a", 1, 9, 8, 9, 10, 11, 12, 13, 14, 15, 15)
		}, 0, 0, 0, true, false},
		{"node unknown", func(m *machine) { m.nic("a", -1, 2, 8, 9) }, 0, 0, 0, false, false},
		{"the node has no allowed CPU", func(m *machine) {
			m.inv.CPUs.IsolatedBoot = cpuset.Range(8, 15)
			m.nic("a", 1, 2, 0, 1)
		}, 0, 0, 0, false, false},
		{"on an isolated CPU", func(m *machine) {
			m.inv.CPUs.NohzFull = cpuset.Of(15)
			m.nic("a", 1, 2, 8, 15)
		}, 0, 0, .5, true, false},
		{"no vectors", func(m *machine) {
			m.nic("a", 0, 2)
			for i := range m.inv.Queues {
				m.inv.Queues[i].Vector = -1
			}
		}, 0, 0, 0, false, true},
	} {
		m := newMachine()
		c.build(m)
		_, p, _ := m.judge(plain)
		d := p.Devices[0]
		if d.Stacked.OK == c.stackedAbsent || d.Stacked.V != c.stacked || d.Isolated.V != c.isolated ||
			d.RemoteNode.OK != c.remoteKnown || d.RemoteNode.V != c.remote {
			t.Errorf("%s: %+v", c.name, d)
		}
	}
}

// rx-i and tx-i on one CPU are one unit; on two they are two.
func TestPairIsOneUnit(t *testing.T) {
	m := newMachine()
	d := m.nic("a", 0, 1, 4)
	m.inv.Vectors = append(m.inv.Vectors, host.Vector{ID: 1, IRQ: 31, Role: host.RoleTX, Queue: 0, TX: []int{0}, Actions: []string{"a-tx-0"},
		Affinity: host.KnownMask(cpuset.Of(4)), Effective: host.KnownMask(cpuset.Of(4))})
	d.TX[0].Vector = 1
	_, p, _ := m.judge(plain)
	if p.Devices[0].Stacked.V != 0 {
		t.Errorf("a pair on one CPU is stacked: %+v", p.Devices[0])
	}
}

// A vector that serves several queues is one unit.
func TestQueuesOfOneVectorDoNotCollide(t *testing.T) {
	m := newMachine()
	d := m.nic("a", 0, 2, 4, 6)
	for _, q := range []int{d.RX[1].ID, d.TX[1].ID} {
		m.inv.Queues[q].Vector = 0
	}
	m.inv.Vectors[0].RX, m.inv.Vectors[0].TX = []int{0, 1}, []int{0, 1}
	m.inv.Vectors[1].RX, m.inv.Vectors[1].TX, m.inv.Vectors[1].Queue = nil, nil, -1
	if _, p, _ := m.judge(plain); !near(p.Devices[0].Stacked, 0) {
		t.Errorf("stacked %+v; want 0", p.Devices[0].Stacked)
	}
}

func TestMismatch(t *testing.T) {
	xps := func(d *host.Device, masks ...string) {
		for i, m := range masks {
			s, err := cpuset.ParseList(m)
			if err != nil {
				t.Fatal(err)
			}
			d.TX[i].XPS = host.KnownMask(s)
		}
	}
	local := func(s *host.Sample) { s.IPOut.N += 1000 }
	router := func(s *host.Sample) { s.IPForwarded.N += 1000; s.IPOut.N += 10 }
	for _, c := range []struct {
		name     string
		build    func(d *host.Device)
		traffic  func(*host.Sample)
		ratio    Value
		verdict0 Verdict
		distance Value
	}{
		{"XPS follows the vectors", func(d *host.Device) { xps(d, "0-1", "2-3") }, nil, known(0), Matched, known(0)},
		{"XPS crossed between cores", func(d *host.Device) { xps(d, "2-3", "0-1") }, nil, known(1), Mismatched, known(float64(host.SameCache))},
		{"one CPU in two masks", func(d *host.Device) { xps(d, "0-3", "2-3") }, nil, known(.5), Matched, known(0)},
		{"XPS unset, the host sends", nil, local, known(1), Mismatched, known(float64(host.SameCache))},
		{"XPS unset on a router", nil, router, Value{}, NotJudged, Value{}},
		{"XPS unset and idle", nil, nil, Value{}, NotJudged, Value{}},
		{"the same mask on every queue is unset", func(d *host.Device) { xps(d, "0-15", "0-15") }, router, Value{}, NotJudged, Value{}},
		{"a CPU in no mask on a router: the other pair alone is judged", func(d *host.Device) { xps(d, "8", "2") }, router, known(0), NotJudged, Value{}},
		{"a CPU in no mask where the host sends", func(d *host.Device) { xps(d, "8", "2") }, local, known(.5), Mismatched, known(float64(host.SameCache))},
		{"driver ignores XPS", func(d *host.Device) { xps(d, "2", "0"); d.IgnoresXPS = true }, local, Value{}, NotJudged, Value{}},
		{"xps_rxqs wins over crossed masks", func(d *host.Device) {
			xps(d, "2-3", "0-1")
			d.TX[0].XPSRXQueues, d.TX[1].XPSRXQueues = []int{0}, []int{1}
		}, nil, known(0), Matched, known(0)},
		{"rps_cpus has nothing to do with it", func(d *host.Device) {
			xps(d, "0-1", "2-3")
			d.RX[0].RPS = host.KnownMask(cpuset.Range(8, 15))
		}, nil, known(0), Matched, known(0)},
	} {
		m := newMachine()
		d := m.nic("a", 0, 2, 0, 2)
		if c.build != nil {
			c.build(d)
		}
		m.sample(nil)
		m.sample(c.traffic)
		_, p, _ := m.judge(plain)
		q := d.RX[0].ID
		if p.Devices[0].MismatchRatio != c.ratio || p.Mismatch[q] != c.verdict0 || p.Distance[q] != c.distance {
			t.Errorf("%s: ratio %+v, rx-0 %v at %+v", c.name, p.Devices[0].MismatchRatio, p.Mismatch[q], p.Distance[q])
		}
	}
	m := newMachine()
	m.nic("a", 0, 1)
	m.sample(nil)
	m.sample(local)
	if _, p, _ := m.judge(plain); p.Devices[0].MismatchRatio.OK {
		t.Error("a single-queue device has a mismatch")
	}
}
