package advisor

import (
	"fmt"

	"github.com/netsteer/netsteer/host"
)

// adviseQueues reports what the number of queues allows.
func (d *draft) adviseQueues() {
	for i := range d.Inventory.Devices {
		dev := &d.Inventory.Devices[i]
		if dev.Stacked || !d.chosen(dev) {
			continue
		}
		if len(dev.Vectors) == 0 {
			if !dev.Physical {
				d.find("no-vectors", Finding{Device: dev.Name,
					Summary: fmt.Sprintf("%s: %s has no interrupts: there is nothing to place, and XPS and RPS are left as they are", dev.Name, orUnknown(dev.Driver))})
			}
			continue
		}
		near, units := d.near(dev), d.unitsOf(dev)
		switch live := len(liveRX(dev)); {
		case live == 1 && near.Len() > 1:
			f := Finding{Device: dev.Name, Summary: fmt.Sprintf("%s: one RX queue: one CPU takes all that arrives", dev.Name), Evidence: map[string]any{"rx_queues": live}}
			if top := max(dev.Channels.RX.Max.N, dev.Channels.Combined.Max.N); top > 0 {
				f.Evidence["rx_queues_max"] = top
			}
			d.find("single-queue", f)
		case units > near.Len() && !near.IsEmpty():
			d.find("queues-exceed-cpus", Finding{Device: dev.Name,
				Summary:  fmt.Sprintf("%s: %d queues on the %d allowed CPUs %s: some CPUs serve several", dev.Name, units, near.Len(), near),
				Evidence: map[string]any{"queues": units, "allowed_cpus_of_node": near.String()}})
		}
	}
}

func (d *draft) unitsOf(dev *host.Device) int {
	n := 0
	for _, u := range d.units {
		if u.device == dev {
			n++
		}
	}
	return n
}

func orUnknown(driver string) string {
	if driver == "" {
		return "its driver"
	}
	return driver
}
