package collector

import (
	"context"
	"fmt"
	"time"

	"github.com/netsteer/netsteer/advisor"
	"github.com/netsteer/netsteer/apply"
	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/skew"
	"github.com/netsteer/netsteer/watch"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// shape is a machine to generate: every value known, every device with one
// vector per queue pair, or one for each queue if split.
type shape struct {
	devices, pairs, cpus int
	split                bool
	// spread is how many CPUs ever took interrupts of a device.
	spread int
}

// generate builds a State of the shape in which every family has a series.
func generate(m shape) *watch.State {
	b := &builder{&watch.State{
		Inventory: &host.Inventory{Shape: 1},
		Sample: &host.Sample{
			Shape: 1, Time: noon,
			InterruptsTime: noon, SoftirqsTime: noon, SoftnetTime: noon, StatTime: noon,
		},
		Rates:       &skew.Rates{Shape: 1, Window: time.Minute},
		Place:       &skew.Place{},
		LastSuccess: map[host.Source]time.Time{},
		Failed:      map[host.Source]bool{},
	}}
	b.cpus(m.cpus)
	for i := range m.devices {
		b.device(fmt.Sprintf("eth%d", i), m)
	}
	b.stacked("bond0", "eth0", "eth1")
	b.finish()

	st := b.st
	st.Inventory.Ignored = host.Ignored{SingleQueueVirtual: 7, Excluded: 2, OverLimit: 1}
	st.Inventory.Sysctls = host.Sysctls{
		RPSSockFlowEntries: host.Known(32768),
		NetdevMaxBacklog:   host.Known(1000),
		NetdevBudget:       host.Known(300),
		NetdevBudgetUsecs:  host.Known(8000),
	}
	st.Allowed = skew.Allowed{
		CPUs:     cpuset.Range(0, m.cpus-2),
		Withheld: map[skew.Withheld]int{skew.WithheldIsolated: 1},
	}
	st.Inventory.Rivals = []host.Rival{{Name: "irqbalance", Active: true}, {Name: "tuned"}}
	st.Held = &watch.Held{
		Findings: []watch.HeldFinding{{FindingKey: watch.FindingKey{Device: "eth0", Rule: "irq-stacked", Severity: advisor.Warning}, N: 1}},
		Changes:  map[watch.ChangeKey]int{{Device: "eth0", Kind: host.IRQAffinity}: 2},
	}
	st.Transactions = map[string]apply.Count{"applied": {N: 3, Last: noon}}
	st.Degraded = []host.Degraded{
		{Source: host.SourceNetdev, Reason: host.ReasonUnsupported},
		{Source: host.SourceRSS, Device: "eth0", Reason: host.ReasonUnsupported, Detail: "operation not supported"},
	}
	for _, source := range []host.Source{host.SourceStat, host.SourceInterrupts, host.SourceSoftirqs, host.SourceSoftnet} {
		st.LastSuccess[source] = noon
	}
	return st
}

type builder struct{ st *watch.State }

func (b *builder) cpus(n int) {
	inv, sample, rates := b.st.Inventory, b.st.Sample, b.st.Rates
	inv.CPUs = host.CPUs{
		Possible:     cpuset.Range(0, n-1),
		Online:       cpuset.Range(0, n-1),
		IsolatedBoot: cpuset.Of(n - 1),
	}
	for id := range n {
		inv.CPUs.ByID = append(inv.CPUs.ByID, host.CPU{Node: id % 2, Package: id % 2, Core: id / 2, Cache: id / 8 * 8})
		sample.NetRX = append(sample.NetRX, uint32(1000+id))
		sample.NetTX = append(sample.NetTX, uint32(id))
		sample.Softnet = append(sample.Softnet, host.Softnet{
			Present: true, Columns: 15,
			Processed: uint32(5000 + id), Dropped: 1, TimeSqueeze: 2, ReceivedRPS: 3, FlowLimit: 4, InputQlen: 5, ProcessQlen: 6,
		})
		sample.Ticks = append(sample.Ticks, host.CPUTicks{
			Present: true,
			User:    100, Nice: 10, System: 50, Idle: 9000, IOWait: 7, IRQ: 20, SoftIRQ: 300, Steal: 5, Guest: 40, GuestNice: 3,
		})
	}
	for signal := range rates.CPUSkew {
		rates.CPUSkew[signal] = dispersion(0.5, 2)
	}
}

// device adds a device with all there is to know about it.
func (b *builder) device(name string, m shape) {
	inv := b.st.Inventory
	d := host.Device{
		ID: len(inv.Devices), Name: name, Driver: "igb", BusInfo: "0000:41:00.0", Node: 0, Physical: true,
		SpeedBytes: host.Known(125_000_000),
		Channels: host.Channels{
			RX:       host.Pair{Current: host.Known(uint64(m.pairs)), Max: host.Known(64)},
			TX:       host.Pair{Current: host.Known(uint64(m.pairs)), Max: host.Known(64)},
			Combined: host.Pair{Current: host.Known(uint64(m.pairs)), Max: host.Known(64)},
		},
		Rings: host.Rings{
			RX: host.Pair{Current: host.Known(256), Max: host.Known(4096)},
			TX: host.Pair{Current: host.Known(256), Max: host.Known(4096)},
		},
	}
	control := b.vector(&d, host.RoleControl, -1)
	control.Unmapped = ""
	lost := b.vector(&d, host.RoleOther, -1)
	lost.Unmapped = host.ReasonAmbiguous
	var rx, tx []host.Queue
	for i := range m.pairs {
		r := host.Queue{
			Device: d.ID, Direction: host.RX, Index: i, Usable: true,
			RPS: host.KnownMask(cpuset.Of(0, 1)), FlowEntries: host.Known(4096),
			RSSWeight: 1 / float64(m.pairs), RSSWeightOK: true,
		}
		t := host.Queue{Device: d.ID, Direction: host.TX, Index: i, Usable: true, XPS: host.KnownMask(cpuset.Of(i % m.cpus))}
		if m.split {
			v := b.vector(&d, host.RoleRX, i)
			v.RX, r.Vector = []int{i}, v.ID
			v = b.vector(&d, host.RoleTX, i)
			v.TX, t.Vector = []int{i}, v.ID
		} else {
			v := b.vector(&d, host.RoleCombined, i)
			v.RX, v.TX = []int{i}, []int{i}
			r.Vector, t.Vector = v.ID, v.ID
		}
		rx, tx = append(rx, r), append(tx, t)
	}
	b.queues(rx)
	b.queues(tx)
	inv.Devices = append(inv.Devices, d)

	b.st.Sample.Devices = append(b.st.Sample.Devices, host.DeviceCounters{QueuesTime: noon, RXMissed: host.Known(0)})
	rates := skew.DirectionRates{Cause: skew.CauseFewFlows, Live: m.pairs, Peak: value(3)}
	for signal := range rates.Skew {
		rates.Skew[signal] = dispersion(1.5, 4)
	}
	b.st.Rates.Devices = append(b.st.Rates.Devices, skew.DeviceRates{RX: rates, TX: rates})
	b.st.Place.Devices = append(b.st.Place.Devices, skew.DevicePlace{
		MismatchRatio: value(0.5), Stacked: value(0), RemoteNode: value(0.25), Isolated: value(0),
	})
	n := inv.CPUs.NumIDs()
	cells := make([]uint64, n)
	for cpu := range m.spread {
		cells[cpu] = uint64(cpu + 1)
	}
	b.st.DeviceInterrupts = append(b.st.DeviceInterrupts, cells...)
}

func (b *builder) vector(d *host.Device, role host.Role, queue int) *host.Vector {
	inv := b.st.Inventory
	id := len(inv.Vectors)
	inv.Vectors = append(inv.Vectors, host.Vector{
		ID: id, Device: d.ID, IRQ: 24 + id, Role: role, Queue: queue,
		Mapping: host.MappedName, Affinity: host.KnownMask(cpuset.Of(0)),
	})
	cells := make([]uint32, inv.CPUs.NumIDs())
	cells[0] = uint32(id + 1)
	s, p := b.st.Sample, b.st.Place
	s.Cells = append(s.Cells, cells...)
	s.Sums = append(s.Sums, uint32(id+1))
	s.Present = append(s.Present, true)
	p.CPU = append(p.CPU, id%inv.CPUs.NumIDs())
	p.Pending = append(p.Pending, false)
	return &inv.Vectors[id]
}

func (b *builder) queues(queues []host.Queue) {
	inv := b.st.Inventory
	for _, q := range queues {
		q.ID = len(inv.Queues)
		inv.Queues = append(inv.Queues, q)
		c := host.QueueCounters{Packets: host.Known(uint64(q.ID)), Bytes: host.Known(1 << 40), Drops: host.Known(0)}
		if q.Direction == host.RX {
			c.ThreadTicks = host.Known(250)
		}
		b.st.Sample.Queues = append(b.st.Sample.Queues, c)
		b.st.Rates.Queues = append(b.st.Rates.Queues, skew.QueueRates{Live: true})
		b.st.Place.Mismatch = append(b.st.Place.Mismatch, skew.Matched)
		b.st.Place.Distance = append(b.st.Place.Distance, value(0))
	}
}

// stacked adds a device that only has lower ones.
func (b *builder) stacked(name string, lower ...string) {
	inv := b.st.Inventory
	inv.Devices = append(inv.Devices, host.Device{ID: len(inv.Devices), Name: name, Driver: "bonding", Node: -1, Stacked: true, Lower: lower})
	b.st.Sample.Devices = append(b.st.Sample.Devices, host.DeviceCounters{})
	b.st.Rates.Devices = append(b.st.Rates.Devices, skew.DeviceRates{})
	b.st.Place.Devices = append(b.st.Place.Devices, skew.DevicePlace{})
	b.st.DeviceInterrupts = append(b.st.DeviceInterrupts, make([]uint64, inv.CPUs.NumIDs())...)
}

// finish makes each device's queues and vectors parts of the Inventory's.
func (b *builder) finish() {
	inv := b.st.Inventory
	for i := range inv.Devices {
		d := &inv.Devices[i]
		d.RX = part(inv.Queues, func(q *host.Queue) bool { return q.Device == d.ID && q.Direction == host.RX })
		d.TX = part(inv.Queues, func(q *host.Queue) bool { return q.Device == d.ID && q.Direction == host.TX })
		d.Vectors = part(inv.Vectors, func(v *host.Vector) bool { return v.Device == d.ID })
	}
}

// part returns the one run of elements that belong.
func part[T any](all []T, belongs func(*T) bool) []T {
	first := 0
	for first < len(all) && !belongs(&all[first]) {
		first++
	}
	last := first
	for last < len(all) && belongs(&all[last]) {
		last++
	}
	return all[first:last]
}

func value(v float64) skew.Value { return skew.Value{V: v, OK: true} }

func dispersion(cv, max float64) skew.Dispersion {
	return skew.Dispersion{CV: value(cv), MaxToMean: value(max)}
}

// reading is a Config.State that always gives st.
func reading(st *watch.State) func(context.Context) (*watch.State, func(), error) {
	return func(context.Context) (*watch.State, func(), error) { return st, func() {}, nil }
}

// everything switches every collector on.
func everything() map[string]bool {
	on := map[string]bool{}
	for _, name := range Names() {
		on[name] = true
	}
	return on
}
