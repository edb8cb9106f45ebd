package advisor

import (
	"fmt"
	"slices"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
)

// completion is a TX queue and the CPU that completes it.
type completion struct {
	queue *host.Queue
	cpu   int
}

// adviseXPS gives each CPU that may send the TX queue that completes nearest to
// it (scaling.rst; __get_xps_queue_idx, net/core/dev.c).
func (d *draft) adviseXPS() {
	for i := range d.Inventory.Devices {
		dev := &d.Inventory.Devices[i]
		if dev.Stacked || !d.chosen(dev) || d.left(dev) || len(dev.Vectors) == 0 || len(liveTX(dev)) < 2 {
			continue
		}
		list, why := d.completions(dev)
		if why == "" {
			why = d.adviseDeviceXPS(dev, list)
		}
		if why != "" {
			d.find("xps-left", Finding{Device: dev.Name, Summary: dev.Name + ": XPS is left as it is: " + why})
		}
	}
}

// completions lists the device's TX queues with their planned CPUs, or says why
// XPS cannot be planned.
func (d *draft) completions(dev *host.Device) (list []completion, why string) {
	for i := range dev.TX {
		switch q := &dev.TX[i]; {
		case q.TrafficClass > 0:
			return nil, "it has more than one traffic class"
		case len(q.XPSRXQueues) > 0:
			return nil, "xps_rxqs is set, which wins over xps_cpus"
		}
	}
	if dev.IgnoresXPS {
		return nil, "driver " + dev.Driver + " chooses TX queues itself"
	}
	if d.allowed.IsEmpty() {
		return nil, "no CPU is allowed"
	}
	for _, q := range liveTX(dev) {
		switch {
		case !q.XPS.OK:
			return nil, fmt.Sprintf("xps_cpus of tx-%d cannot be read", q.Index)
		case q.Vector < 0 || d.seat[q.Vector] < 0:
			return nil, fmt.Sprintf("the CPU that completes tx-%d is not known", q.Index)
		}
		list = append(list, completion{q, d.seat[q.Vector]})
	}
	return list, ""
}

func (d *draft) adviseDeviceXPS(dev *host.Device, list []completion) (why string) {
	rule, act := "xps-mismatch", "complete on other CPUs than those that send to them"
	if !inForce(list) {
		// The kernel hashes what sockets send, and passes on what is forwarded by
		// the queue it came in: there XPS would only spoil what matches.
		if d.Place == nil || !d.Place.Devices[dev.ID].MismatchRatio.OK {
			return "it is unset, and this host's own sockets are not known to send most packets (forwarded packets keep their queue)"
		}
		rule, act = "xps-unset", "are chosen by a hash over all TX queues"
	} else if d.consistent(dev, list) {
		return ""
	}
	wanted := d.spread(list)
	var changed []int
	var settings []host.Setting
	for i, c := range list {
		if c.queue.XPS.Set == wanted[i] {
			continue
		}
		queue := c.queue.Index
		reason := fmt.Sprintf("tx-%d completes on CPU %d; these CPUs have no TX queue nearer", queue, c.cpu)
		if wanted[i].IsEmpty() {
			reason = fmt.Sprintf("every CPU has a TX queue at least as near as tx-%d", queue)
		}
		settings = append(settings, d.propose(Change{
			Kind: host.XPSCPUs, Device: dev.Name, Direction: host.TX.String(), Queue: &queue, Rule: rule, Reason: reason + d.undone(dev),
		}, c.queue.XPS, wanted[i]))
		changed = append(changed, queue)
	}
	if len(changed) == 0 {
		return ""
	}
	f := Finding{Device: dev.Name, Queues: changed, Summary: fmt.Sprintf("%s: TX queues %s", dev.Name, act),
		Evidence: map[string]any{"tx_queues": len(list), "changed": len(changed)}}
	if d.Place != nil && d.Place.Devices[dev.ID].MismatchRatio.OK {
		f.Evidence["affinity_mismatch_ratio"] = round(d.Place.Devices[dev.ID].MismatchRatio.V)
	}
	d.find(rule, f, settings...)
	return ""
}

// inForce: masks steer: one is set, and not the same on all.
func inForce(list []completion) bool {
	return slices.ContainsFunc(list, func(c completion) bool { return c.queue.XPS.Set != list[0].queue.XPS.Set })
}

// consistent: what is set serves the planned CPUs. Every online CPU has a queue,
// if there are enough queues to ask for that; and whatever a completion CPU may
// send by completes there. A driver that writes groups of CPUs is taken at its
// groups: each queue completes within its own.
func (d *draft) consistent(dev *host.Device, list []completion) bool {
	online := d.Inventory.CPUs.Online
	var covered, completing cpuset.Set
	for _, c := range list {
		covered = covered.Union(c.queue.XPS.Set)
		completing = completing.Union(cpuset.Of(c.cpu))
	}
	if len(list) <= online.Len() && !online.SubsetOf(covered) {
		return false
	}
	for _, c := range list {
		if dev.RewritesXPS {
			if !c.queue.XPS.Set.Contains(c.cpu) {
				return false
			}
			continue
		}
		for cpu := range c.queue.XPS.Set.Intersect(completing).All() {
			if cpu != c.cpu {
				return false
			}
		}
	}
	return completing.SubsetOf(covered)
}

// spread divides the online CPUs, isolated ones too (they send as well), among
// the queues: nearest first, then the queue with the fewest CPUs, then the
// lowest. More queues than CPUs: each has the CPU it completes on.
func (d *draft) spread(list []completion) []cpuset.Set {
	cpus := &d.Inventory.CPUs
	masks := make([]cpuset.Builder, len(list))
	if len(list) > cpus.Online.Len() {
		for i, c := range list {
			masks[i].Add(c.cpu)
		}
		return sets(masks)
	}
	count := make([]int, len(list))
	for distance := host.SameCPU; distance <= host.Remote; distance++ {
		for cpu := range cpus.Online.All() {
			best, nearest := -1, host.Remote
			for i, c := range list {
				switch away := cpus.Distance(cpu, c.cpu); {
				case best < 0 || away < nearest, away == nearest && count[i] < count[best]:
					best, nearest = i, away
				}
			}
			if nearest == distance {
				masks[best].Add(cpu)
				count[best]++
			}
		}
	}
	return sets(masks)
}

func sets(masks []cpuset.Builder) []cpuset.Set {
	list := make([]cpuset.Set, len(masks))
	for i := range masks {
		list[i] = masks[i].Set()
	}
	return list
}
