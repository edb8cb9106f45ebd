package collector

import (
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/watch"
)

var (
	softirqGroup = &group{"softirq"}

	cpuSoftirqs = softirqGroup.counter("cpu_softirqs_total",
		"Runs of the softirq handler, not packets: a saturated CPU polls and so runs NET_RX less often than idle ones. Of offline CPUs those that ever ran one.",
		"cpu", "type")
)

var softirqCollector = collector{
	group:   softirqGroup,
	sources: []host.Source{host.SourceSoftirqs},
	emit:    emitSoftirq,
}

func emitSoftirq(st *watch.State, s *sink) {
	if st.Failed[host.SourceSoftirqs] || st.Sample.SoftirqsTime.IsZero() {
		return
	}
	emitRuns(st, s, "NET_RX", st.Sample.NetRX)
	emitRuns(st, s, "NET_TX", st.Sample.NetTX)
}

// emitRuns leaves out CPUs that are merely possible: a VM may have room for
// hundreds that never come.
func emitRuns(st *watch.State, s *sink, softirq string, runs []uint32) {
	for cpu, n := range runs {
		if n > 0 || st.Inventory.CPUs.Online.Contains(cpu) {
			s.add(cpuSoftirqs, float64(n), decimal(cpu), softirq)
		}
	}
}
