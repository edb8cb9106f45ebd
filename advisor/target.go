package advisor

import (
	"strconv"

	"github.com/netsteer/netsteer/host"
)

// target names, for people, what a change writes; "" for a queue or vector that
// is not there.
func target(inv *host.Inventory, c *Change) string {
	queues := "/sys/class/net/" + c.Device + "/queues/" + c.Direction + "-" + strconv.Itoa(c.queue()) + "/"
	switch c.Kind {
	case host.IRQAffinity:
		if v := vectorOf(inv, c); v != nil {
			return "/proc/irq/" + strconv.Itoa(v.IRQ) + "/smp_affinity_list"
		}
		return ""
	case host.RPSCPUs, host.RPSFlowCnt, host.XPSCPUs:
		return queues + string(c.Kind)
	case host.RPSSockFlowEntries, host.NetdevMaxBacklog, host.NetdevBudget:
		return "/proc/sys/net/core/" + string(c.Kind)
	case host.RSSIndirection, host.RSSHashFields:
		return "ethtool:rss"
	}
	return "ethtool:" + string(c.Kind)
}

// vectorOf is the vector an irq_affinity change is about, or nil.
func vectorOf(inv *host.Inventory, c *Change) *host.Vector {
	d := inv.Device(c.Device)
	if d == nil {
		return nil
	}
	for i := range d.Vectors {
		v := &d.Vectors[i]
		if v.Queue >= 0 && v.Queue == c.queue() && v.Role.String() == c.Direction {
			return v
		}
	}
	return nil
}

// queueOf is the queue a change of rps_cpus, rps_flow_cnt or xps_cpus is about,
// or nil.
func queueOf(inv *host.Inventory, c *Change) *host.Queue {
	d := inv.Device(c.Device)
	if d == nil {
		return nil
	}
	list := d.RX
	if c.Setting().Direction == host.TX {
		list = d.TX
	}
	for i := range list {
		if list[i].Index == c.queue() {
			return &list[i]
		}
	}
	return nil
}
