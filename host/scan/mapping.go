package scan

import (
	"slices"
	"strings"

	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/driver"
)

// byName reads an action by the driver's forms. With the driver unknown it must
// carry the device's own name, and all drivers must agree on it.
func byName(action string, entry *driver.Entry, device string) (driver.Vector, bool) {
	if entry != nil {
		return entry.Vector(action)
	}
	v, ok := driver.Agreed(action)
	return v, ok && v.Device == device
}

// readNames reads a vector's actions, the device's own name first; ours is false
// if they name another unit or another device of the same function. A name that
// fits no device is the device's from before a live rename.
func readNames(actions []string, entry *driver.Entry, name, unit string, all []netdev, n *netdev) (driver.Vector, bool) {
	var first *driver.Vector
	for _, action := range actions {
		v, ok := byName(action, entry, name)
		if ok && (first == nil || v.Device == name) {
			first = &v
		}
	}
	switch {
	case first == nil:
		return unread, true
	case first.Pool || isSubfunction(unit):
		return *first, false // names tell sub-functions apart from nobody
	case first.Unit != "" && first.Unit != unit && entry != nil && isSibling(first.Unit, unit):
		return *first, false
	case first.Device != "" && first.Device != name && sharesFunction(first.Device, all, n):
		return *first, false
	}
	return *first, true
}

// unread is the reading of a name that says nothing.
var unread = driver.Vector{Role: 255, Queue: -1, Last: -1}

// isSibling: "virtio3" against "virtio2" is another device; a PCI address
// against it is the function itself.
func isSibling(a, b string) bool { return trimDigits(a) == trimDigits(b) }

// isSubfunction: the device is on the auxiliary bus ("mlx5_core.sf.4") and takes
// its vectors from a pool of the function above, which others use too.
func isSubfunction(unit string) bool { return strings.Contains(unit, ".sf.") }

func trimDigits(s string) string {
	for s != "" && s[len(s)-1] >= '0' && s[len(s)-1] <= '9' {
		s = s[:len(s)-1]
	}
	return s
}

func sharesFunction(name string, all []netdev, n *netdev) bool {
	return slices.ContainsFunc(all, func(d netdev) bool { return d.name == name && d.parent == n.parent })
}

// mapByName gives the vectors the roles and queues that their names say.
func mapByName(vectors []host.Vector, names []driver.Vector, device string, entry *driver.Entry, queues []host.Queue) {
	rx, tx := 0, 0
	for i := range queues {
		if queues[i].Direction == host.RX {
			rx = max(rx, queues[i].Index+1)
		} else {
			tx = max(tx, queues[i].Index+1)
		}
	}
	forgetRepeated(vectors, names)
	served := entry.Assign(names, rx, tx)
	for i := range vectors {
		v, name := &vectors[i], names[i]
		switch name.Role {
		case driver.Control:
			v.Role = host.RoleControl
		case driver.RX:
			v.Role = host.RoleRX
		case driver.TX:
			v.Role = host.RoleTX
		case driver.Combined:
			v.Role = host.RoleCombined
		}
		if name.Queue >= 0 && !name.Pool {
			v.Mapping, v.RX, v.TX = host.MappedName, served[i].RX, served[i].TX
		}
	}
	// INTx, MSI or a single-queue NIC: one vector for everything, by the name of
	// the device.
	if len(vectors) == 1 && rx == 1 && tx == 1 && slices.Contains(vectors[0].Actions, device) {
		v := &vectors[0]
		v.Role, v.Mapping, v.RX, v.TX = host.RoleCombined, host.MappedName, []int{0}, []int{0}
	}
}

// forgetRepeated takes away what names say that come more than once: e1000e's
// cut down to the device's, or two functions' netdevs of one name in different
// namespaces, where sysfs does not tell which vector is whose.
func forgetRepeated(vectors []host.Vector, names []driver.Vector) {
	times := map[string]int{}
	for i := range vectors {
		times[vectors[i].Actions[0]]++
	}
	for i := range vectors {
		if times[vectors[i].Actions[0]] > 1 {
			names[i] = unread
		}
	}
}

// mapByNAPI replaces names by what netdev-genl says, wherever it says it.
func mapByNAPI(vectors []host.Vector, queues []host.Queue, d *host.Device, nd Netdev) {
	irqOf := map[uint64]int{}
	for _, n := range nd.NAPIs {
		if n.Ifindex == d.Ifindex && n.IRQ.OK {
			irqOf[n.ID] = int(n.IRQ.N)
		}
	}
	for i := range vectors {
		v := &vectors[i]
		var rx, tx []int
		for j := range queues {
			q := &queues[j]
			irq, ok := irqOf[q.NAPI.N]
			if !q.NAPI.OK || !ok || irq != v.IRQ {
				continue
			}
			if q.Direction == host.RX {
				rx = append(rx, q.Index)
			} else {
				tx = append(tx, q.Index)
			}
		}
		if len(rx)+len(tx) == 0 {
			continue
		}
		v.RX, v.TX, v.Mapping = rx, tx, host.MappedNetdev
		switch {
		case len(tx) == 0:
			v.Role = host.RoleRX
		case len(rx) == 0:
			v.Role = host.RoleTX
		default:
			v.Role = host.RoleCombined
		}
	}
}

// settle points each queue at its vector: an exact mapping before a name's. A
// vector that lost its queues so is a spare one.
func settle(vectors []host.Vector, queues []host.Queue) {
	for _, by := range []host.Mapping{host.MappedNetdev, host.MappedName} {
		for i := range vectors {
			if v := &vectors[i]; v.Mapping == by {
				v.RX = claim(queues, host.RX, v.RX, v.ID)
				v.TX = claim(queues, host.TX, v.TX, v.ID)
				v.Queue = lowest(v.RX, v.TX)
			}
		}
	}
}

// claim returns those of the queues that no other vector serves yet.
func claim(queues []host.Queue, dir host.Direction, indices []int, vector int) []int {
	return slices.DeleteFunc(indices, func(index int) bool {
		q := find(queues, dir, index)
		if q == nil || q.Vector >= 0 {
			return true
		}
		q.Vector = vector
		return false
	})
}

// lowest returns the lowest queue number of both, RX first, or -1.
func lowest(rx, tx []int) int {
	switch {
	case len(rx) > 0:
		return slices.Min(rx)
	case len(tx) > 0:
		return slices.Min(tx)
	}
	return -1
}
