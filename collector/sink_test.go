package collector

import (
	"maps"
	"math"
	"testing"

	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/watch"
)

func emitAll(st *watch.State, s *sink) {
	s.begin()
	for _, c := range all {
		c.emit(st, s)
	}
	emitSources(st, s)
	s.end()
}

// A scrape of an unchanged shape allocates nothing, and neither do counters
// that moved nor gauges that come and go.
func TestEmitAllocatesNothing(t *testing.T) {
	st := generate(shape{devices: 4, pairs: 16, cpus: 32, spread: 4})
	rates := st.Rates
	s := newSink()
	emitAll(st, s)
	n := 0
	got := testing.AllocsPerRun(20, func() {
		n++
		st.Sample.Sums[0]++
		st.Rates = nil
		if n%2 == 0 {
			st.Rates = rates
		}
		emitAll(st, s)
	})
	if got != 0 {
		t.Errorf("%v allocations in a scrape of the same shape", got)
	}
}

// After each change of shape the kept families give exactly what new ones
// would: no series, label or value of the machine before stays.
func TestChangeOfShape(t *testing.T) {
	large := shape{devices: 3, pairs: 8, cpus: 8, spread: 4}
	renamed := generate(large)
	for i := range renamed.Inventory.Devices {
		renamed.Inventory.Devices[i].Name += "np0"
	}
	waiting := generate(large)
	waiting.Rates = nil
	s := newSink()
	for i, st := range []*watch.State{
		generate(large),
		generate(shape{devices: 3, pairs: 2, cpus: 8, spread: 1}),
		renamed,
		waiting,
		generate(shape{devices: 1, pairs: 1, cpus: 2, spread: 1, split: true}),
		generate(shape{devices: 5, pairs: 16, cpus: 16, spread: 8}),
		generate(large),
	} {
		emitAll(st, s)
		fresh := newSink()
		emitAll(st, fresh)
		got, want := flatten(t, s.end()), flatten(t, fresh.end())
		if !maps.Equal(got, want) {
			t.Errorf("state %d: kept families give %d series, new ones %d, and not the same", i, len(got), len(want))
		}
	}
}

func TestWhatIsNoNumberIsAbsent(t *testing.T) {
	s := newSink()
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		s.add(netdevBudget, v)
	}
	if got := s.end(); len(got) != 0 {
		t.Errorf("%d families, want none", len(got))
	}
}

func TestDecimal(t *testing.T) {
	for id, want := range map[int]string{-1: "", 0: "0", 7: "7", 1023: "1023", 1024: "1024", 5000: "5000", maxDecimals - 1: "65535", 1 << 20: "1048576"} {
		if got := decimal(id); got != want {
			t.Errorf("decimal(%d) = %q", id, got)
		}
	}
}

var allSources = []host.Source{
	host.SourceInterrupts, host.SourceSoftirqs, host.SourceSoftnet, host.SourceStat, host.SourceIRQ, host.SourceTopology,
	host.SourceSysctl, host.SourceSysfs, host.SourceQueues, host.SourceNetlink, host.SourceRSS, host.SourceNetdev,
	host.SourceStats, host.SourceDriver, host.SourceThreads, host.SourceMapping,
}

func degraded(source host.Source, device string) host.Degraded {
	return host.Degraded{Source: source, Device: device, Reason: host.ReasonUnsupported}
}
