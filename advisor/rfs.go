package advisor

import (
	"fmt"

	"github.com/netsteer/netsteer/host"
)

// adviseRFS reports receive flow steering that is half configured: it works only
// with rps_sock_flow_entries and the queue's rps_flow_cnt (get_rps_cpu,
// net/core/dev.c). It does not need rps_cpus. Which half is right is the
// operator's: nothing is proposed.
func (d *draft) adviseRFS() {
	global := d.Inventory.Sysctls.RPSSockFlowEntries
	if !global.OK {
		return
	}
	some := false
	for i := range d.Inventory.Devices {
		dev := &d.Inventory.Devices[i]
		var with, without []int
		for _, q := range liveRX(dev) {
			if q.FlowEntries.OK && q.FlowEntries.N > 0 {
				with = append(with, q.Index)
			} else if q.FlowEntries.OK {
				without = append(without, q.Index)
			}
		}
		some = some || len(with) > 0
		if !d.chosen(dev) || len(with) == 0 {
			continue
		}
		evidence := map[string]any{"rps_sock_flow_entries": global.N, "queues_with_rps_flow_cnt": len(with), "rx_queues": len(with) + len(without)}
		switch {
		case global.N == 0:
			d.find("rfs-half", Finding{Device: dev.Name, Queues: with, Evidence: evidence,
				Summary: fmt.Sprintf("%s: rps_flow_cnt is set on RX %s, but rps_sock_flow_entries is 0: RFS is off", dev.Name, queues(with))})
		case len(without) > 0:
			d.find("rfs-half", Finding{Device: dev.Name, Queues: without, Evidence: evidence,
				Summary: fmt.Sprintf("%s: RFS is on, but not for RX %s, where rps_flow_cnt is 0", dev.Name, queues(without))})
		}
	}
	if global.N > 0 && !some && d.knowsFlowCounts() {
		d.find("rfs-half", Finding{Evidence: map[string]any{"rps_sock_flow_entries": global.N},
			Summary: fmt.Sprintf("rps_sock_flow_entries is %d, but no queue has rps_flow_cnt: RFS is off", global.N)})
	}
}

func (d *draft) knowsFlowCounts() bool {
	for i := range d.Inventory.Queues {
		if q := &d.Inventory.Queues[i]; q.Direction == host.RX && q.FlowEntries.OK {
			return true
		}
	}
	return false
}
