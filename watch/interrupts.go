package watch

import "github.com/netsteer/netsteer/host"

// interruptTotals counts the interrupts of each device's vectors by CPU, in 64
// bits. A device starts at the kernel's uint32 sum; afterwards each vector's
// cells add their wrap-safe growth. A freed vector adds nothing, a new one
// counts from 0.
type interruptTotals struct {
	cpus    int
	totals  []uint64 // Device.ID*cpus + cpu
	cells   []uint32 // last seen, as Sample.Cells
	seen    []bool   // by Vector.ID: cells hold a reading
	devices map[deviceKey]int
	vectors map[vectorKey]int
}

type deviceKey struct {
	name    string
	ifindex int
}

type vectorKey struct {
	device deviceKey
	irq    int
	action string
}

// newInterruptTotals carries over the totals of devices and vectors that are
// still the same.
func newInterruptTotals(inv *host.Inventory, before *interruptTotals) *interruptTotals {
	n := inv.CPUs.NumIDs()
	t := &interruptTotals{
		cpus:    n,
		totals:  make([]uint64, len(inv.Devices)*n),
		cells:   make([]uint32, len(inv.Vectors)*n),
		seen:    make([]bool, len(inv.Vectors)),
		devices: map[deviceKey]int{}, vectors: map[vectorKey]int{},
	}
	for i := range inv.Devices {
		key := deviceKey{inv.Devices[i].Name, inv.Devices[i].Ifindex}
		t.devices[key] = i
		if before == nil {
			continue
		}
		if old, ok := before.devices[key]; ok {
			copy(t.totals[i*n:(i+1)*n], before.totals[old*before.cpus:(old+1)*before.cpus])
		}
	}
	for i := range inv.Vectors {
		v := &inv.Vectors[i]
		d := &inv.Devices[v.Device]
		key := vectorKey{device: deviceKey{d.Name, d.Ifindex}, irq: v.IRQ, action: v.Actions[0]}
		t.vectors[key] = i
		if before == nil {
			continue
		}
		if old, ok := before.vectors[key]; ok && before.seen[old] {
			t.seen[i] = true
			copy(t.cells[i*n:(i+1)*n], before.cells[old*before.cpus:(old+1)*before.cpus])
		}
	}
	return t
}

// add counts one Sample and copies the totals into dst.
func (t *interruptTotals) add(inv *host.Inventory, s *host.Sample, dst []uint64) []uint64 {
	for id := range inv.Vectors {
		if s.InterruptsTime.IsZero() || !s.Present[id] {
			continue
		}
		totals := t.totals[inv.Vectors[id].Device*t.cpus:]
		last := t.cells[id*t.cpus : (id+1)*t.cpus]
		for cpu, now := range s.Cells[id*t.cpus : (id+1)*t.cpus] {
			before := last[cpu]
			if now == before {
				continue
			}
			// Growth in 32 bits; a step back of over half the range is a counter
			// that began anew.
			growth := now - before
			if !t.seen[id] || growth >= 1<<31 {
				growth = now
			}
			totals[cpu] += uint64(growth)
			last[cpu] = now
		}
		t.seen[id] = true
	}
	return append(dst[:0], t.totals...)
}
