package advisor

import (
	"cmp"
	"slices"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
)

// occupancy counts the units on each CPU, core and last-level cache, by CPU id:
// a core or cache goes by the lowest id of its CPUs.
type occupancy struct {
	cpus             *host.CPUs
	cpu, core, cache []int
}

func newOccupancy(cpus *host.CPUs) *occupancy {
	n := max(cpus.NumIDs(), cpus.Online.Last()+1)
	return &occupancy{cpus: cpus, cpu: make([]int, n), core: make([]int, n), cache: make([]int, n)}
}

// coreOf and cacheOf name the core and the cache of a CPU. A CPU of unknown
// place has its own core, and shares one cache with all others of unknown cache.
func (o *occupancy) coreOf(cpu int) int {
	if p := o.place(cpu); p.Core >= 0 {
		return p.Core
	}
	return cpu
}

func (o *occupancy) cacheOf(cpu int) int { return max(o.place(cpu).Cache, 0) }

func (o *occupancy) place(cpu int) host.CPU {
	if cpu >= 0 && cpu < len(o.cpus.ByID) {
		return o.cpus.ByID[cpu]
	}
	return host.UnknownCPU
}

// add seats (by 1) or unseats (by -1) a unit. A unit on both threads of a core
// uses the core once.
func (o *occupancy) add(cpus []int, by int) {
	var cores, caches []int
	for _, c := range cpus {
		o.cpu[c] += by
		if core := o.coreOf(c); !slices.Contains(cores, core) {
			cores = append(cores, core)
			o.core[core] += by
		}
		if cache := o.cacheOf(c); !slices.Contains(caches, cache) {
			caches = append(caches, cache)
			o.cache[cache] += by
		}
	}
}

// crowd is what a seat costs: how many others are on the CPU, then on its core,
// then how slow the CPU is. Lower is better.
type crowd struct{ cpu, core, slowness int }

func (c crowd) compare(d crowd) int {
	return cmp.Or(cmp.Compare(c.cpu, d.cpu), cmp.Compare(c.core, d.core), cmp.Compare(c.slowness, d.slowness))
}

func (o *occupancy) crowd(cpu int) crowd {
	// In quarters: CPUs that differ by a few per cent are equals.
	return crowd{o.cpu[cpu], o.core[o.coreOf(cpu)], -(o.place(cpu).Capacity + 128) / 256}
}

// crowdOf is the worst seat of a unit that is not itself counted.
func (o *occupancy) crowdOf(cpus []int) crowd {
	worst := o.crowd(cpus[0])
	for _, c := range cpus[1:] {
		if d := o.crowd(c); d.compare(worst) > 0 {
			worst = d
		}
	}
	return worst
}

// best is the least crowded CPU: a free core, then a free sibling, then the one
// with the fewest units; last-level caches in turn, then the lowest number.
// prefer wins among equally crowded ones, so that nothing moves for nothing.
func (o *occupancy) best(from cpuset.Set, prefer []int) int {
	best, bestCrowd := -1, crowd{}
	for c := range from.All() {
		d := o.crowd(c)
		if best < 0 || cmp.Or(d.compare(bestCrowd),
			cmpFalse(!slices.Contains(prefer, c), !slices.Contains(prefer, best)),
			cmp.Compare(o.cache[o.cacheOf(c)], o.cache[o.cacheOf(best)])) < 0 {
			best, bestCrowd = c, d
		}
	}
	return best
}

// plan seats every unit, and returns each vector's CPU and the number of units
// on each CPU.
//
// What sits well stays. What sits on a wrong CPU, and as few as possible of what
// shares a CPU or core while a better one is free, is moved; the first of those
// on one CPU keeps it. The result is a fixed point: planned again it stays.
func (v *view) plan() (seats, onCPU []int) {
	o := newOccupancy(&v.Inventory.CPUs)
	moving := map[*unit]bool{}
	for _, u := range v.units {
		u.at = v.stay(u)
		moving[u] = len(u.at) == 0 && !u.fixed && !u.near.IsEmpty()
		o.add(u.at, 1)
	}
	v.seatAll(o, moving)
	// Leave from the last backwards, so that the first keeps its CPU; then take
	// seats from the first onwards, so that queue order is CPU order.
	for _, u := range v.leave(o) {
		moving[u] = true
	}
	for u, is := range moving {
		if is {
			o.add(u.at, -1)
		}
	}
	v.seatAll(o, moving)
	for range v.units {
		if len(v.leave(o)) == 0 {
			break
		}
	}
	return v.seats(), o.cpu
}

// seatAll gives each of the units that move the best seat left.
func (v *view) seatAll(o *occupancy, moving map[*unit]bool) {
	for _, u := range v.units {
		if moving[u] {
			u.at = []int{o.best(u.near, u.now)}
			o.add(u.at, 1)
		}
	}
}

// leave moves each unit that gains by it, last first, and returns them. Every
// move lowers the sum of squares of units by CPU, or at the same that by core:
// it ends.
func (v *view) leave(o *occupancy) []*unit {
	var moved []*unit
	for _, u := range slices.Backward(v.units) {
		if u.fixed || len(u.at) == 0 {
			continue
		}
		o.add(u.at, -1)
		if to := o.best(u.near, u.at); v.gains(u, o.crowdOf(u.at), o.crowd(to)) {
			u.at = []int{to}
			moved = append(moved, u)
		}
		o.add(u.at, 1)
	}
	return moved
}

// gains: fewer others on the CPU, or alone on it too and fewer on the core. What
// a driver that rewrites masks has put on CPUs of their own is left. A slower
// CPU is no reason to move in profile balanced: distributions keep interrupts
// off the fast CPUs on purpose (heat, power).
func (v *view) gains(u *unit, here, there crowd) bool {
	switch {
	case here.cpu > 0:
		return there.cpu < here.cpu
	case u.device.RewritesXPS:
		return false
	case v.policy.Profile != Throughput:
		here.slowness, there.slowness = 0, 0
	}
	return there.compare(here) < 0
}

// stay returns the CPUs a unit may keep: those of settings if the unit belongs
// there, none if it must move.
func (v *view) stay(u *unit) []int {
	switch {
	case len(u.now) == 0:
		return nil
	case u.fixed:
		return v.stayFixed(u)
	case u.device.RewritesXPS:
		return v.stayInGroup(u)
	}
	// rx-i and tx-i meet on the first of their CPUs that is right.
	for _, c := range u.now {
		if u.near.Contains(c) {
			return []int{c}
		}
	}
	return nil
}

// stayFixed: what can be moved of a pair goes where the other part is stuck.
func (v *view) stayFixed(u *unit) []int {
	var stuck []int
	for _, vec := range u.vectors {
		if cpu := v.intent(vec); v.unmovable(vec) && v.allowed.Contains(cpu) && !slices.Contains(stuck, cpu) {
			stuck = append(stuck, cpu)
		}
	}
	if len(stuck) == 1 {
		return stuck
	}
	return u.now
}

// stayInGroup: the driver gives queue i a group of CPUs, tells it as the vectors'
// hint, and puts them and XPS back there at every hot-plug and channel change.
// Its vectors may be on two CPUs of the group, on whatever node.
func (v *view) stayInGroup(u *unit) []int {
	for _, vec := range u.vectors {
		cpu := v.intent(vec)
		if !v.allowed.Contains(cpu) {
			return nil
		}
		if group := vec.Hint.Set; !group.IsEmpty() && !group.Contains(cpu) && !u.near.Contains(cpu) {
			return nil
		}
	}
	return u.now
}

// seats turns the units' CPUs into one CPU for each vector.
func (v *view) seats() []int {
	seats := make([]int, len(v.Inventory.Vectors))
	for i := range seats {
		seats[i] = -1
	}
	for _, u := range v.units {
		for _, vec := range u.vectors {
			switch now := v.intent(vec); {
			case u.device.ThreadedNAPI:
				if v.Place != nil {
					seats[vec.ID] = v.Place.CPU[vec.ID]
				}
			case v.unmovable(vec), slices.Contains(u.at, now):
				seats[vec.ID] = now
			case len(u.at) > 0:
				seats[vec.ID] = u.at[0]
			}
		}
	}
	return seats
}
