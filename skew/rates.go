package skew

import (
	"github.com/netsteer/netsteer/host"
)

// Judge computes all that follows from an Inventory and the Samples of a window,
// oldest first, all of the Inventory's shape. With fewer than two Samples there
// are no Rates, and Place follows from settings alone. before is the Rates of
// the window before, for hysteresis; nil if there was none.
func Judge(inv *host.Inventory, samples []*host.Sample, o Options, before *Rates) (*Rates, *Place, Allowed) {
	allowed := Allow(&inv.CPUs, o)
	at := locate(inv, samples)
	var rates *Rates
	if len(samples) >= 2 {
		rates = compute(inv, samples, at, o, before)
		rates.CPUSkew = skewOfCPUs(inv, rates, at, allowed, o)
	}
	return rates, judgePlace(inv, samples, at, rates, allowed), allowed
}

func compute(inv *host.Inventory, samples []*host.Sample, at []location, o Options, before *Rates) *Rates {
	first, last := samples[0], samples[len(samples)-1]
	r := &Rates{
		Shape: inv.Shape, Window: last.Time.Sub(first.Time),
		Devices: make([]DeviceRates, len(inv.Devices)),
		Queues:  make([]QueueRates, len(inv.Queues)),
	}
	for i := range inv.Devices {
		queueRates(&inv.Devices[i], r.Queues, first, last)
	}
	r.CPUs = cpuRates(inv, r.Queues, at, first, last)
	shareLoad(inv, r, at)
	for i := range inv.Devices {
		d := &inv.Devices[i]
		if d.Stacked {
			continue
		}
		var old DeviceRates
		if before != nil && before.Shape == r.Shape {
			old = before.Devices[i]
		}
		r.Devices[i].RX = directionRates(d, host.RX, r.Queues, samples, o, old.RX)
		r.Devices[i].TX = directionRates(d, host.TX, r.Queues, samples, o, old.TX)
	}
	return r
}

// queueRates fills the rates of one device's queues.
func queueRates(d *host.Device, queues []QueueRates, first, last *host.Sample) {
	elapsed := between(first.Devices[d.ID].QueuesTime, last.Devices[d.ID].QueuesTime)
	irqElapsed := between(first.InterruptsTime, last.InterruptsTime)
	for _, list := range [][]host.Queue{d.RX, d.TX} {
		for i := range list {
			q, r := &list[i], &queues[list[i].ID]
			a, b := &first.Queues[q.ID], &last.Queues[q.ID]
			r.Packets = rate(a.Packets, b.Packets, elapsed)
			r.Bytes = rate(a.Bytes, b.Bytes, elapsed)
			r.Drops = rate(a.Drops, b.Drops, elapsed)
			if v := q.Vector; v >= 0 && first.Present[v] && last.Present[v] {
				r.Interrupts = rate32(first.Sums[v], last.Sums[v], irqElapsed)
			}
			r.Live = live(q, r.Packets)
		}
	}
}

// live tells the queues that traffic can reach. A listed but dead queue never
// counts. received is unknown where only settings are known.
func live(q *host.Queue, received Value) bool {
	switch {
	case !q.Usable:
		return false
	case q.Direction == host.TX, !q.RSSWeightOK:
		return true
	}
	return q.RSSWeight > 0 || q.Steered || received.OK && received.V > 0
}
