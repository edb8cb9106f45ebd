package skew

import (
	"slices"

	"github.com/netsteer/netsteer/host"
)

// judgePairs judges whether what a socket sends from the CPU that runs rx-i
// completes on that CPU (transmit packet steering, scaling.rst;
// __get_xps_queue_idx, net/core/dev.c). rps_cpus plays no part.
func judgePairs(inv *host.Inventory, d *host.Device, at []location, local bool, p *Place) {
	if len(d.TX) < 2 || d.IgnoresXPS {
		return
	}
	xps, ok := xpsOf(d)
	if !ok {
		return
	}
	judged, mismatched := 0.0, 0.0
	for i := range d.RX {
		q := &d.RX[i]
		if !q.Usable || q.Vector < 0 || at[q.Vector].cpu < 0 || at[q.Vector].roaming {
			continue
		}
		cpu := at[q.Vector].cpu
		targets := xps.targets(q.Index, cpu)
		if len(targets) == 0 {
			// In no mask: the kernel hashes what sockets send over all queues, and
			// sends what is forwarded by the queue it came in.
			if !local {
				continue
			}
			targets = xps.all
		}
		verdict, distance := judgePair(inv, cpu, targets, at)
		if verdict == NotJudged {
			continue
		}
		p.Mismatch[q.ID], p.Distance[q.ID] = verdict, distance
		judged++
		if verdict == Mismatched {
			mismatched++
		}
	}
	if judged > 0 {
		p.Devices[d.ID].MismatchRatio = known(mismatched / judged)
	}
}

// judgePair is matched only if every target queue completes on the CPU.
func judgePair(inv *host.Inventory, cpu int, targets []*host.Queue, at []location) (Verdict, Value) {
	farthest := host.SameCPU
	for _, t := range targets {
		if t.Vector < 0 || at[t.Vector].cpu < 0 {
			return NotJudged, Value{}
		}
		farthest = max(farthest, inv.CPUs.Distance(cpu, at[t.Vector].cpu))
	}
	if farthest == host.SameCPU {
		return Matched, known(0)
	}
	return Mismatched, known(float64(farthest))
}

// xpsMap is a device's transmit packet steering.
type xpsMap struct {
	all     []*host.Queue // usable TX queues
	byRXQ   bool          // some queue has xps_rxqs, which wins over xps_cpus
	inForce bool          // xps_cpus steers: not empty, not one mask on all
}

// xpsOf reads the device's XPS; false where it cannot be read.
func xpsOf(d *host.Device) (xpsMap, bool) {
	var m xpsMap
	for i := range d.TX {
		q := &d.TX[i]
		if !q.Usable {
			continue
		}
		if !q.XPS.OK {
			return m, false
		}
		m.all = append(m.all, q)
		m.byRXQ = m.byRXQ || len(q.XPSRXQueues) > 0
	}
	if len(m.all) < 2 {
		return m, false
	}
	first := m.all[0].XPS.Set
	for _, q := range m.all {
		if q.XPS.Set != first {
			m.inForce = true
		}
	}
	return m, true
}

// targets are the TX queues by which a socket on that CPU, fed by that RX queue,
// may send; none: the kernel hashes.
func (m *xpsMap) targets(rxq, cpu int) []*host.Queue {
	if m.byRXQ {
		if list := m.choose(func(q *host.Queue) bool { return slices.Contains(q.XPSRXQueues, rxq) }); len(list) > 0 {
			return list
		}
	}
	if !m.inForce {
		return nil
	}
	return m.choose(func(q *host.Queue) bool { return q.XPS.Set.Contains(cpu) })
}

func (m *xpsMap) choose(is func(*host.Queue) bool) []*host.Queue {
	var list []*host.Queue
	for _, q := range m.all {
		if is(q) {
			list = append(list, q)
		}
	}
	return list
}
