package advisor

import (
	"slices"
	"testing"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/skew"
)

// machine builds an Inventory of nodes that are alike.
type machine struct{ inv *host.Inventory }

// topology: nodes x caches (last-level, each) x cores x threads. CPU ids run by
// thread, core, cache, node, so that siblings are neighbours.
func newMachine(nodes, caches, cores, threads int) *machine {
	m := &machine{&host.Inventory{BootID: "boot", Kernel: "6.18"}}
	id := 0
	for node := range nodes {
		first := id
		for range caches {
			cache := id
			for range cores {
				core := id
				for range threads {
					m.inv.CPUs.ByID = append(m.inv.CPUs.ByID, host.CPU{Node: node, Package: node, Core: core, Cache: cache})
					id++
				}
			}
		}
		m.inv.Nodes = append(m.inv.Nodes, host.Node{ID: node, CPUs: cpuset.Range(first, id-1)})
	}
	m.inv.CPUs.Possible, m.inv.CPUs.Online = cpuset.Range(0, id-1), cpuset.Range(0, id-1)
	return m
}

func (m *machine) all() cpuset.Set { return m.inv.CPUs.Online }

// nic adds a device with combined vectors, one for each CPU: vector i has a mask
// of that CPU alone. XPS is unset.
func (m *machine) nic(name string, node int, cpus ...int) *nic {
	return m.add(name, node, []host.Role{host.RoleCombined}, cpus...)
}

// split adds a device with RX and TX vectors: rx-i and tx-i on cpus[i].
func (m *machine) split(name string, node int, cpus ...int) *nic {
	return m.add(name, node, []host.Role{host.RoleRX, host.RoleTX}, cpus...)
}

// nic is a handle: Inventory slices move while devices are added.
type nic struct {
	m  *machine
	id int
}

func (n *nic) dev() *host.Device { return &n.m.inv.Devices[n.id] }

func (m *machine) add(name string, node int, roles []host.Role, cpus ...int) *nic {
	id, first := len(m.inv.Devices), len(m.inv.Vectors)
	m.inv.Devices = append(m.inv.Devices, host.Device{ID: id, Name: name, Driver: "igb", Node: node, Physical: true, Up: true})
	count := len(cpus)
	for _, role := range roles {
		for i, cpu := range cpus {
			v := host.Vector{ID: len(m.inv.Vectors), Device: id, IRQ: 30 + len(m.inv.Vectors), Role: role, Queue: i, Node: -1, Actions: []string{name}}
			if role != host.RoleTX {
				v.RX = []int{i}
			}
			if role != host.RoleRX {
				v.TX = []int{i}
			}
			v.Affinity, v.Effective = host.KnownMask(cpuset.Of(cpu)), host.KnownMask(cpuset.Of(cpu))
			m.inv.Vectors = append(m.inv.Vectors, v)
		}
	}
	for _, dir := range []host.Direction{host.RX, host.TX} {
		base := first
		if dir == host.TX && len(roles) == 2 {
			base += count
		}
		for i := range cpus {
			q := host.Queue{ID: len(m.inv.Queues), Device: id, Direction: dir, Index: i, Usable: true, Vector: base + i, TrafficClass: -1}
			if dir == host.RX {
				q.RPS, q.FlowEntries = host.KnownMask(cpuset.Set{}), host.Known(0)
			} else {
				q.XPS = host.KnownMask(cpuset.Set{})
				q.TrafficClass = 0
			}
			m.inv.Queues = append(m.inv.Queues, q)
		}
	}
	m.reslice()
	return &nic{m, id}
}

// reslice makes each device's slices parts of the Inventory's, as scan does.
func (m *machine) reslice() {
	q, v := 0, 0
	for i := range m.inv.Devices {
		d := &m.inv.Devices[i]
		from := q
		for q < len(m.inv.Queues) && m.inv.Queues[q].Device == i && m.inv.Queues[q].Direction == host.RX {
			q++
		}
		mid := q
		for q < len(m.inv.Queues) && m.inv.Queues[q].Device == i {
			q++
		}
		d.RX, d.TX = m.inv.Queues[from:mid], m.inv.Queues[mid:q]
		from = v
		for v < len(m.inv.Vectors) && m.inv.Vectors[v].Device == i {
			v++
		}
		d.Vectors = m.inv.Vectors[from:v]
	}
}

// wide gives every vector of the device this mask, and the effect it had.
func (n *nic) wide(mask cpuset.Set) *nic {
	for i := range n.dev().Vectors {
		n.dev().Vectors[i].Affinity = host.KnownMask(mask)
	}
	return n
}

// xps sets the masks of the first TX queues.
func (n *nic) xps(lists ...string) *nic {
	for i, text := range lists {
		set, err := cpuset.ParseList(text)
		if err != nil {
			panic(err)
		}
		n.dev().TX[i].XPS = host.KnownMask(set)
	}
	return n
}

// facts judges the settings, and says that the host's own sockets send.
func (m *machine) facts(o skew.Options) Facts {
	t := &host.Sample{IPOut: host.Known(0), IPForwarded: host.Known(0)}
	later := &host.Sample{IPOut: host.Known(1000), IPForwarded: host.Known(0)}
	for _, s := range []*host.Sample{t, later} {
		n := m.inv.CPUs.NumIDs()
		s.Cells, s.Sums, s.Present = make([]uint32, len(m.inv.Vectors)*n), make([]uint32, len(m.inv.Vectors)), make([]bool, len(m.inv.Vectors))
		s.NetRX, s.NetTX, s.Softnet, s.Ticks = make([]uint32, n), make([]uint32, n), make([]host.Softnet, n), make([]host.CPUTicks, n)
		s.Devices, s.Queues = make([]host.DeviceCounters, len(m.inv.Devices)), make([]host.QueueCounters, len(m.inv.Queues))
	}
	_, place, allowed := skew.Judge(m.inv, []*host.Sample{t, later}, o, nil)
	return Facts{Inventory: m.inv, Place: place, Allowed: allowed}
}

func (m *machine) advise(p Policy) *Advice { return Advise(m.facts(skew.Options{}), p) }

// apply writes a plan into the Inventory, as a kernel that moves at once.
func (m *machine) apply(t *testing.T, a *Advice) {
	t.Helper()
	for _, c := range a.Changes {
		r, err := Resolve(m.inv, c)
		if err != nil {
			t.Fatal(err)
		}
		set := host.KnownMask(cpuset.Of(r.CPUs...))
		switch c.Kind {
		case host.IRQAffinity:
			v := vectorOf(m.inv, &c)
			v.Affinity, v.Effective = set, set
		case host.RPSCPUs:
			queueOf(m.inv, &c).RPS = set
		case host.XPSCPUs:
			queueOf(m.inv, &c).XPS = set
		default:
			t.Fatalf("a change of kind %s", c.Kind)
		}
	}
}

// planned lists the CPUs of the device's units after the plan, in queue order.
func planned(t *testing.T, m *machine, p Policy, n *nic) []int {
	t.Helper()
	v := newView(m.facts(skew.Options{}), p)
	list := []int{}
	for i := range n.dev().Vectors {
		list = append(list, v.seat[n.dev().Vectors[i].ID])
	}
	return list
}

func rulesOf(a *Advice) []string {
	var list []string
	for _, f := range a.Findings {
		if !slices.Contains(list, f.Rule) {
			list = append(list, f.Rule)
		}
	}
	slices.Sort(list)
	return list
}

func changesOf(a *Advice, kind host.Kind) []Change {
	var list []Change
	for _, c := range a.Changes {
		if c.Kind == kind {
			list = append(list, c)
		}
	}
	return list
}

// brief writes changes as "irq_affinity of eth0 queue 1: 0 -> 4".
func brief(changes []Change) []string {
	list := []string{}
	for i := range changes {
		c, now := &changes[i], "?"
		if c.Current != nil {
			now = *c.Current
		}
		list = append(list, c.name()+": "+now+" -> "+c.Proposed)
	}
	return list
}
