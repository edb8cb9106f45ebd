package skew

import (
	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
)

// unit is a queue pair that traffic can reach: rx-i and tx-i vectors on one CPU
// are one unit, not a collision; nor are the queues of one vector.
type unit struct{ device, queue, cpu int }

// units lists the live units whose CPU is known, each once. rates may be nil:
// what settings tell is then enough.
func units(inv *host.Inventory, rates *Rates, at []location) []unit {
	seen := map[unit]bool{}
	var list []unit
	for i := range inv.Queues {
		q := &inv.Queues[i]
		if q.Vector < 0 || at[q.Vector].cpu < 0 || !isLive(q, rates) {
			continue
		}
		u := unit{q.Device, inv.Vectors[q.Vector].Queue, at[q.Vector].cpu}
		if !seen[u] {
			seen[u] = true
			list = append(list, u)
		}
	}
	return list
}

func isLive(q *host.Queue, rates *Rates) bool {
	if rates != nil {
		return rates.Queues[q.ID].Live
	}
	return live(q, Value{})
}

func judgePlace(inv *host.Inventory, samples []*host.Sample, at []location, rates *Rates, allowed Allowed) *Place {
	p := &Place{
		CPU: make([]int, len(at)), Pending: make([]bool, len(at)), Roaming: make([]bool, len(at)),
		Mismatch: make([]Verdict, len(inv.Queues)), Distance: make([]Value, len(inv.Queues)),
		Devices: make([]DevicePlace, len(inv.Devices)),
	}
	for i, l := range at {
		p.CPU[i], p.Pending[i], p.Roaming[i] = l.cpu, l.pending, l.roaming
	}
	all := units(inv, rates, at)
	perCPU := map[int]int{}
	for _, u := range all {
		perCPU[u.cpu]++
	}
	local := sendsItself(samples)
	for i := range inv.Devices {
		d := &inv.Devices[i]
		if d.Stacked {
			continue
		}
		judgePairs(inv, d, at, local, p)
		p.Devices[i].placement(inv, d, all, perCPU, allowed)
	}
	return p
}

// placement fills the three ratios of one device's live units.
func (dp *DevicePlace) placement(inv *host.Inventory, d *host.Device, all []unit, perCPU map[int]int, allowed Allowed) {
	near := nearCPUs(inv, d, allowed)
	free := false
	for c := range near.All() {
		free = free || perCPU[c] == 0
	}
	nodeKnown := d.Node >= 0 && near.Overlaps(nodeCPUs(inv, d.Node))
	isolated := inv.CPUs.Isolated()
	var n, stacked, remote, onIsolated float64
	for _, u := range all {
		if u.device != d.ID {
			continue
		}
		n++
		if free && perCPU[u.cpu] > 1 {
			stacked++
		}
		if node := cpuNode(inv, u.cpu); nodeKnown && node >= 0 && node != d.Node {
			remote++
		}
		if isolated.Contains(u.cpu) {
			onIsolated++
		}
	}
	if n == 0 {
		return
	}
	dp.Stacked = known(stacked / n)
	dp.Isolated = known(onIsolated / n)
	if nodeKnown {
		dp.RemoteNode = known(remote / n)
	}
}

// nearCPUs are the allowed CPUs of the NIC's node, or all allowed ones where the
// node is unknown or has none.
func nearCPUs(inv *host.Inventory, d *host.Device, allowed Allowed) cpuset.Set {
	if near := allowed.CPUs.Intersect(nodeCPUs(inv, d.Node)); !near.IsEmpty() {
		return near
	}
	return allowed.CPUs
}

func nodeCPUs(inv *host.Inventory, node int) cpuset.Set {
	for _, n := range inv.Nodes {
		if n.ID == node {
			return n.CPUs
		}
	}
	return cpuset.Set{}
}

func cpuNode(inv *host.Inventory, cpu int) int {
	if cpu < 0 || cpu >= len(inv.CPUs.ByID) {
		return -1
	}
	return inv.CPUs.ByID[cpu].Node
}

// sendsItself: most packets of the window came from the host's own sockets, not
// from forwarding. Unknown and idle are no.
func sendsItself(samples []*host.Sample) bool {
	if len(samples) < 2 {
		return false
	}
	a, b := samples[0], samples[len(samples)-1]
	if !a.IPOut.OK || !b.IPOut.OK || !a.IPForwarded.OK || !b.IPForwarded.OK {
		return false
	}
	return delta64(a.IPOut.N, b.IPOut.N) > delta64(a.IPForwarded.N, b.IPForwarded.N)
}
