package collector

import (
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/skew"
	"github.com/netsteer/netsteer/watch"
)

var (
	affinityGroup = &group{"affinity"}

	queueMismatch = affinityGroup.gauge("queue_affinity_mismatch",
		"1: what a socket sends from the CPU that runs the RX queue leaves by a TX queue whose completion runs on another CPU. Absent where the pair is not judged.",
		"device", "queue")
	queueDistance = affinityGroup.gauge("queue_affinity_distance",
		"How far the completion of such a send is: 0 same CPU, 1 core, 2 cache, 3 node, 4 remote. Absent where the pair is not judged.",
		"device", "queue")
	queuePending = affinityGroup.gauge("queue_affinity_pending",
		"1: smp_affinity of a vector of the queue pair was changed and the vector has not moved yet. Without interrupt remapping it moves at its next interrupt.",
		"device", "queue")
	mismatchRatio = affinityGroup.gauge("affinity_mismatch_ratio",
		"Mismatched queue pairs of those judged.",
		"device")
	irqStackedRatio = affinityGroup.gauge("irq_stacked_ratio",
		"Of the device's live units, those that share a CPU with another unit of any NIC though an allowed CPU of the node has none.",
		"device")
	irqRemoteRatio = affinityGroup.gauge("irq_remote_node_ratio",
		"Of the device's live units, those on another node though the NIC's node has an allowed CPU. Absent if it has none or is unknown.",
		"device")
	irqIsolatedRatio = affinityGroup.gauge("irq_isolated_ratio",
		"Of the device's live units, those on an isolated CPU.",
		"device")
)

var affinityCollector = collector{
	group:   affinityGroup,
	sources: []host.Source{host.SourceInterrupts, host.SourceIRQ, host.SourceQueues, host.SourceTopology, host.SourceMapping},
	emit:    emitAffinity,
}

func emitAffinity(st *watch.State, s *sink) {
	for i := range st.Inventory.Devices {
		d := &st.Inventory.Devices[i]
		if d.Stacked {
			continue
		}
		place := &st.Place.Devices[d.ID]
		s.known(mismatchRatio, place.MismatchRatio, d.Name)
		s.known(irqStackedRatio, place.Stacked, d.Name)
		s.known(irqRemoteRatio, place.RemoteNode, d.Name)
		s.known(irqIsolatedRatio, place.Isolated, d.Name)

		for j := range d.RX {
			q := &d.RX[j]
			queue := decimal(q.Index)
			if verdict := st.Place.Mismatch[q.ID]; verdict != skew.NotJudged {
				s.flag(queueMismatch, verdict == skew.Mismatched, d.Name, queue)
			}
			s.known(queueDistance, st.Place.Distance[q.ID], d.Name, queue)
			emitPending(st, s, d, q, find(d.TX, q.Index))
		}
		for j := range d.TX {
			if q := &d.TX[j]; find(d.RX, q.Index) == nil {
				emitPending(st, s, d, q, nil)
			}
		}
	}
}

// emitPending says whether the vector of one of two queues of a pair is about
// to move. b may be nil.
func emitPending(st *watch.State, s *sink, d *host.Device, a, b *host.Queue) {
	pendingA, okA := pending(st, a)
	pendingB, okB := pending(st, b)
	if okA || okB {
		s.flag(queuePending, pendingA || pendingB, d.Name, decimal(a.Index))
	}
}

// pending is not ok where the queue has no vector or its mask is unknown.
func pending(st *watch.State, q *host.Queue) (pending, ok bool) {
	if q == nil || q.Vector < 0 || !st.Inventory.Vectors[q.Vector].Affinity.OK {
		return false, false
	}
	return st.Place.Pending[q.Vector], true
}

// find returns the queue of that number, or nil.
func find(queues []host.Queue, index int) *host.Queue {
	if index < len(queues) && queues[index].Index == index {
		return &queues[index]
	}
	for i := range queues {
		if queues[i].Index == index {
			return &queues[i]
		}
	}
	return nil
}
