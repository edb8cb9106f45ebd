package skew

import (
	"time"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
)

// machine builds an Inventory of 2 nodes x 4 cores x 2 threads: CPUs 0-7 are on
// node 0, 8-15 on node 1; CPU n and n+1 (n even) are one core.
type machine struct {
	inv     *host.Inventory
	samples []*host.Sample
}

func newMachine() *machine {
	inv := &host.Inventory{Shape: 1}
	inv.CPUs.Possible, inv.CPUs.Online = cpuset.Range(0, 15), cpuset.Range(0, 15)
	for id := range 16 {
		node := id / 8
		inv.CPUs.ByID = append(inv.CPUs.ByID, host.CPU{Node: node, Package: node, Core: id &^ 1, Cache: node * 8})
	}
	inv.Nodes = []host.Node{{ID: 0, CPUs: cpuset.Range(0, 7)}, {ID: 1, CPUs: cpuset.Range(8, 15)}}
	return &machine{inv: inv}
}

// nic adds a device with n combined vectors, vector i effective on cpus[i] with
// an affinity of all CPUs. cpus may be shorter: the rest runs on CPU 0.
func (m *machine) nic(name string, node, n int, cpus ...int) *host.Device {
	id := len(m.inv.Devices)
	m.inv.Devices = append(m.inv.Devices, host.Device{ID: id, Name: name, Node: node, Physical: true, Up: true})
	for _, dir := range []host.Direction{host.RX, host.TX} {
		for i := range n {
			m.inv.Queues = append(m.inv.Queues, host.Queue{ID: len(m.inv.Queues), Device: id, Direction: dir, Index: i,
				Usable: true, Vector: len(m.inv.Vectors) + i, XPS: host.KnownMask(cpuset.Set{})})
		}
	}
	for i := range n {
		cpu := 0
		if i < len(cpus) {
			cpu = cpus[i]
		}
		m.inv.Vectors = append(m.inv.Vectors, host.Vector{ID: len(m.inv.Vectors), Device: id, IRQ: 30 + len(m.inv.Vectors),
			Role: host.RoleCombined, Queue: i, RX: []int{i}, TX: []int{i}, Actions: []string{name},
			Affinity: host.KnownMask(m.inv.CPUs.Online), Effective: host.KnownMask(cpuset.Of(cpu))})
	}
	m.reslice()
	return &m.inv.Devices[id]
}

func (m *machine) reslice() {
	q, v := 0, 0
	for i := range m.inv.Devices {
		d := &m.inv.Devices[i]
		first := q
		for q < len(m.inv.Queues) && m.inv.Queues[q].Device == i && m.inv.Queues[q].Direction == host.RX {
			q++
		}
		mid := q
		for q < len(m.inv.Queues) && m.inv.Queues[q].Device == i {
			q++
		}
		d.RX, d.TX = m.inv.Queues[first:mid], m.inv.Queues[mid:q]
		first = v
		for v < len(m.inv.Vectors) && m.inv.Vectors[v].Device == i {
			v++
		}
		d.Vectors = m.inv.Vectors[first:v]
	}
}

var epoch = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// sample adds a Sample ten seconds after the last: every counter as before,
// then changed by f.
func (m *machine) sample(f func(*host.Sample)) {
	n := m.inv.CPUs.NumIDs()
	t := epoch.Add(time.Duration(len(m.samples)) * 10 * time.Second)
	s := &host.Sample{
		Shape: 1, Time: t, InterruptsTime: t, SoftirqsTime: t, SoftnetTime: t, StatTime: t,
		Cells: make([]uint32, len(m.inv.Vectors)*n), Sums: make([]uint32, len(m.inv.Vectors)), Present: make([]bool, len(m.inv.Vectors)),
		NetRX: make([]uint32, n), NetTX: make([]uint32, n), Softnet: make([]host.Softnet, n), Ticks: make([]host.CPUTicks, n),
		Devices: make([]host.DeviceCounters, len(m.inv.Devices)), Queues: make([]host.QueueCounters, len(m.inv.Queues)),
		IPOut: host.Known(0), IPForwarded: host.Known(0),
	}
	if k := len(m.samples); k > 0 {
		old := m.samples[k-1]
		copy(s.Cells, old.Cells)
		copy(s.NetRX, old.NetRX)
		copy(s.Softnet, old.Softnet)
		copy(s.Ticks, old.Ticks)
		copy(s.Queues, old.Queues)
		s.IPOut, s.IPForwarded = old.IPOut, old.IPForwarded
	} else {
		for i := range s.Queues {
			s.Queues[i].Packets, s.Queues[i].Bytes = host.Known(0), host.Known(0)
		}
	}
	for i := range s.Ticks {
		s.Ticks[i].Present = true
		s.Softnet[i].Present = true
	}
	for i := range s.Devices {
		s.Devices[i].QueuesTime = t
	}
	for i := range s.Present {
		s.Present[i] = true
	}
	if f != nil {
		f(s)
	}
	for v := range s.Sums {
		s.Sums[v] = 0
		for _, c := range s.Cells[v*n : (v+1)*n] {
			s.Sums[v] += c
		}
	}
	m.samples = append(m.samples, s)
}

// traffic adds packets to the RX queues of a device.
func traffic(d *host.Device, packets ...uint64) func(*host.Sample) {
	return func(s *host.Sample) {
		for i, n := range packets {
			s.Queues[d.RX[i].ID].Packets.N += n
		}
	}
}

func (m *machine) judge(o Options) (*Rates, *Place, Allowed) { return Judge(m.inv, m.samples, o, nil) }

var plain = Options{MinRate: 100}
