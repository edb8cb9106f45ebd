package advisor

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/skew"
)

// random makes a host: topology, isolation, and NICs whose vectors are anywhere.
func random(r *rand.Rand) *machine {
	m := newMachine(1+r.Intn(3), 1+r.Intn(2), 1+r.Intn(4), 1+r.Intn(2))
	n := m.inv.CPUs.NumIDs()
	some := func(of, chance int) cpuset.Set {
		var b cpuset.Builder
		for c := range of {
			if r.Intn(chance) == 0 {
				b.Add(c)
			}
		}
		return b.Set()
	}
	if r.Intn(3) == 0 {
		m.inv.CPUs.IsolatedBoot = some(n, 4)
	}
	if off := some(n, 6); r.Intn(3) == 0 && !m.inv.CPUs.Online.Minus(off).IsEmpty() {
		m.inv.CPUs.Online = m.inv.CPUs.Online.Minus(off)
	}
	for i := range 1 + r.Intn(3) {
		cpus := make([]int, 1+r.Intn(2*n))
		online := m.all().Slice()
		for j := range cpus {
			cpus[j] = online[r.Intn(len(online))]
		}
		name, node := fmt.Sprintf("eth%d", i), r.Intn(len(m.inv.Nodes)+1)-1
		var d *nic
		if r.Intn(3) == 0 {
			d = m.split(name, node, cpus...)
		} else {
			d = m.nic(name, node, cpus...)
		}
		switch r.Intn(4) {
		case 0:
			d.wide(m.inv.CPUs.Possible)
		case 1:
			for j := range d.dev().TX {
				d.dev().TX[j].XPS = host.KnownMask(some(n, 3).Intersect(m.all()))
			}
		case 2:
			for j := range d.dev().RX {
				d.dev().RX[j].RPS = host.KnownMask(some(n, 3))
			}
		}
		for j := range d.dev().Vectors {
			d.dev().Vectors[j].ReadOnly = r.Intn(12) == 0
		}
		d.dev().RewritesXPS = r.Intn(6) == 0
	}
	for i := range m.inv.CPUs.ByID {
		if len(m.inv.Nodes) == 2 {
			m.inv.CPUs.ByID[i].Capacity = 512 + 512*(i%2)
		}
	}
	return m
}

func TestPlansOfRandomHosts(t *testing.T) {
	for seed := range int64(500) {
		r := rand.New(rand.NewSource(seed))
		m := random(r)
		p := Policy{Profile: Profiles[seed%2]}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			f := m.facts(skew.Options{})
			a := Advise(f, p)
			checkMoves(t, m, f, a)
			checkCores(t, f, p)
			checkXPS(t, m, f, p)
			first, _ := json.Marshal(a)
			second, _ := json.Marshal(Advise(f, p))
			if string(first) != string(second) {
				t.Error("the same facts gave other bytes")
			}
			m.apply(t, a)
			if again := m.advise(p); len(again.Changes) != 0 {
				t.Errorf("applied, the plan is followed by another: %v", brief(again.Changes))
			}
		})
		if t.Failed() {
			return
		}
	}
}

// Every planned CPU is online and allowed; nothing fixed is moved; each change
// mends a finding.
func checkMoves(t *testing.T, m *machine, f Facts, a *Advice) {
	t.Helper()
	for _, c := range a.Changes {
		if !mended(a, c.ID) || c.Reason == "" {
			t.Errorf("%s (%s) mends no finding", c.name(), c.Reason)
		}
	}
	for _, c := range changesOf(a, host.IRQAffinity) {
		v := vectorOf(m.inv, &c)
		if len(c.CPUs) != 1 || !f.Allowed.CPUs.Contains(c.CPUs[0]) || v.ReadOnly {
			t.Errorf("%s to %s, allowed %s, read-only %v", c.name(), c.Proposed, f.Allowed.CPUs, v.ReadOnly)
		}
	}
}

// No CPU or core of a movable unit is shared while a free one of the node is
// left, and what is movable is on the node.
func checkCores(t *testing.T, f Facts, p Policy) {
	t.Helper()
	v := newView(f, p)
	o := newOccupancy(&f.Inventory.CPUs)
	for _, u := range v.units {
		o.add(u.at, 1)
	}
	for _, u := range v.units {
		if u.fixed || u.device.RewritesXPS || u.near.IsEmpty() {
			continue
		}
		if len(u.at) != 1 || !u.near.Contains(u.at[0]) {
			t.Fatalf("%s queue %d on %v, not one of %s", u.device.Name, u.queue, u.at, u.near)
		}
		at := u.at[0]
		for c := range u.near.All() {
			if o.cpu[at]-o.cpu[c] >= 2 {
				t.Fatalf("CPU %d has %d units while CPU %d of the node has %d", at, o.cpu[at], c, o.cpu[c])
			}
			if o.core[o.coreOf(at)] >= 2 && o.core[o.coreOf(c)] == 0 {
				t.Fatalf("core of CPU %d has %d units while that of CPU %d has none", at, o.core[o.coreOf(at)], c)
			}
		}
	}
}

// XPS gives each online CPU to one queue where there are CPUs enough, and the
// last CPU a queue took at some distance it took having the fewest.
func checkXPS(t *testing.T, m *machine, f Facts, p Policy) {
	t.Helper()
	d := &draft{view: newView(f, p)}
	for i := range m.inv.Devices {
		list, why := d.completions(&m.inv.Devices[i])
		if why != "" || len(list) == 0 {
			continue
		}
		masks := d.spread(list)
		if len(list) > m.all().Len() {
			for j, c := range list {
				if masks[j] != cpuset.Of(c.cpu) {
					t.Fatalf("tx-%d has %s, completes on %d", j, masks[j], c.cpu)
				}
			}
			continue
		}
		total := 0
		var union cpuset.Set
		for _, mask := range masks {
			total += mask.Len()
			union = union.Union(mask)
		}
		if union != m.all() || total != m.all().Len() {
			t.Fatalf("masks %v do not divide %s", masks, m.all())
		}
		for j, mask := range masks {
			last, far := -1, host.SameCPU
			for c := range mask.All() {
				if away := m.inv.CPUs.Distance(c, list[j].cpu); away >= far {
					last, far = c, away
				}
			}
			for k := range masks {
				if last < 0 {
					break
				}
				switch away := m.inv.CPUs.Distance(last, list[k].cpu); {
				case away < far:
					t.Fatalf("CPU %d sends by tx-%d, but completes nearer by tx-%d", last, j, k)
				case away == far && mask.Len()-masks[k].Len() > 1:
					t.Fatalf("tx-%d has %s, tx-%d as near has %s", j, mask, k, masks[k])
				}
			}
		}
	}
}

// The plan of interrupts is the same with and without traffic.
func TestTrafficMovesNoVector(t *testing.T) {
	for seed := range int64(200) {
		r := rand.New(rand.NewSource(seed))
		m := random(r)
		f := m.facts(skew.Options{})
		quiet := changesOf(Advise(f, Policy{}), host.IRQAffinity)
		f.Rates = &skew.Rates{Devices: make([]skew.DeviceRates, len(m.inv.Devices)), Queues: make([]skew.QueueRates, len(m.inv.Queues)), CPUs: make([]skew.CPURates, m.inv.CPUs.NumIDs())}
		for i := range f.Rates.Queues {
			f.Rates.Queues[i] = skew.QueueRates{Packets: skew.Value{V: r.Float64() * 1e6, OK: true}, Load: skew.Value{V: r.Float64(), OK: true}, Live: true}
		}
		for i := range f.Rates.CPUs {
			f.Rates.CPUs[i].BusyNet = skew.Value{V: r.Float64(), OK: true}
		}
		f.Place = &skew.Place{CPU: slices.Clone(f.Place.CPU), Devices: f.Place.Devices}
		for i := range f.Place.CPU {
			f.Place.CPU[i] = r.Intn(m.inv.CPUs.NumIDs())
		}
		if busy := changesOf(Advise(f, Policy{}), host.IRQAffinity); !sameTargets(busy, quiet) {
			t.Fatalf("seed %d: with traffic %v, without %v", seed, brief(busy), brief(quiet))
		}
	}
}

func sameTargets(a, b []Change) bool {
	return slices.EqualFunc(a, b, func(x, y Change) bool { return x.Target == y.Target && x.Proposed == y.Proposed })
}
