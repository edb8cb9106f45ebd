package advisor

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/skew"
)

// predict moves what each queue was measured to carry to its planned CPU, and
// compares the spread over CPUs before and after as skew does: over as many of
// the busiest allowed CPUs as could share the work.
func (d *draft) predict() *Predicted {
	if d.Rates == nil || d.Rates.SinceBoot || d.Place == nil ||
		!slices.ContainsFunc(d.changes, func(c Change) bool { return c.Kind == host.IRQAffinity }) {
		return nil
	}
	p := &Predicted{
		NICPackets: d.spreadOf(func(c *skew.CPURates) skew.Value { return c.NICPackets }, func(q *skew.QueueRates) skew.Value { return q.Packets }),
		BusyNet:    d.spreadOf(func(c *skew.CPURates) skew.Value { return c.BusyNet }, func(q *skew.QueueRates) skew.Value { return q.Load }),
	}
	if p.NICPackets == nil && p.BusyNet == nil {
		return nil
	}
	return p
}

// spreadOf compares one signal; nil where it is unknown for an allowed CPU.
func (d *draft) spreadOf(ofCPU func(*skew.CPURates) skew.Value, ofQueue func(*skew.QueueRates) skew.Value) *Spread {
	before := make(map[int]float64)
	for c := range d.allowed.All() {
		if c >= len(d.Rates.CPUs) || !ofCPU(&d.Rates.CPUs[c]).OK {
			return nil
		}
		before[c] = ofCPU(&d.Rates.CPUs[c]).V
	}
	after := maps.Clone(before)
	for i := range d.Inventory.Queues {
		q := &d.Inventory.Queues[i]
		carried := ofQueue(&d.Rates.Queues[i])
		if q.Vector < 0 || !carried.OK {
			continue
		}
		from, to := d.Place.CPU[q.Vector], d.seat[q.Vector]
		if from < 0 || to < 0 || from == to {
			continue
		}
		if _, ok := after[from]; ok {
			after[from] = max(after[from]-carried.V, 0)
		}
		after[to] += carried.V
	}
	a := disperse(before, d.sharers(d.Place.CPU, d.currentRPS()))
	b := disperse(after, d.sharers(d.seat, d.plannedRPS()))
	if a == nil || b == nil {
		return nil
	}
	return &Spread{
		CPUSkewCV:        &BeforeAfter{round(a.cv), round(b.cv)},
		CPUSkewMaxToMean: &BeforeAfter{round(a.maxToMean), round(b.maxToMean)},
		BusiestCPU:       &BeforeAfter{round(a.top), round(b.top)},
	}
}

// sharers is how many allowed CPUs could share the work: one for each live unit,
// or those of the RPS masks.
func (d *draft) sharers(at []int, rps cpuset.Set) int {
	type place struct{ device, queue, cpu int }
	units := map[place]bool{}
	for i := range d.Inventory.Queues {
		q := &d.Inventory.Queues[i]
		if q.Vector >= 0 && at[q.Vector] >= 0 && d.Rates.Queues[i].Live {
			units[place{q.Device, q.Index, at[q.Vector]}] = true
		}
	}
	return min(d.allowed.Len(), max(len(units), rps.Intersect(d.allowed).Len()))
}

func (d *draft) currentRPS() cpuset.Set {
	var all cpuset.Set
	for i := range d.Inventory.Queues {
		all = all.Union(d.Inventory.Queues[i].RPS.Set)
	}
	return all
}

// plannedRPS is the union of all masks as the changes leave them.
func (d *draft) plannedRPS() cpuset.Set {
	planned := map[*host.Queue]cpuset.Set{}
	for i := range d.changes {
		if c := &d.changes[i]; c.Kind == host.RPSCPUs {
			planned[&d.Inventory.Queues[queueOf(d.Inventory, c).ID]] = cpuset.Of(c.CPUs...)
		}
	}
	var all cpuset.Set
	for i := range d.Inventory.Queues {
		q := &d.Inventory.Queues[i]
		if set, ok := planned[q]; ok {
			all = all.Union(set)
		} else {
			all = all.Union(q.RPS.Set)
		}
	}
	return all
}

type dispersion struct{ cv, maxToMean, top float64 }

// disperse is over the m busiest; nil for fewer than two or no load at all.
// Values are added in order of size, so that the same facts give the same bits.
func disperse(byCPU map[int]float64, m int) *dispersion {
	if m < 2 {
		return nil
	}
	values := make([]float64, 0, len(byCPU))
	for _, v := range byCPU {
		values = append(values, v)
	}
	slices.SortFunc(values, func(a, b float64) int { return cmp.Compare(b, a) })
	values = values[:min(m, len(values))]
	sum, squares := 0.0, 0.0
	for _, v := range values {
		sum += v
	}
	mean := sum / float64(len(values))
	if mean <= 0 {
		return nil
	}
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return &dispersion{math.Sqrt(squares/float64(len(values))) / mean, values[0] / mean, values[0]}
}
