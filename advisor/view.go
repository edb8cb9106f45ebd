package advisor

import (
	"slices"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/skew"
)

// view is the facts with what every family of rules needs of them.
type view struct {
	Facts
	policy  Policy
	allowed cpuset.Set
	// units are in planning order: up before down, NICs with a node before those
	// without, then as in the Inventory.
	units []*unit
	// seat is the planned CPU of each vector by Vector.ID, -1: none is known.
	seat []int
	// onCPU counts the planned units by CPU.
	onCPU []int
}

func newView(f Facts, p Policy) *view {
	v := &view{Facts: f, policy: p, allowed: f.Allowed.CPUs.Intersect(f.Inventory.CPUs.Online)}
	v.units = v.findUnits()
	v.seat, v.onCPU = v.plan()
	return v
}

// chosen: findings and changes of this device are asked for.
func (v *view) chosen(d *host.Device) bool {
	return len(v.policy.Devices) == 0 || slices.Contains(v.policy.Devices, d.Name)
}

// left: the device is measured and never changed.
func (v *view) left(d *host.Device) bool {
	return v.policy.Leave != nil && v.policy.Leave.MatchString(d.Name)
}

// nodeCPUs are all CPUs of the device's node; empty where it is unknown.
func (v *view) nodeCPUs(d *host.Device) cpuset.Set {
	for _, n := range v.Inventory.Nodes {
		if n.ID == d.Node {
			return n.CPUs
		}
	}
	return cpuset.Set{}
}

// near are the allowed CPUs of the device's node, or all allowed ones where the
// node is unknown or has none.
func (v *view) near(d *host.Device) cpuset.Set {
	if near := v.allowed.Intersect(v.nodeCPUs(d)); !near.IsEmpty() {
		return near
	}
	return v.allowed
}

// liveRX lists the RX queues that settings let traffic reach. Unlike a metric's
// live queues they do not follow from traffic: the same settings must give the
// same plan.
func liveRX(d *host.Device) []*host.Queue {
	var list []*host.Queue
	for i := range d.RX {
		if live(&d.RX[i]) {
			list = append(list, &d.RX[i])
		}
	}
	return list
}

func liveTX(d *host.Device) []*host.Queue {
	var list []*host.Queue
	for i := range d.TX {
		if live(&d.TX[i]) {
			list = append(list, &d.TX[i])
		}
	}
	return list
}

func live(q *host.Queue) bool {
	if !q.Usable {
		return false
	}
	return q.Direction == host.TX || !q.RSSWeightOK || q.RSSWeight > 0 || q.Steered
}

// device returns the device of a vector or unit.
func (v *view) device(id int) *host.Device { return &v.Inventory.Devices[id] }

// queueRates returns a queue's rates, the zero value where nothing was measured.
func (v *view) queueRates(q *host.Queue) skew.QueueRates {
	if v.Rates == nil || q.ID >= len(v.Rates.Queues) {
		return skew.QueueRates{}
	}
	return v.Rates.Queues[q.ID]
}
