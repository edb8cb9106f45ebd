package watch

import (
	"time"

	"github.com/netsteer/netsteer/advisor"
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/scan"
	"github.com/netsteer/netsteer/skew"
)

// view is everything that hangs on one shape of Inventory. The reader whose turn
// it is works on it alone; what others see is guarded by Watcher.mu.
type view struct {
	inv      *host.Inventory
	counters *scan.Counters
	devices  []*deviceReader
	totals   *interruptTotals

	ring []*lease // Samples of the window, oldest first
	free []*lease // buffers of this shape
	// judged is what was last computed from the ring.
	judged judgement
	last   map[host.Source]time.Time
}

// judgement is what skew makes of a window.
type judgement struct {
	inv     *host.Inventory // the settings it was judged with
	rates   *skew.Rates     // nil until the window is half full
	shown   *skew.Rates     // the same with the causes that need the rules of placement
	place   *skew.Place
	allowed skew.Allowed
}

// newView makes the view of a new shape; before is the one it replaces, or nil.
func newView(s *scan.Scanner, inv *host.Inventory, before *view) *view {
	v := &view{inv: inv, last: map[host.Source]time.Time{}}
	var counters *scan.Counters
	var totals *interruptTotals
	if before != nil {
		counters, totals, v.last = before.counters, before.totals, before.last
	}
	v.counters = s.Counters(inv, counters)
	v.totals = newInterruptTotals(inv, totals)
	for i := range inv.Devices {
		v.devices = append(v.devices, newDeviceReader(v.counters, &inv.Devices[i]))
	}
	return v
}

// push puts a lease into the ring and drops what is older than the window; the
// Watcher's mu is held.
func (v *view) push(l *lease, window time.Duration) {
	if n := len(v.ring); n > 0 && v.ring[n-1] == l {
		return
	}
	l.refs++
	v.ring = append(v.ring, l)
	for len(v.ring) > 2 && l.sample.Time.Sub(v.ring[1].sample.Time) >= window {
		v.ring[0].drop()
		v.ring = v.ring[1:]
	}
}

// clear empties the ring: the window starts anew, and what was judged from it is
// no longer so.
func (v *view) clear() {
	v.judged = judgement{}
	for _, l := range v.ring {
		l.drop()
	}
	v.ring = nil
}

// judge computes the window gauges from the ring. Rates are kept back until the
// window is half full.
func (v *view) judge(o skew.Options, window time.Duration) {
	samples := make([]*host.Sample, len(v.ring))
	for i, l := range v.ring {
		samples[i] = &l.sample
	}
	j := &v.judged
	j.inv = v.inv
	j.rates, j.place, j.allowed = skew.Judge(v.inv, samples, o, j.rates)
	if j.rates != nil && j.rates.Window < window/2 {
		j.rates = nil
	}
	j.shown = advisor.ApplyCauses(advisor.Facts{Inventory: v.inv, Rates: j.rates, Place: j.place, Allowed: j.allowed})
}
