package web

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/watch"
)

// NewSnapshot makes the document from a State and the rows of /proc/interrupts,
// nil where they could not be read. It keeps nothing of the State's Sample, so
// the lease may end before the document is written.
func NewSnapshot(state *watch.State, rows []host.InterruptRow) Snapshot {
	inv, sample := state.Inventory, state.Sample
	s := Snapshot{
		Schema: SnapshotSchema,
		Kernel: inv.Kernel,
		CPUs: SnapshotCPUs{
			Online:   known(inv.CPUs.Online),
			Possible: known(inv.CPUs.Possible),
			Isolated: inv.CPUs.Isolated(),
		},
		Interrupts: snapshotInterrupts(inv, rows),
		Softirqs:   snapshotSoftirqs(inv, sample),
		Softnet:    snapshotSoftnet(sample),
		Devices:    []SnapshotDevice{},
		Degraded:   append([]host.Degraded{}, state.Degraded...),
	}
	for _, node := range inv.Nodes {
		s.NUMA = append(s.NUMA, SnapshotNode{Node: node.ID, CPUs: node.CPUs})
	}
	for i := range inv.Devices {
		s.Devices = append(s.Devices, snapshotDevice(inv, &inv.Devices[i], sample))
	}
	return s
}

// Only leaves the named devices, and what is degraded of them or of the host.
// Interrupts stay whole: a vector is judged by who else is on its CPU.
func (s Snapshot) Only(devices ...string) Snapshot {
	if len(devices) == 0 {
		return s
	}
	s.Devices = slices.DeleteFunc(slices.Clone(s.Devices), func(d SnapshotDevice) bool {
		return !slices.Contains(devices, d.Device)
	})
	s.Degraded = slices.DeleteFunc(slices.Clone(s.Degraded), func(d host.Degraded) bool {
		return d.Device != "" && !slices.Contains(devices, d.Device)
	})
	return s
}

func snapshotInterrupts(inv *host.Inventory, rows []host.InterruptRow) []SnapshotInterrupt {
	out := make([]SnapshotInterrupt, 0, len(rows))
	for _, row := range rows {
		line := SnapshotInterrupt{
			IRQ:     row.Label,
			Total:   row.Total,
			PerCPU:  CPUCounts(row.PerCPU),
			Chip:    row.Chip,
			Actions: row.Actions,
		}
		if v := vectorOf(inv, row); v != nil {
			line.Device = inv.Devices[v.Device].Name
			line.Role = v.Role.String()
			line.Queue = number(v.Queue)
			line.Mapping = v.Mapping.String()
			line.Affinity = mask(v.Affinity)
			line.Effective = mask(v.Effective)
		}
		out = append(out, line)
	}
	slices.SortStableFunc(out, func(a, b SnapshotInterrupt) int { return compareIRQ(a.IRQ, b.IRQ) })
	return out
}

// vectorOf checks the label too: the rows may be of an Inventory that is newer
// than the State's.
func vectorOf(inv *host.Inventory, row host.InterruptRow) *host.Vector {
	if row.Vector < 0 || row.Vector >= len(inv.Vectors) {
		return nil
	}
	v := &inv.Vectors[row.Vector]
	if strconv.Itoa(v.IRQ) != row.Label {
		return nil
	}
	return v
}

// compareIRQ orders numbers by value and before names.
func compareIRQ(a, b string) int {
	x, errX := strconv.Atoi(a)
	y, errY := strconv.Atoi(b)
	switch {
	case errX == nil && errY == nil:
		return cmp.Compare(x, y)
	case errX == nil:
		return -1
	case errY == nil:
		return 1
	}
	return cmp.Compare(a, b)
}

func snapshotSoftirqs(inv *host.Inventory, sample *host.Sample) map[string]CPUCounts {
	if sample.SoftirqsTime.IsZero() {
		return nil
	}
	counts := func(cells []uint32) CPUCounts {
		var out CPUCounts
		for cpu := range inv.CPUs.Possible.All() {
			if cpu < len(cells) {
				out = append(out, host.CPUCount{CPU: cpu, Count: cells[cpu]})
			}
		}
		return out
	}
	return map[string]CPUCounts{"NET_RX": counts(sample.NetRX), "NET_TX": counts(sample.NetTX)}
}

func snapshotSoftnet(sample *host.Sample) []SnapshotSoftnet {
	if sample.SoftnetTime.IsZero() {
		return nil
	}
	var out []SnapshotSoftnet
	for cpu, row := range sample.Softnet {
		if !row.Present {
			continue
		}
		line := SnapshotSoftnet{Processed: row.Processed, Dropped: row.Dropped, TimeSqueeze: row.TimeSqueeze}
		if row.Columns >= 10 {
			line.ReceivedRPS = &row.ReceivedRPS
		}
		if row.Columns >= 11 {
			line.FlowLimit = &row.FlowLimit
		}
		if row.Columns >= 13 {
			line.CPU = &cpu
		}
		if row.Columns >= 15 {
			line.InputQlen, line.ProcessQlen = &row.InputQlen, &row.ProcessQlen
		}
		out = append(out, line)
	}
	return out
}

func snapshotDevice(inv *host.Inventory, d *host.Device, sample *host.Sample) SnapshotDevice {
	out := SnapshotDevice{
		Device:   d.Name,
		Driver:   d.Driver,
		NUMANode: number(d.Node),
		Lower:    d.Lower,
		Channels: omitEmpty(SnapshotChannels{
			RX: pair(d.Channels.RX), TX: pair(d.Channels.TX),
			Other: pair(d.Channels.Other), Combined: pair(d.Channels.Combined),
		}),
		Rings:  omitEmpty(SnapshotRings{RX: pair(d.Rings.RX), TX: pair(d.Rings.TX)}),
		RSS:    snapshotRSS(&d.RSS),
		Queues: []SnapshotQueue{},
	}
	for _, queues := range [][]host.Queue{d.RX, d.TX} {
		for i := range queues {
			out.Queues = append(out.Queues, snapshotQueue(inv, &queues[i], sample))
		}
	}
	return out
}

func snapshotQueue(inv *host.Inventory, q *host.Queue, sample *host.Sample) SnapshotQueue {
	out := SnapshotQueue{Direction: q.Direction.String(), Queue: q.Index}
	if q.ID < len(sample.Queues) {
		c := &sample.Queues[q.ID]
		out.Packets, out.Bytes, out.Drops = count(c.Packets), count(c.Bytes), count(c.Drops)
	}
	if q.Vector >= 0 {
		out.IRQ = strconv.Itoa(inv.Vectors[q.Vector].IRQ)
	}
	if q.Direction == host.RX {
		out.RPSCPUs, out.RPSFlowCnt = mask(q.RPS), count(q.FlowEntries)
	} else {
		out.XPSCPUs, out.XPSRXQs = mask(q.XPS), q.XPSRXQueues
	}
	return out
}

func snapshotRSS(rss *host.RSS) *SnapshotRSS {
	if len(rss.Table) == 0 && len(rss.Fields) == 0 {
		return nil
	}
	out := &SnapshotRSS{Table: rss.Table}
	for _, field := range rss.Fields {
		if out.HashFields == nil {
			out.HashFields = map[string]string{}
		}
		out.HashFields[field.Name] = field.Value
	}
	return out
}

// What is unknown becomes nil, and nil a missing key.

func known(s cpuset.Set) *cpuset.Set {
	if s.IsEmpty() {
		return nil // no machine has no CPU
	}
	return &s
}

func mask(m host.Mask) *cpuset.Set {
	if !m.OK {
		return nil
	}
	return &m.Set
}

func count(c host.Count) *uint64 {
	if !c.OK {
		return nil
	}
	return &c.N
}

func number(n int) *int {
	if n < 0 {
		return nil
	}
	return &n
}

func pair(p host.Pair) *SnapshotPair {
	return omitEmpty(SnapshotPair{Current: count(p.Current), Max: count(p.Max)})
}

func omitEmpty[T comparable](v T) *T {
	var none T
	if v == none {
		return nil
	}
	return &v
}
