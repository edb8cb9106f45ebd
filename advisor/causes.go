package advisor

import (
	"fmt"
	"slices"

	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/skew"
)

// Because is a cause with its evidence.
type Because struct {
	Cause    skew.Cause
	Evidence string
}

// DeviceCauses are the causes of a device's two directions.
type DeviceCauses struct{ RX, TX Because }

// Device is the worse of the two, RX first: what can be mended before what
// cannot, both before what is unknown or well.
func (c DeviceCauses) Device() skew.Cause {
	if gravity(c.TX.Cause) > gravity(c.RX.Cause) {
		return c.TX.Cause
	}
	return c.RX.Cause
}

func gravity(c skew.Cause) int {
	switch c {
	case skew.CauseIdle, "":
		return 0
	case skew.CauseNone:
		return 1
	case skew.CauseUnknown:
		return 2
	case skew.CauseSingleQueue:
		return 3
	}
	return 4
}

// Causes returns the causes by Device.ID: those of the Rates, joined by what
// needs the rules of placement. Without Rates there are none.
func Causes(f Facts) []DeviceCauses { return newView(f, Policy{}).causes() }

// ApplyCauses returns Rates whose causes are those of Causes, for metrics. It
// shares all else with f.Rates, which is not changed.
func ApplyCauses(f Facts) *skew.Rates {
	if f.Rates == nil {
		return nil
	}
	rates := *f.Rates
	rates.Devices = slices.Clone(f.Rates.Devices)
	for i, c := range Causes(f) {
		rates.Devices[i].RX.Cause, rates.Devices[i].RX.Evidence = c.RX.Cause, c.RX.Evidence
		rates.Devices[i].TX.Cause, rates.Devices[i].TX.Evidence = c.TX.Cause, c.TX.Evidence
	}
	return &rates
}

func (v *view) causes() []DeviceCauses {
	list := make([]DeviceCauses, len(v.Inventory.Devices))
	if v.Rates == nil {
		return list
	}
	now := v.traffic()
	for i := range list {
		r := &v.Rates.Devices[i]
		list[i] = DeviceCauses{RX: Because{r.RX.Cause, r.RX.Evidence}, TX: Because{r.TX.Cause, r.TX.Evidence}}
		for dir, b := range map[host.Direction]*Because{host.RX: &list[i].RX, host.TX: &list[i].TX} {
			if why := v.misplaced(&v.Inventory.Devices[i], dir, now); why != "" && afterPlacement(b.Cause) {
				*b = Because{skew.CausePlacement, why}
			}
		}
	}
	return list
}

// traffic is where units were measured to run, and which of them carry a load.
// Where they run is not where settings want them.
type traffic struct {
	cpus   map[*unit][]int
	loaded map[*unit][2]bool // by host.RX, host.TX
	// units and busy count the units, and the loaded ones, by CPU.
	units, busy map[int]int
}

func (v *view) traffic() traffic {
	t := traffic{map[*unit][]int{}, map[*unit][2]bool{}, map[int]int{}, map[int]int{}}
	if v.Place == nil {
		return t
	}
	for _, u := range v.units {
		cpus, loaded := v.runsOn(u), [2]bool{v.loaded(u, host.RX), v.loaded(u, host.TX)}
		t.cpus[u], t.loaded[u] = cpus, loaded
		for _, c := range cpus {
			t.units[c]++
			if loaded[host.RX] || loaded[host.TX] {
				t.busy[c]++
			}
		}
	}
	return t
}

// afterPlacement: no cause that is tried before placement holds. Unknown stands
// both for no counters or mapping, where no unit is known to be loaded, and for
// none of the causes.
func afterPlacement(c skew.Cause) bool {
	return c != skew.CauseIdle && c != skew.CauseSingleQueue && c != ""
}

// misplaced says where loaded units of a device and direction run wrongly: two
// on one CPU while an allowed one of the node has none, or on a wrong node or an
// isolated CPU; "" if none does. A driver that rewrites masks spreads its groups
// over all nodes.
func (v *view) misplaced(d *host.Device, dir host.Direction, now traffic) string {
	near, free := v.near(d), -1
	for c := range near.All() {
		if now.units[c] == 0 {
			free = c
			break
		}
	}
	for _, u := range v.units {
		if u.device != d || !now.loaded[u][dir] {
			continue
		}
		for _, c := range now.cpus[u] {
			switch {
			case v.Inventory.CPUs.Isolated().Contains(c) && !v.allowed.Contains(c):
				return fmt.Sprintf("queue %d runs on isolated CPU %d", u.queue, c)
			case !d.RewritesXPS && near != v.allowed && !v.nodeCPUs(d).Contains(c):
				return fmt.Sprintf("queue %d runs on CPU %d, not on the NIC's node %d", u.queue, c, d.Node)
			case free >= 0 && now.busy[c] > 1:
				return fmt.Sprintf("%d loaded queues run on CPU %d while CPU %d has none", now.busy[c], c, free)
			}
		}
	}
	return ""
}

// runsOn lists the CPUs that take a unit's interrupts now.
func (v *view) runsOn(u *unit) []int {
	var cpus []int
	for _, vec := range u.vectors {
		if c := v.Place.CPU[vec.ID]; c >= 0 && !slices.Contains(cpus, c) {
			cpus = append(cpus, c)
		}
	}
	return cpus
}

// loaded: the unit carries at least a tenth of an even share of its
// device's packets; a trickle collides with nothing.
func (v *view) loaded(u *unit, dir host.Direction) bool {
	list := liveRX(u.device)
	if dir == host.TX {
		list = liveTX(u.device)
	}
	sum, own := 0.0, 0.0
	for _, q := range list {
		p := v.queueRates(q).Packets
		if !p.OK {
			return false
		}
		sum += p.V
		if slices.ContainsFunc(u.vectors, func(vec *host.Vector) bool { return vec.ID == q.Vector }) {
			own += p.V
		}
	}
	return own > 0 && own >= sum/float64(10*len(list))
}
