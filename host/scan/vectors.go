package scan

import (
	"path"
	"strconv"

	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/driver"
)

// addVectors finds a device's interrupt vectors and the queues they serve, the
// most exact way first: netdev-genl, then the function's msi_irqs with the
// driver's own names.
func addVectors(r *reader, inv *host.Inventory, d *host.Device, all []netdev, n *netdev, entry *driver.Entry, queues []host.Queue, rows *rowTable, nd Netdev) {
	first := len(inv.Vectors)
	owner := map[int]int{}
	if n.netlink {
		owner = napiOwners(nd)
	}
	unit := path.Base(n.parent)
	var names []driver.Vector
	for _, irq := range deviceIRQs(r, n, entry, rows, unit, d.Ifindex, owner) {
		ifindex, owned := owner[irq]
		if owned && ifindex != d.Ifindex {
			continue // another port of the same function
		}
		v := readVector(r, irq, rows)
		if len(v.Actions) == 0 {
			continue // allocated, never requested
		}
		name, ours := readNames(v.Actions, entry, d.Name, unit, all, n)
		if !ours && !owned {
			continue
		}
		v.ID, v.Device = len(inv.Vectors), d.ID
		inv.Vectors = append(inv.Vectors, v)
		names = append(names, name)
	}
	vectors := inv.Vectors[first:]
	mapByName(vectors, names, d.Name, entry, queues)
	if n.netlink {
		mapByNAPI(vectors, queues, d, nd)
	}
	settle(vectors, queues)
	for i := range vectors {
		v := &vectors[i]
		if v.Role == host.RoleOther {
			v.Unmapped = host.ReasonAmbiguous
			if entry == nil {
				v.Unmapped = host.ReasonUnknownDriver
			}
			r.notes.say(host.SourceMapping, d.Name, v.Unmapped, "IRQ "+strconv.Itoa(v.IRQ)+" ("+v.Actions[0]+") has no known queue")
		}
	}
	if len(vectors) == 0 && d.Up && len(rows.byIRQ) > 0 {
		r.notes.say(host.SourceMapping, d.Name, host.ReasonMissing, "no interrupt of this device is known")
	}
}
