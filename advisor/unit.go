package advisor

import (
	"cmp"
	"slices"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
)

// unit is a queue pair with the vectors that serve it: rx-i and tx-i are one
// unit and belong on one CPU.
type unit struct {
	device  *host.Device
	queue   int
	vectors []*host.Vector
	near    cpuset.Set // CPUs it belongs on
	// now are the distinct CPUs its settings put it on; empty: none is known.
	now []int
	// fixed: one of its vectors cannot or must not be moved.
	fixed bool
	// at are the CPUs of the plan: now where it stays, else one.
	at []int
}

// findUnits lists the units that traffic can reach. Control, spare and unmapped
// vectors are in none: they are never moved.
func (v *view) findUnits() []*unit {
	var units []*unit
	for i := range v.Inventory.Devices {
		units = append(units, v.deviceUnits(&v.Inventory.Devices[i])...)
	}
	all := v.allowed
	slices.SortStableFunc(units, func(a, b *unit) int {
		return cmp.Or(cmpFalse(!a.device.Up, !b.device.Up), cmpFalse(a.near == all, b.near == all))
	})
	return units
}

// cmpFalse orders false before true.
func cmpFalse(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func (v *view) deviceUnits(d *host.Device) []*unit {
	reached := map[int]bool{}
	for _, list := range [][]*host.Queue{liveRX(d), liveTX(d)} {
		for _, q := range list {
			if q.Vector >= 0 {
				reached[q.Vector] = true
			}
		}
	}
	var units []*unit
	for i := range d.Vectors {
		vec := &d.Vectors[i]
		if !reached[vec.ID] || vec.Queue < 0 {
			continue
		}
		at := slices.IndexFunc(units, func(u *unit) bool { return u.queue == vec.Queue })
		if at < 0 {
			at = len(units)
			units = append(units, &unit{device: d, queue: vec.Queue, near: v.near(d)})
		}
		units[at].vectors = append(units[at].vectors, vec)
	}
	slices.SortStableFunc(units, func(a, b *unit) int { return cmp.Compare(a.queue, b.queue) })
	for _, u := range units {
		v.locate(u)
	}
	return units
}

// locate finds where settings put a unit, and whether it may be moved.
func (v *view) locate(u *unit) {
	for _, vec := range u.vectors {
		u.fixed = u.fixed || v.unmovable(vec)
	}
	if u.device.ThreadedNAPI {
		// The threads do the work, not the interrupt: they are pinned, or roam.
		for _, vec := range u.vectors {
			if v.Place != nil && v.Inventory.CPUs.Online.Contains(v.Place.CPU[vec.ID]) {
				u.addNow(v.Place.CPU[vec.ID])
			}
		}
		return
	}
	for _, vec := range u.vectors {
		if cpu := v.intent(vec); cpu >= 0 {
			u.addNow(cpu)
		}
	}
}

func (u *unit) addNow(cpu int) {
	if !slices.Contains(u.now, cpu) {
		u.now = append(u.now, cpu)
	}
}

// unmovable: a write is refused, would move another device's interrupt, or is
// not asked for. Where others' vectors are is then taken as given.
func (v *view) unmovable(vec *host.Vector) bool {
	d := v.device(vec.Device)
	return vec.ReadOnly || vec.Shared || d.ThreadedNAPI || v.left(d) || !v.chosen(d)
}

// intent is the CPU that settings give a vector: a mask of one CPU, else where a
// wider mask is programmed, else the mask's first CPU, where a pending move will
// go (an idle vector without interrupt remapping never makes it; virtio's are so
// from boot on). -1 if the hardware delivers to several, or nothing is known.
// What was measured plays no part: a plan is the same with no traffic.
func (v *view) intent(vec *host.Vector) int {
	online := v.Inventory.CPUs.Online
	want, is := vec.Affinity.Set.Intersect(online), vec.Effective.Set.Intersect(online)
	if !vec.Affinity.OK {
		want = is
	}
	switch {
	case want.Len() == 1:
		return want.First()
	case vec.Effective.OK && is.Overlaps(want):
		if is = is.Intersect(want); is.Len() > 1 {
			return -1
		}
		return is.First()
	}
	return want.First()
}
