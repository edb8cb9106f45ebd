package advisor

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
)

// irqRules are the faults of placement, gravest first: a change names the first
// that its vector has.
var irqRules = []string{"irq-isolated", "irq-not-allowed", "irq-remote-node", "irq-stacked", "irq-siblings", "irq-pair-split", "irq-unpinned", "irq-slow-cpu"}

// fault is a fault of a unit as it is now, and the line that says why it moves.
type fault struct{ rule, why string }

// adviseIRQs proposes the moves of the plan and finds what is wrong with each
// unit as it sits now.
func (d *draft) adviseIRQs() {
	now := newOccupancy(&d.Inventory.CPUs)
	for _, u := range d.units {
		now.add(u.now, 1)
	}
	for i := range d.Inventory.Devices {
		dev := &d.Inventory.Devices[i]
		if d.chosen(dev) {
			d.adviseDeviceIRQs(dev, now)
		}
	}
}

func (d *draft) adviseDeviceIRQs(dev *host.Device, now *occupancy) {
	faulty := map[string]*Finding{}
	mends := map[string][]host.Setting{}
	for _, u := range d.units {
		if u.device != dev || u.near.IsEmpty() || dev.ThreadedNAPI {
			continue
		}
		faults := d.faults(u, now)
		if len(faults) == 0 && slices.ContainsFunc(u.vectors, d.moving) {
			// It sits well, but would not once others have moved.
			faults = []fault{{"irq-stacked", "makes room for a queue that has no other CPU"}}
		}
		settings := d.moves(u, faults)
		if len(settings) == 0 && !d.stuck(u) && !u.shares(faults) {
			continue
		}
		for _, fl := range faults {
			f := faulty[fl.rule]
			if f == nil {
				f = &Finding{Device: dev.Name}
				faulty[fl.rule] = f
			}
			f.Queues = append(f.Queues, u.queue)
			if f.Severity == "" && d.hot(u.now) {
				f.Severity = Critical
			}
			mends[fl.rule] = append(mends[fl.rule], settings...)
		}
	}
	for _, rule := range irqRules {
		if f := faulty[rule]; f != nil {
			cpus := d.cpusNow(dev, f.Queues)
			f.Summary = fmt.Sprintf("%s: %s (%s on CPU %s)", dev.Name, lower(ruleByID[rule].Title), queues(f.Queues), orNone(cpus))
			f.Evidence = map[string]any{"queues": len(f.Queues), "cpus": cpus.String(), "allowed_cpus_of_node": d.near(dev).String()}
			if dev.Node >= 0 {
				f.Evidence["numa_node"] = dev.Node
			}
			if rule == "irq-stacked" || rule == "irq-siblings" {
				mends[rule] = append(mends[rule], d.movesFrom(cpus, now)...)
			}
			d.find(rule, *f, mends[rule]...)
		}
	}
}

// shares: the unit keeps its CPU, and others that sat there too leave it.
func (u *unit) shares(faults []fault) bool {
	return slices.ContainsFunc(faults, func(f fault) bool { return f.rule == "irq-stacked" || f.rule == "irq-siblings" })
}

// stuck: the unit would be moved if it could.
func (d *draft) stuck(u *unit) bool {
	return u.fixed && slices.ContainsFunc(u.now, func(c int) bool { return !u.near.Contains(c) })
}

// movesFrom names the moves of all that shares a core with these CPUs now, also
// of other devices: they mend the crowding too.
func (d *draft) movesFrom(cpus cpuset.Set, now *occupancy) []host.Setting {
	cores := map[int]bool{}
	for c := range cpus.All() {
		cores[now.coreOf(c)] = true
	}
	var settings []host.Setting
	for _, u := range d.units {
		if !slices.ContainsFunc(u.now, func(c int) bool { return cores[now.coreOf(c)] }) {
			continue
		}
		for _, vec := range u.vectors {
			if d.moving(vec) {
				c := irqChange(u, vec)
				settings = append(settings, c.Setting())
			}
		}
	}
	return settings
}

// moving: the plan moves the vector.
func (d *draft) moving(vec *host.Vector) bool {
	to := d.seat[vec.ID]
	return to >= 0 && to != d.intent(vec) && !d.unmovable(vec) && d.allowed.Contains(to)
}

func irqChange(u *unit, vec *host.Vector) Change {
	queue := u.queue
	return Change{Kind: host.IRQAffinity, Device: u.device.Name, Direction: vec.Role.String(), Queue: &queue}
}

// moves proposes the changes of one unit.
func (d *draft) moves(u *unit, faults []fault) []host.Setting {
	var settings []host.Setting
	for _, vec := range u.vectors {
		if !d.moving(vec) {
			continue
		}
		why, to := faults[0], d.seat[vec.ID]
		c := irqChange(u, vec)
		c.Rule, c.Reason = why.rule, fmt.Sprintf("%s; CPU %d is %s", why.why, to, d.seatOf(u, to))+d.undone(u.device)
		settings = append(settings, d.propose(c, vec.Affinity, cpuset.Of(to)))
	}
	return settings
}

// undone says who will undo a change.
func (d *draft) undone(dev *host.Device) string {
	if !dev.RewritesXPS {
		return ""
	}
	return "; " + orUnknown(dev.Driver) + " will undo it at CPU hot-plug and channel change"
}

// seatOf says what a unit's planned CPU has over the present one.
func (d *draft) seatOf(u *unit, cpu int) string {
	where := "allowed"
	if d.nodeCPUs(u.device).Contains(cpu) {
		where = "on the NIC's node " + strconv.Itoa(u.device.Node)
	}
	switch others := d.onCPU[cpu] - 1; others {
	case 0:
		return where + " and has no other queue"
	case 1:
		return where + " and has 1 other queue"
	default:
		return fmt.Sprintf("%s and has %d other queues", where, others)
	}
}

// faults lists what is wrong with a unit as settings put it now.
func (d *draft) faults(u *unit, now *occupancy) []fault {
	var list []fault
	say := func(rule, format string, args ...any) { list = append(list, fault{rule, fmt.Sprintf(format, args...)}) }
	if len(u.now) == 0 {
		say("irq-unpinned", "no single CPU is known to take it (mask %s)", masks(u.vectors))
		return list
	}
	cpus := cpuset.Of(u.now...)
	if on := cpus.Intersect(d.Inventory.CPUs.Isolated()).Minus(d.allowed); !on.IsEmpty() {
		say("irq-isolated", "CPU %s is isolated", on)
	} else if on := cpus.Minus(d.allowed); !on.IsEmpty() {
		say("irq-not-allowed", "CPU %s is kept free of interrupts", on)
	}
	if on := cpus.Intersect(d.allowed).Minus(u.near); !on.IsEmpty() && !u.device.RewritesXPS {
		say("irq-remote-node", "CPU %s is on node %d, the NIC on node %d", on, now.place(on.First()).Node, u.device.Node)
	}
	worst, free := u.now[0], now.best(u.near, nil)
	for _, c := range u.now {
		if now.cpu[c] > now.cpu[worst] {
			worst = c
		}
	}
	switch {
	case now.cpu[worst]-now.cpu[free] >= 2:
		say("irq-stacked", "CPU %d takes %d queues while CPU %d takes %s", worst, now.cpu[worst], free, number(now.cpu[free]))
	case now.cpu[worst] == 1 && now.core[now.coreOf(worst)] > 1 && now.core[now.coreOf(free)] == 0:
		say("irq-siblings", "CPU %d shares its core with another queue while the core of CPU %d takes none", worst, free)
	}
	if len(u.now) > 1 && !u.device.RewritesXPS {
		say("irq-pair-split", "its RX and TX vectors are on CPUs %s", cpus)
	}
	if d.partlyUnpinned(u) {
		say("irq-unpinned", "no single CPU is known to take it (mask %s)", masks(u.vectors))
	}
	if d.policy.Profile == Throughput && now.crowd(free).slowness < now.crowd(worst).slowness && now.cpu[free] == 0 {
		say("irq-slow-cpu", "CPU %d is slower than CPU %d, which takes none", worst, free)
	}
	return list
}

func (d *draft) partlyUnpinned(u *unit) bool {
	return slices.ContainsFunc(u.vectors, func(vec *host.Vector) bool { return d.intent(vec) < 0 })
}

// hot: network work was measured to fill most of one of the CPUs.
func (d *draft) hot(cpus []int) bool {
	if d.Rates == nil {
		return false
	}
	return slices.ContainsFunc(cpus, func(c int) bool {
		return c < len(d.Rates.CPUs) && d.Rates.CPUs[c].BusyNet.OK && d.Rates.CPUs[c].BusyNet.V >= 0.8
	})
}

// cpusNow are the CPUs on which settings put these queues of a device.
func (d *draft) cpusNow(dev *host.Device, list []int) cpuset.Set {
	var s cpuset.Set
	for _, u := range d.units {
		if u.device == dev && slices.Contains(list, u.queue) {
			s = s.Union(cpuset.Of(u.now...))
		}
	}
	return s
}
