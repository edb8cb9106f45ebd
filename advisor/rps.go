package advisor

import (
	"fmt"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
)

// adviseRPS takes RPS off where it is redundant, and corrects masks that are
// wrong. Turning it on needs evidence of load, and is no rule of settings.
func (d *draft) adviseRPS() {
	for i := range d.Inventory.Devices {
		dev := &d.Inventory.Devices[i]
		if !d.chosen(dev) || d.left(dev) {
			continue
		}
		redundant := Finding{Device: dev.Name}
		wrong := Finding{Device: dev.Name}
		var off, corrected []host.Setting
		own := d.ownQueues(dev)
		for j := range dev.RX {
			q := &dev.RX[j]
			if !q.RPS.OK || q.RPS.Set.IsEmpty() {
				continue
			}
			if rps, why := d.correctRPS(dev, q); why != "" {
				if own != "" && !rps.IsEmpty() {
					rps, why = cpuset.Set{}, why+", and "+own
				}
				wrong.Queues = append(wrong.Queues, q.Index)
				corrected = append(corrected, d.proposeRPS(dev, q, "rps-wrong-mask", why, rps))
			} else if own != "" && q.Usable {
				redundant.Queues = append(redundant.Queues, q.Index)
				off = append(off, d.proposeRPS(dev, q, "rps-redundant", own+": RPS only adds an interrupt between CPUs", cpuset.Set{}))
			}
		}
		if len(off) > 0 {
			redundant.Summary = fmt.Sprintf("%s: RPS is on for RX %s though %s", dev.Name, queues(redundant.Queues), own)
			redundant.Evidence = map[string]any{"rx_queues": len(liveRX(dev)), "allowed_cpus_of_node": d.near(dev).String()}
			d.find("rps-redundant", redundant, off...)
		}
		if len(corrected) > 0 {
			wrong.Summary = fmt.Sprintf("%s: rps_cpus of RX %s holds CPUs that cannot or should not take packets", dev.Name, queues(wrong.Queues))
			wrong.Evidence = map[string]any{"online": d.Inventory.CPUs.Online.String(), "isolated": d.Inventory.CPUs.Isolated().String()}
			d.find("rps-wrong-mask", wrong, corrected...)
		}
	}
}

func (d *draft) proposeRPS(dev *host.Device, q *host.Queue, rule, why string, to cpuset.Set) host.Setting {
	queue := q.Index
	return d.propose(Change{Kind: host.RPSCPUs, Device: dev.Name, Direction: host.RX.String(), Queue: &queue, Rule: rule, Reason: why}, q.RPS, to)
}

// correctRPS returns the mask less what is wrong with it, and why; "" if
// nothing is.
func (d *draft) correctRPS(dev *host.Device, q *host.Queue) (cpuset.Set, string) {
	if dev.Stacked {
		return cpuset.Set{}, "RPS has no effect on a " + dev.Driver + " device: packets are steered on the device below"
	}
	cpus := &d.Inventory.CPUs
	rps := q.RPS.Set
	why := ""
	for _, bad := range []struct {
		cpus cpuset.Set
		are  string
	}{
		{rps.Minus(cpus.Online), "offline: their packets stay where they arrive"},
		{rps.Intersect(cpus.Online).Intersect(cpus.Isolated()), "isolated"},
		{rps.Intersect(cpus.Online).Intersect(d.policy.ExcludeCPUs), "excluded by --advisor.exclude-cpus"},
	} {
		if why == "" && !bad.cpus.IsEmpty() {
			why = fmt.Sprintf("CPUs %s of the mask are %s", bad.cpus, bad.are)
		}
	}
	left := rps.Intersect(cpus.Online).Minus(cpus.Isolated()).Minus(d.policy.ExcludeCPUs)
	if q.Vector >= 0 && d.seat[q.Vector] >= 0 && left == cpuset.Of(d.seat[q.Vector]) {
		if why == "" {
			why = fmt.Sprintf("the mask holds only CPU %s, which takes the queue's interrupt anyway", left)
		}
		left = cpuset.Set{}
	}
	return left, why
}

// ownQueues says that every allowed CPU of the device's node has an RX queue of
// the device, or that there are as many queues; "" if not. A device without
// vectors has its packets where the sender was: its queues stand for no CPUs.
func (d *draft) ownQueues(dev *host.Device) string {
	list, near := liveRX(dev), d.near(dev)
	if near.IsEmpty() || len(list) == 0 {
		return ""
	}
	var served cpuset.Set
	for _, q := range list {
		if q.Vector < 0 || d.seat[q.Vector] < 0 {
			return ""
		}
		served = served.Union(cpuset.Of(d.seat[q.Vector]))
	}
	switch {
	case near.SubsetOf(served):
		return fmt.Sprintf("each of the allowed CPUs %s has an RX queue of its own", near)
	case len(list) >= near.Len():
		return fmt.Sprintf("its %d RX queues are as many as the allowed CPUs %s", len(list), near)
	}
	return ""
}
