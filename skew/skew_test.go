package skew

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
)

func near(v Value, want float64) bool { return v.OK && math.Abs(v.V-want) < 1e-9 }

func TestDisperse(t *testing.T) {
	for _, c := range []struct {
		values      []float64
		cv, maxMean float64
		ok          bool
	}{
		{[]float64{5, 5, 5, 5}, 0, 1, true},
		{[]float64{8, 0, 0, 0, 0, 0, 0, 0}, math.Sqrt(7), 8, true}, // all on one of Q: CV sqrt(Q-1), max/mean Q
		{[]float64{1, 3}, 0.5, 1.5, true},
		{[]float64{0, 0}, 0, 0, false},
		{[]float64{7}, 0, 0, false},
		{nil, 0, 0, false},
	} {
		d := disperse(c.values)
		if d.CV.OK != c.ok || d.MaxToMean.OK != c.ok || c.ok && (!near(d.CV, c.cv) || !near(d.MaxToMean, c.maxMean)) {
			t.Errorf("disperse(%v) = %+v; want CV %v, max/mean %v, %v", c.values, d, c.cv, c.maxMean, c.ok)
		}
	}
}

// Whatever the rates: CV is in [0, sqrt(Q-1)], max/mean in [1, Q], both do not
// change with the scale or the order.
func TestDisperseProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		v := make([]float64, 2+r.IntN(63))
		for i := range v {
			v[i] = math.Floor(r.ExpFloat64() * 1000)
		}
		d := disperse(v)
		if !d.CV.OK {
			continue
		}
		q := float64(len(v))
		if d.CV.V < 0 || d.CV.V > math.Sqrt(q-1)+1e-9 || d.MaxToMean.V < 1-1e-9 || d.MaxToMean.V > q+1e-9 {
			t.Fatalf("%v: %+v out of bounds", v, d)
		}
		r.Shuffle(len(v), func(i, j int) { v[i], v[j] = v[j], v[i] })
		for i := range v {
			v[i] *= 7
		}
		if e := disperse(v); math.Abs(e.CV.V-d.CV.V) > 1e-9 || math.Abs(e.MaxToMean.V-d.MaxToMean.V) > 1e-9 {
			t.Fatalf("scaling changed %+v to %+v", d, e)
		}
	}
}

func TestDeltas(t *testing.T) {
	for _, c := range []struct{ before, now, want uint32 }{
		{10, 15, 5},
		{math.MaxUint32 - 4, 5, 10}, // wrap
		{1_000_000, 7, 7},           // reset: began anew
		{0, 0, 0},
	} {
		if got := delta32(c.before, c.now); got != c.want {
			t.Errorf("delta32(%d, %d) = %d; want %d", c.before, c.now, got, c.want)
		}
	}
	if delta64(100, 30) != 30 || delta64(30, 100) != 70 {
		t.Error("delta64 is wrong")
	}
}

func TestAllowed(t *testing.T) {
	set := func(s string) cpuset.Set {
		v, err := cpuset.ParseList(s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, c := range []struct {
		name     string
		change   func(*host.CPUs)
		options  Options
		want     string
		withheld map[Withheld]int
	}{
		{"all", nil, Options{}, "0-15", nil},
		{"isolated and nohz_full overlap", func(c *host.CPUs) { c.IsolatedBoot = set("6-7"); c.NohzFull = set("5-6") }, Options{},
			"0-4,8-15", map[Withheld]int{WithheldIsolated: 2, WithheldNohzFull: 1}},
		{"partition", func(c *host.CPUs) { c.IsolatedCpuset = set("8-15") }, Options{}, "0-7", map[Withheld]int{WithheldCpuset: 8}},
		{"offline", func(c *host.CPUs) { c.Online = set("0-2,4-15") }, Options{}, "0-2,4-15", nil},
		{"default_smp_affinity", func(c *host.CPUs) { c.DefaultIRQ = host.KnownMask(set("0-3,32")) }, Options{}, "0-3", map[Withheld]int{WithheldDefaultIRQ: 12}},
		{"default_smp_affinity would leave none", func(c *host.CPUs) { c.DefaultIRQ = host.KnownMask(set("32")) }, Options{}, "0-15", nil},
		{"excluded", nil, Options{ExcludeCPUs: set("0-1")}, "2-15", map[Withheld]int{WithheldExcluded: 2}},
		{"none left", func(c *host.CPUs) { c.IsolatedBoot = set("0-15") }, Options{}, "", map[Withheld]int{WithheldIsolated: 16}},
		{"irq-cpus override isolation", func(c *host.CPUs) { c.IsolatedBoot = set("4-5") }, Options{IRQCPUs: set("4-5,40")}, "4-5", map[Withheld]int{WithheldExcluded: 14}},
	} {
		m := newMachine()
		if c.change != nil {
			c.change(&m.inv.CPUs)
		}
		a := Allow(&m.inv.CPUs, c.options)
		if a.CPUs.String() != c.want {
			t.Errorf("%s: allowed %q; want %q", c.name, a.CPUs, c.want)
		}
		for _, why := range WithheldReasons {
			if a.Withheld[why] != c.withheld[why] {
				t.Errorf("%s: withheld as %s: %d; want %d", c.name, why, a.Withheld[why], c.withheld[why])
			}
		}
	}
}

func TestCauses(t *testing.T) {
	for _, c := range []struct {
		name  string
		build func(m *machine) *host.Device
		pkts  []uint64
		want  Cause
	}{
		{"even", func(m *machine) *host.Device { return m.nic("a", 0, 4, 0, 2, 4, 6) }, []uint64{2500, 2500, 2500, 2600}, CauseNone},
		{"idle", func(m *machine) *host.Device { return m.nic("a", 0, 4) }, []uint64{5, 0, 0, 0}, CauseIdle},
		{"one queue", func(m *machine) *host.Device { return m.nic("a", 0, 1) }, []uint64{9000}, CauseSingleQueue},
		{"one queue and idle", func(m *machine) *host.Device { return m.nic("a", 0, 1) }, []uint64{0}, CauseIdle},
		{"skewed", func(m *machine) *host.Device { return m.nic("a", 0, 4) }, []uint64{9000, 10, 10, 10}, CauseUnknown},
		{"a port that is no NIC counts nothing per queue", func(m *machine) *host.Device {
			d := m.nic("a", -1, 4)
			d.Physical = false
			return d
		}, nil, CauseUnknown},
		{"no vector is mapped", func(m *machine) *host.Device {
			d := m.nic("a", 0, 2)
			for i := range m.inv.Queues {
				m.inv.Queues[i].Vector = -1
			}
			return d
		}, []uint64{5000, 5000}, CauseUnknown},
	} {
		m := newMachine()
		d := c.build(m)
		m.sample(func(s *host.Sample) {
			if c.pkts == nil {
				for i := range s.Queues {
					s.Queues[i].Packets.OK = false
				}
			}
		})
		m.sample(traffic(d, c.pkts...))
		r, _, _ := m.judge(plain)
		if got := r.Devices[0].RX; got.Cause != c.want {
			t.Errorf("%s: cause %s (%s); want %s", c.name, got.Cause, got.Evidence, c.want)
		}
	}
}

// One queue reached by the table is the worst skew, not none; a dead queue
// never counts; a queue that received is live whatever the table says.
func TestPopulation(t *testing.T) {
	weights := func(d *host.Device, w ...float64) {
		for i := range w {
			d.RX[i].RSSWeight, d.RX[i].RSSWeightOK = w[i], true
		}
	}
	for _, c := range []struct {
		name    string
		weights []float64
		packets []uint64
		live    int
		maxMean float64
	}{
		{"table reaches one of four", []float64{1, 0, 0, 0}, []uint64{8000, 0, 0, 0}, 1, 4},
		{"two dead queues", []float64{.5, .5, 0, 0}, []uint64{4000, 4000, 0, 0}, 2, 1},
		{"a rule feeds a queue outside the table", []float64{.5, .5, 0, 0}, []uint64{3000, 3000, 3000, 0}, 3, 1},
		{"no table", nil, []uint64{4000, 4000, 0, 0}, 4, 2},
	} {
		m := newMachine()
		d := m.nic("a", 0, 4)
		weights(d, c.weights...)
		m.sample(nil)
		m.sample(traffic(d, c.packets...))
		r, _, _ := m.judge(plain)
		got := r.Devices[0].RX
		if got.Live != c.live || !near(got.Skew[Packets].MaxToMean, c.maxMean) {
			t.Errorf("%s: live %d, max/mean %+v; want %d, %v", c.name, got.Live, got.Skew[Packets].MaxToMean, c.live, c.maxMean)
		}
	}
}

// A table of 3:1 with packets of 3:1 hashes evenly: weighted CV 0, plain not.
func TestWeightedSkewIsTheHashs(t *testing.T) {
	m := newMachine()
	d := m.nic("a", 0, 2)
	d.RX[0].RSSWeight, d.RX[0].RSSWeightOK = .75, true
	d.RX[1].RSSWeight, d.RX[1].RSSWeightOK = .25, true
	m.sample(nil)
	m.sample(traffic(d, 7500, 2500))
	r, _, _ := m.judge(plain)
	s := r.Devices[0].RX.Skew
	if !near(s[PacketsWeighted].CV, 0) || !near(s[Packets].CV, .5) {
		t.Errorf("weighted %+v, plain %+v; want 0 and 0.5", s[PacketsWeighted].CV, s[Packets].CV)
	}
}

// Skew appears at the floor and stays until half of it.
func TestHysteresis(t *testing.T) {
	m := newMachine()
	d := m.nic("a", 0, 2)
	m.sample(nil)
	m.sample(traffic(d, 400, 300)) // 70/s
	cold, _, _ := Judge(m.inv, m.samples, plain, nil)
	if cold.Devices[0].RX.Skew[Packets].CV.OK {
		t.Error("70 packets/s show a skew though the floor is 100")
	}
	hot := &Rates{Shape: 1, Devices: make([]DeviceRates, 1)}
	hot.Devices[0].RX.Skew[Packets].CV = known(1)
	warm, _, _ := Judge(m.inv, m.samples, plain, hot)
	if !warm.Devices[0].RX.Skew[Packets].CV.OK {
		t.Error("70 packets/s lost the skew that was there before; the floor is then 50")
	}
}

// A burst shorter than the window shows in the peak, not in the mean.
func TestPeak(t *testing.T) {
	m := newMachine()
	d := m.nic("a", 0, 2)
	m.sample(nil)
	m.sample(traffic(d, 9000, 0))
	m.sample(traffic(d, 0, 9000))
	r, _, _ := m.judge(plain)
	if got := r.Devices[0].RX; !near(got.Skew[Packets].MaxToMean, 1) || !near(got.Peak, 2) {
		t.Errorf("max/mean %+v, peak %+v; want 1 and 2", got.Skew[Packets].MaxToMean, got.Peak)
	}
}

// Where softirq time is sampled by the tick and the CPU mostly idles, what idle
// leaves is the load; where it is saturated, softirq time is.
func TestBusyNet(t *testing.T) {
	for _, c := range []struct {
		name    string
		ticks   host.CPUTicks // of 10 s = 1000 ticks
		sampled bool
		cap     int
		want    float64
	}{
		{"sampled and idle", host.CPUTicks{SoftIRQ: 10, Idle: 930, User: 20}, true, 0, .05},
		{"sampled and busy", host.CPUTicks{SoftIRQ: 900, Idle: 50}, true, 0, .9},
		{"accounted", host.CPUTicks{SoftIRQ: 10, IRQ: 20, Idle: 930, User: 20}, false, 0, .03},
		{"stolen time is nobody's", host.CPUTicks{SoftIRQ: 0, Idle: 800, Steal: 200}, true, 0, 0},
		{"half a big CPU", host.CPUTicks{SoftIRQ: 800, Idle: 200}, true, 512, .4},
		{"more than all", host.CPUTicks{SoftIRQ: 1200}, true, 0, 1},
	} {
		a, b := host.CPUTicks{Present: true}, c.ticks
		b.Present = true
		cpu := host.CPU{Capacity: c.cap}
		if got := busyNet(&cpu, a, b, 10e9, c.sampled); !near(got, c.want) {
			t.Errorf("%s: %+v; want %v", c.name, got, c.want)
		}
	}
	if busyNet(&host.CPU{}, host.CPUTicks{}, host.CPUTicks{Present: true}, 10e9, true).OK {
		t.Error("a CPU that was offline has a load")
	}
}

// Load is shared among a CPU's queues by packets.
func TestQueueLoad(t *testing.T) {
	m := newMachine()
	d := m.nic("a", 0, 2, 3, 3)
	m.sample(nil)
	m.sample(func(s *host.Sample) {
		traffic(d, 3000, 1000)(s)
		s.Ticks[3].SoftIRQ += 800
		s.Ticks[3].Idle += 200
		s.Ticks[0].IRQ++ // accounted
	})
	r, _, _ := m.judge(plain)
	if !near(r.Queues[d.RX[0].ID].Load, .6) || !near(r.Queues[d.RX[1].ID].Load, .2) {
		t.Errorf("loads %+v, %+v; want 0.6 and 0.2", r.Queues[d.RX[0].ID].Load, r.Queues[d.RX[1].ID].Load)
	}
	if !near(r.CPUs[3].NICPackets, 400) {
		t.Errorf("packets of CPU 3: %+v; want 400/s", r.CPUs[3].NICPackets)
	}
}

// With fewer queues than CPUs an even spread still is skew 0.
func TestCPUSkewIsOverTheSharers(t *testing.T) {
	m := newMachine()
	d := m.nic("a", 0, 2, 2, 4)
	m.sample(nil)
	m.sample(traffic(d, 5000, 5000))
	r, _, _ := m.judge(plain)
	if got := r.CPUSkew[NICPackets]; !near(got.CV, 0) || !near(got.MaxToMean, 1) {
		t.Errorf("%+v; want CV 0 and max/mean 1", got)
	}
}
