package scan

import (
	"fmt"
	"hash/fnv"

	"github.com/netsteer/netsteer/host"
)

// shapeKey is a digest of all that counters hang on. Masks are not in it.
func shapeKey(inv *host.Inventory, rows *rowTable) string {
	h := fnv.New128a()
	fmt.Fprint(h, inv.CPUs.NumIDs(), inv.CPUs.Online, rows.table.CPUs)
	for i := range inv.Devices {
		d := &inv.Devices[i]
		fmt.Fprint(h, "\n", d.Name, d.Ifindex, d.Driver, d.Stacked, d.NetlinkExcluded, d.Channels, d.RSS.Table, d.RSS.Contexts, d.RSS.Fields, d.RSS.RuleQueues)
	}
	for i := range inv.Queues {
		q := &inv.Queues[i]
		fmt.Fprint(h, "\n", q.Device, q.Direction, q.Index, q.Usable, q.Vector, q.Thread)
	}
	for i := range inv.Vectors {
		v := &inv.Vectors[i]
		fmt.Fprint(h, "\n", v.Device, v.IRQ, v.Role, v.Queue, v.RX, v.TX, v.Actions)
	}
	return string(h.Sum(nil))
}
