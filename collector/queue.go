package collector

import (
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/skew"
	"github.com/netsteer/netsteer/watch"
)

var (
	queueGroup = &group{"queue"}

	queuePackets = queueGroup.counter("queue_packets_total",
		"Packets of the queue, from netdev-genl where the driver has them, else from ethtool -S.",
		"device", "direction", "queue")
	queueBytes = queueGroup.counter("queue_bytes_total",
		"Bytes of the queue, from netdev-genl where the driver has them, else from ethtool -S.",
		"device", "direction", "queue")
	queueDrops = queueGroup.counter("queue_drops_total",
		"Packets that the driver dropped at the queue, from netdev-genl or ethtool -S.",
		"device", "direction", "queue")
	queueRPS = queueGroup.gauge("queue_rps_cpus",
		"CPUs in the RX queue's rps_cpus mask. 0: RPS is off.",
		"device", "queue")
	queueFlowEntries = queueGroup.gauge("queue_rps_flow_entries",
		"Flow table entries of the RX queue (rps_flow_cnt). 0: RFS is off.",
		"device", "queue")
	queueXPS = queueGroup.gauge("queue_xps_cpus",
		"CPUs in the TX queue's xps_cpus mask. Absent where the kernel has no such mask (one TX queue).",
		"device", "queue")
	queueRSSWeight = queueGroup.gauge("queue_rss_weight_ratio",
		"Share of the RSS indirection table's entries that point to the RX queue. Absent where no table can be read.",
		"device", "queue")
	queueLive = queueGroup.gauge("queue_live",
		"1: traffic can reach the queue (RX: by RSS table, context, ntuple rule or seen in the window; TX: usable). Absent until the window is half full.",
		"device", "direction", "queue")
	queueUsable = queueGroup.gauge("queue_usable",
		"1: an RX ring of the current channels or a real TX queue of traffic class 0. XDP, AF_XDP and PTP rings are not usable.",
		"device", "direction", "queue")
	napiThreadSeconds = queueGroup.counter("napi_thread_seconds_total",
		"CPU time of the RX queue's NAPI thread, where NAPI is threaded.",
		"device", "queue")
)

var queueCollector = collector{
	group:   queueGroup,
	sources: []host.Source{host.SourceStats, host.SourceQueues, host.SourceRSS, host.SourceNetdev, host.SourceThreads},
	emit:    emitQueue,
}

func emitQueue(st *watch.State, s *sink) {
	rates := windowRates(st)
	for i := range st.Inventory.Queues {
		q := &st.Inventory.Queues[i]
		d := &st.Inventory.Devices[q.Device]
		if d.Stacked {
			continue
		}
		n := &st.Sample.Queues[q.ID]
		direction, queue := q.Direction.String(), decimal(q.Index)

		s.count(queuePackets, n.Packets, d.Name, direction, queue)
		s.count(queueBytes, n.Bytes, d.Name, direction, queue)
		s.count(queueDrops, n.Drops, d.Name, direction, queue)
		s.flag(queueUsable, q.Usable, d.Name, direction, queue)
		if rates != nil {
			s.flag(queueLive, rates.Queues[q.ID].Live, d.Name, direction, queue)
		}
		if q.Direction == host.TX {
			s.cpus(queueXPS, q.XPS, d.Name, queue)
			continue
		}
		s.cpus(queueRPS, q.RPS, d.Name, queue)
		s.count(queueFlowEntries, q.FlowEntries, d.Name, queue)
		if q.RSSWeightOK {
			s.add(queueRSSWeight, q.RSSWeight, d.Name, queue)
		}
		if n.ThreadTicks.OK {
			s.add(napiThreadSeconds, seconds(n.ThreadTicks.N), d.Name, queue)
		}
	}
}

// windowRates are the rates of the window, nil before it is half full. Shares
// of totals since boot are evidence for people, never a metric.
func windowRates(st *watch.State) *skew.Rates {
	if st.Rates == nil || st.Rates.SinceBoot {
		return nil
	}
	return st.Rates
}
