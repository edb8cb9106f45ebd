package collector

import (
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/watch"
)

var (
	softnetGroup = &group{"softnet"}

	softnetProcessed = softnetGroup.counter("softnet_processed_total",
		"Passes through the receive path on the CPU, not packets: VLAN, bond and macvlan make a packet pass twice.",
		"cpu")
	softnetDropped = softnetGroup.counter("softnet_dropped_total",
		"Packets dropped on the way to the backlog of this CPU, the target of RPS or a virtual device: it was full (netdev_max_backlog) or the flow limit held.",
		"cpu")
	softnetSqueezed = softnetGroup.counter("softnet_time_squeezed_total",
		"NET_RX runs that stopped with work left because netdev_budget or netdev_budget_usecs was used up.",
		"cpu")
	softnetRPS = softnetGroup.counter("softnet_received_rps_total",
		"Wake-ups of this CPU by another one's RPS, not packets. Absent where the kernel does not print it.",
		"cpu")
	softnetFlowLimit = softnetGroup.counter("softnet_flow_limit_total",
		"Packets dropped by the flow limit, on the row of the CPU that tried to enqueue them; the target CPU counts them as dropped. Absent where the kernel does not print it.",
		"cpu")
	softnetBacklog = softnetGroup.gauge("softnet_backlog_packets",
		"Packets in the CPU's backlog now, on its input or process list. Absent where the kernel does not print the two lengths.",
		"cpu", "list")
)

var softnetCollector = collector{
	group:   softnetGroup,
	sources: []host.Source{host.SourceSoftnet},
	emit:    emitSoftnet,
}

func emitSoftnet(st *watch.State, s *sink) {
	if st.Failed[host.SourceSoftnet] || st.Sample.SoftnetTime.IsZero() {
		return
	}
	for id := range st.Sample.Softnet {
		row := &st.Sample.Softnet[id]
		if !row.Present {
			continue
		}
		cpu := decimal(id)
		s.add(softnetProcessed, float64(row.Processed), cpu)
		s.add(softnetDropped, float64(row.Dropped), cpu)
		s.add(softnetSqueezed, float64(row.TimeSqueeze), cpu)
		if row.Columns >= 10 {
			s.add(softnetRPS, float64(row.ReceivedRPS), cpu)
		}
		if row.Columns >= 11 {
			s.add(softnetFlowLimit, float64(row.FlowLimit), cpu)
		}
		if row.Columns >= 15 {
			s.add(softnetBacklog, float64(row.InputQlen), cpu, "input")
			s.add(softnetBacklog, float64(row.ProcessQlen), cpu, "process")
		}
	}
}
