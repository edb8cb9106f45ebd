package skew

import "github.com/netsteer/netsteer/host"

// location is where a vector is served.
type location struct {
	cpu              int // -1 unknown
	pending, roaming bool
}

// locate finds where each vector is served: its NAPI thread's CPU, else where
// its counts grew last, else where it is programmed. Samples are oldest first
// and may be one, or none.
func locate(inv *host.Inventory, samples []*host.Sample) []location {
	at := make([]location, len(inv.Vectors))
	for i := range inv.Vectors {
		at[i] = locateVector(inv, &inv.Vectors[i], samples)
	}
	return at
}

func locateVector(inv *host.Inventory, v *host.Vector, samples []*host.Sample) location {
	l := location{cpu: -1}
	// The mask was changed and the move waits for the next interrupt: x86
	// without interrupt remapping (kernel/irq/migration.c).
	l.pending = v.Affinity.OK && v.Effective.OK && !v.Effective.Set.Overlaps(v.Affinity.Set)
	if cpu, threaded := threadCPU(inv, v); threaded {
		l.cpu, l.roaming = cpu, cpu < 0
		return l
	}
	if n := len(samples); n >= 2 {
		if cpu := grewOn(inv, v.ID, samples[n-2], samples[n-1]); cpu >= 0 {
			l.cpu = cpu
			return l
		}
	}
	if v.Effective.OK && v.Effective.Set.Len() == 1 && !l.pending {
		l.cpu = v.Effective.Set.First()
		return l
	}
	for i := len(samples) - 2; i > 0; i-- {
		if cpu := grewOn(inv, v.ID, samples[i-1], samples[i]); cpu >= 0 {
			l.cpu = cpu
			return l
		}
	}
	switch {
	case v.Effective.OK && !l.pending:
		l.cpu = v.Effective.Set.Intersect(v.Affinity.Set).First()
	case v.Affinity.OK:
		l.cpu = v.Affinity.Set.Intersect(inv.CPUs.Online).First()
	}
	return l
}

// threadCPU returns the CPU of the NAPI thread that serves a vector's queues, -1
// if it may run on more than one core.
func threadCPU(inv *host.Inventory, v *host.Vector) (cpu int, threaded bool) {
	d := &inv.Devices[v.Device]
	if !d.ThreadedNAPI || !v.Carries() {
		return -1, false
	}
	for _, list := range [][]host.Queue{d.RX, d.TX} {
		for i := range list {
			if q := &list[i]; q.Vector == v.ID && q.Thread.OK {
				return oneCore(&inv.CPUs, q.ThreadCPUs), true
			}
		}
	}
	// Threaded by the device's file, and no thread is known: older kernels.
	return -1, !anyThread(d)
}

func anyThread(d *host.Device) bool {
	for i := range d.RX {
		if d.RX[i].Thread.OK {
			return true
		}
	}
	return false
}

func oneCore(cpus *host.CPUs, m host.Mask) int {
	first := m.Set.First()
	if !m.OK || first < 0 {
		return -1
	}
	for c := range m.Set.All() {
		if cpus.Distance(first, c) > host.SameCore {
			return -1
		}
	}
	return first
}

// grewOn returns the CPU on which a vector's count grew most between two
// samples, -1 if it did not grow.
func grewOn(inv *host.Inventory, vector int, a, b *host.Sample) int {
	if a.InterruptsTime.IsZero() || b.InterruptsTime.IsZero() || a.Sums[vector] == b.Sums[vector] {
		return -1
	}
	n := inv.CPUs.NumIDs()
	best, cpu := uint32(0), -1
	for c := range n {
		if d := delta32(a.Cells[vector*n+c], b.Cells[vector*n+c]); d > best {
			best, cpu = d, c
		}
	}
	return cpu
}
