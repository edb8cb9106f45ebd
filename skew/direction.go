package skew

import (
	"fmt"

	"github.com/netsteer/netsteer/host"
)

// evenEnough is the max/mean up to which a direction is not skewed.
const evenEnough = 1.5

// directionRates judges one direction of a device.
func directionRates(d *host.Device, dir host.Direction, rates []QueueRates, samples []*host.Sample, o Options, before DirectionRates) DirectionRates {
	queues := d.RX
	if dir == host.TX {
		queues = d.TX
	}
	var r DirectionRates
	usable, population := populations(queues, rates)
	for _, q := range population {
		if rates[q.ID].Live {
			r.Live++
		}
	}
	r.PacketsPerSecond = total(usable, rates)

	floor := o.MinRate
	if before.Skew[Packets].CV.OK {
		floor /= 2
	}
	busy := r.PacketsPerSecond.OK && r.PacketsPerSecond.V >= floor
	if busy && len(usable) >= 2 {
		for s := range NumSignals {
			r.Skew[s] = disperse(signal(s, d, population, rates))
		}
		r.Peak = peak(d, population, samples)
	}
	r.Cause, r.Evidence = cause(d, queues, usable, r, busy, floor)
	return r
}

// populations returns the usable queues, and those a skew is computed over: the
// live ones, or all usable ones when fewer than two live. A table that reaches
// one queue is the worst skew, not none.
func populations(queues []host.Queue, rates []QueueRates) (usable, population []*host.Queue) {
	for i := range queues {
		if q := &queues[i]; q.Usable {
			usable = append(usable, q)
			if rates[q.ID].Live {
				population = append(population, q)
			}
		}
	}
	if len(population) < 2 {
		population = usable
	}
	return usable, population
}

// total is the packets per second of the usable queues, unknown if one's is.
func total(usable []*host.Queue, rates []QueueRates) Value {
	sum := Value{OK: len(usable) > 0}
	for _, q := range usable {
		p := rates[q.ID].Packets
		sum.OK = sum.OK && p.OK
		sum.V += p.V
	}
	return sum
}

// signal returns one value a queue, or nil if any is unknown.
func signal(s Signal, d *host.Device, queues []*host.Queue, rates []QueueRates) []float64 {
	values := make([]float64, 0, len(queues))
	for _, q := range queues {
		r := &rates[q.ID]
		v := r.Packets
		switch s {
		case PacketsWeighted:
			if !q.RSSWeightOK || q.RSSWeight == 0 {
				return nil
			}
			v.V /= q.RSSWeight
		case Bytes:
			v = r.Bytes
		case Interrupts:
			v = r.Interrupts
			// Deferred interrupts say nothing of the load.
			v.OK = v.OK && !d.DeferHardIRQs
		}
		if !v.OK {
			return nil
		}
		values = append(values, v.V)
	}
	return values
}

// peak is the highest max/mean of any sampling interval: it shows a burst that
// is shorter than the window.
func peak(d *host.Device, queues []*host.Queue, samples []*host.Sample) Value {
	var top Value
	values := make([]float64, len(queues))
	for i := 1; i < len(samples); i++ {
		a, b := samples[i-1], samples[i]
		if between(a.Devices[d.ID].QueuesTime, b.Devices[d.ID].QueuesTime) <= 0 {
			continue
		}
		for j, q := range queues {
			x, y := a.Queues[q.ID].Packets, b.Queues[q.ID].Packets
			if !x.OK || !y.OK {
				return Value{}
			}
			values[j] = float64(delta64(x.N, y.N))
		}
		if m := disperse(values).MaxToMean; m.OK && m.V >= top.V {
			top = m
		}
	}
	return top
}

// cause names why a direction is skewed, as far as no rule of advice is needed.
func cause(d *host.Device, queues []host.Queue, usable []*host.Queue, r DirectionRates, busy bool, floor float64) (Cause, string) {
	switch {
	case len(usable) == 0:
		return CauseUnknown, "no usable queue is known"
	case !r.PacketsPerSecond.OK:
		return CauseUnknown, "no packet counters per queue"
	case d.Physical && !mapped(queues):
		return CauseUnknown, "no queue's interrupt is known"
	case !busy:
		return CauseIdle, fmt.Sprintf("%.0f packets/s, below %.0f", r.PacketsPerSecond.V, floor)
	case len(usable) == 1:
		return CauseSingleQueue, "one queue"
	}
	m := r.Skew[Packets].MaxToMean
	if m.OK && m.V <= evenEnough {
		return CauseNone, fmt.Sprintf("busiest queue at %.2f times the mean", m.V)
	}
	if !m.OK {
		return CauseUnknown, "skew could not be computed"
	}
	return CauseUnknown, fmt.Sprintf("busiest of %d queues at %.2f times the mean, CV %.2f", len(usable), m.V, r.Skew[Packets].CV.V)
}

func mapped(queues []host.Queue) bool {
	for i := range queues {
		if queues[i].Vector >= 0 {
			return true
		}
	}
	return false
}
