package scan

import (
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/driver"
)

// deviceIRQs are the IRQ numbers of the device's function, ascending: MSI
// vectors, else the one interrupt line, else the rows that carry its name; and
// those of its NAPIs, which may be another function's (mlx5's multi-PF netdevs).
func deviceIRQs(r *reader, n *netdev, entry *driver.Entry, rows *rowTable, unit string, ifindex int, owner map[int]int) []int {
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
				v, ok := byName(action, entry, n.name)
				if action == n.name || ok && (v.Device == n.name || v.Unit != "" && v.Unit == unit) {
					irqs = append(irqs, irq)
				}
			}
		}
	}
	for irq, i := range owner {
		if i == ifindex {
			irqs = append(irqs, irq)
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

// readVector reads all of a vector but what it serves.
func readVector(r *reader, irq int, rows *rowTable) host.Vector {
	tail := rows.tail(irq)
	v := host.Vector{IRQ: irq, Chip: tail.Chip, HWIRQ: tail.HWIRQ, Actions: tail.Actions, Node: -1, Role: host.RoleOther, Queue: -1}
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
	readAffinity(r, &v)
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
