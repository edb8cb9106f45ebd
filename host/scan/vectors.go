package scan

import (
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/driver"
)

// addVectors finds a device's interrupt vectors and the queues they serve, the
// most exact way first: netdev-genl, then the function's msi_irqs with the
// driver's own names.
func addVectors(r *reader, inv *host.Inventory, d *host.Device, all []netdev, n *netdev, entry *driver.Entry, queues []host.Queue, rows *rowTable, nd Netdev) {
	first := len(inv.Vectors)
	owner := napiOwners(nd)
	unit := path.Base(n.parent)
	for _, irq := range deviceIRQs(r, n, entry, rows, unit) {
		if ifindex, ok := owner[irq]; ok && n.netlink && ifindex != d.Ifindex {
			continue // another port of the same function
		}
		v := readVector(r, irq, rows)
		if len(v.Actions) == 0 {
			continue // allocated, never requested
		}
		name, ours := readNames(v.Actions, entry, d.Name, unit, all, n)
		if !ours {
			continue
		}
		v.ID, v.Device = len(inv.Vectors), d.ID
		v.Role, v.Queue = host.RoleOther, -1
		v.applyName(name, queues)
		inv.Vectors = append(inv.Vectors, v.Vector)
	}
	vectors := inv.Vectors[first:]
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

// deviceIRQs are the IRQ numbers of the device's function, ascending: MSI
// vectors, else the one interrupt line, else the rows that carry its name.
func deviceIRQs(r *reader, n *netdev, entry *driver.Entry, rows *rowTable, unit string) []int {
	var irqs []int
	if at := upward(r, n.parent, "msi_irqs"); at != "" {
		for _, e := range r.dir(at + "/msi_irqs") {
			if irq, err := strconv.Atoi(e.Name()); err == nil {
				irqs = append(irqs, irq)
			}
		}
	}
	if len(irqs) == 0 {
		if at := upward(r, n.parent, "irq"); at != "" {
			if irq := r.id(at + "/irq"); irq > 0 {
				irqs = append(irqs, irq)
			}
		}
	}
	if len(irqs) == 0 {
		for irq := range rows.byIRQ {
			for _, action := range rows.tail(irq).Actions {
				if v, ok := byName(action, entry, n.name); ok && (v.Device == n.name || v.Unit != "" && v.Unit == unit) {
					irqs = append(irqs, irq)
				}
			}
		}
	}
	slices.Sort(irqs)
	return slices.Compact(irqs)
}

// napiOwners tells whose NAPI each IRQ serves, by ifindex.
func napiOwners(nd Netdev) map[int]int {
	owner := map[int]int{}
	for _, n := range nd.NAPIs {
		if n.IRQ.OK {
			owner[int(n.IRQ.N)] = n.Ifindex
		}
	}
	return owner
}

// vectorReading is a Vector while its queues are being found.
type vectorReading struct{ host.Vector }

func readVector(r *reader, irq int, rows *rowTable) vectorReading {
	tail := rows.tail(irq)
	v := vectorReading{host.Vector{IRQ: irq, Chip: tail.Chip, HWIRQ: tail.HWIRQ, Actions: tail.Actions, Node: -1}}
	if len(v.Actions) == 0 { // /proc/interrupts is masked, or the row is not there
		kernel := "sys/kernel/irq/" + strconv.Itoa(irq)
		if names := r.text(kernel + "/actions"); names != "" {
			v.Actions = strings.Split(names, ",") // actions_show(), kernel/irq/irqdesc.c
			v.Chip, v.HWIRQ = r.text(kernel+"/chip_name"), r.text(kernel+"/hwirq")
		}
	}
	if len(v.Actions) == 0 {
		return v
	}
	v.Shared = len(v.Actions) > 1
	dir := irqDir(irq)
	readAffinity(r, &v.Vector)
	if !v.Affinity.OK {
		_, err := r.bytes(dir + "smp_affinity_list")
		r.notes.add(host.SourceIRQ, "", err)
	}
	if m, err := r.mask(dir + "affinity_hint"); err == nil {
		v.Hint = host.KnownMask(m)
	}
	v.Node = r.id(dir + "node")
	if info, err := fs.Stat(r.tree, dir+"smp_affinity"); err == nil {
		v.ReadOnly = info.Mode().Perm()&0o200 == 0
	}
	return v
}

func irqDir(irq int) string { return "proc/irq/" + strconv.Itoa(irq) + "/" }

// readAffinity reads the intent and the effect of one vector. Kernels without
// effective_affinity act on the intent.
func readAffinity(r *reader, v *host.Vector) {
	v.Affinity, v.Effective = host.Mask{}, host.Mask{}
	dir := irqDir(v.IRQ)
	if m, err := r.list(dir + "smp_affinity_list"); err == nil {
		v.Affinity = host.KnownMask(m)
	}
	if m, err := r.list(dir + "effective_affinity_list"); err == nil && !m.IsEmpty() {
		v.Effective = host.KnownMask(m)
	}
}

// byName reads an action by the driver's forms. With the driver unknown it must
// carry the device's own name, and all drivers must agree on it.
func byName(action string, entry *driver.Entry, device string) (driver.Vector, bool) {
	if entry != nil {
		return entry.Vector(action)
	}
	v, ok := driver.Agreed(action)
	return v, ok && v.Device == device
}

// readNames reads a vector's actions; ours is false if they name another unit
// or another device of the same function. A name that fits no device is the
// device's from before a live rename.
func readNames(actions []string, entry *driver.Entry, name, unit string, all []netdev, n *netdev) (driver.Vector, bool) {
	for _, action := range actions {
		v, ok := byName(action, entry, name)
		if !ok {
			continue
		}
		if v.Unit != "" && v.Unit != unit && entry != nil && isSibling(v.Unit, unit) {
			return v, false
		}
		if v.Device != "" && v.Device != name && sharesFunction(v.Device, all, n) {
			return v, false
		}
		return v, true
	}
	return driver.Vector{Queue: -1, Role: noRole}, true
}

const noRole = driver.Role(255)

// isSibling: "virtio3" against "virtio2" is another device; a PCI address
// against it is the function itself.
func isSibling(a, b string) bool { return trimDigits(a) == trimDigits(b) }

func trimDigits(s string) string {
	for s != "" && s[len(s)-1] >= '0' && s[len(s)-1] <= '9' {
		s = s[:len(s)-1]
	}
	return s
}

func sharesFunction(name string, all []netdev, n *netdev) bool {
	return slices.ContainsFunc(all, func(d netdev) bool { return d.name == name && d.parent == n.parent })
}

// applyName gives the vector the role and queue that its name says.
func (v *vectorReading) applyName(name driver.Vector, queues []host.Queue) {
	switch name.Role {
	case driver.Control:
		v.Role = host.RoleControl
	case driver.RX:
		v.Role = host.RoleRX
	case driver.TX:
		v.Role = host.RoleTX
	case driver.Combined:
		v.Role = host.RoleCombined
	default:
		return
	}
	if name.Queue < 0 {
		return
	}
	v.Mapping = host.MappedName
	if v.Role != host.RoleTX && find(queues, host.RX, name.Queue) != nil {
		v.RX = []int{name.Queue}
	}
	if v.Role != host.RoleRX && find(queues, host.TX, name.Queue) != nil {
		v.TX = []int{name.Queue}
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
