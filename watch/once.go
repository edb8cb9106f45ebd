package watch

import (
	"context"
	"time"

	"github.com/netsteer/netsteer/advisor"
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/scan"
	"github.com/netsteer/netsteer/skew"
)

// commandDeadline bounds a command's reading of counters.
const commandDeadline = 5 * time.Second

// Once reads a machine for a command: one Inventory and one Sample or, with a
// window, two Samples that far apart, whose State has Rates.
func Once(ctx context.Context, c Config, window time.Duration) (*State, error) {
	c.Window = window
	c.Interval = max(c.Interval, commandDeadline)
	w := New(c)
	w.share = 0
	w.holds.span = 0 // there is one look only
	w.refresh(false)
	w.sample(ctx)
	if window > 0 {
		if !sleep(ctx, window) {
			return nil, ctx.Err()
		}
		w.sample(ctx)
	}
	state, _, err := w.Latest()
	return state, err
}

// Recorded reads a recording: one Sample, taken at t0, and where second is not
// nil one more of the same machine at t1.
func Recorded(o skew.Options, first, second *scan.Scanner, t0, t1 time.Time) *State {
	if t0.IsZero() { // the recording does not say when; a zero time is "not read"
		t0 = time.Unix(0, 0)
	}
	inv := first.Inventory()
	inv.Time = t0
	counters := first.Counters(inv, nil)
	totals := newInterruptTotals(inv, nil)
	sample, degraded := readAll(counters, inv, t0)
	samples := []*host.Sample{sample}
	interrupts := totals.add(inv, sample, nil)
	if second != nil {
		sample, degraded = readAll(second.Counters(inv, counters), inv, t1)
		samples = append(samples, sample)
		interrupts = totals.add(inv, sample, interrupts)
	}
	s := &State{
		Inventory: inv, Sample: sample, DeviceInterrupts: interrupts,
		Degraded:    merge(inv.Degraded, degraded),
		LastSuccess: successes(nil, inv, sample),
		Failed:      map[host.Source]bool{},
	}
	s.Rates, s.Place, s.Allowed = skew.Judge(inv, samples, o, nil)
	s.Rates = advisor.ApplyCauses(s.Facts())
	s.Advice = advisor.Advise(s.Facts(), advisor.Policy{})
	s.Held = newHolds(0).observe(t0, s.Advice)
	failSettings(s.Failed, inv)
	for _, d := range degraded {
		s.Failed[d.Source] = d.Reason != host.ReasonNoCounters
	}
	return s
}

// readAll takes one Sample of everything, as if it had all been read at t.
func readAll(c *scan.Counters, inv *host.Inventory, t time.Time) (*host.Sample, []host.Degraded) {
	s := &host.Sample{}
	_, degraded := c.Read(s)
	for i := range inv.Devices {
		d := &inv.Devices[i]
		first := firstQueue(d)
		queues := s.Queues[first : first+len(d.RX)+len(d.TX)]
		degraded = append(degraded, c.Device(i, &s.Devices[i], queues)...)
	}
	s.Time = t
	for _, at := range []*time.Time{&s.InterruptsTime, &s.SoftirqsTime, &s.SoftnetTime, &s.StatTime} {
		setTime(at, t)
	}
	for i := range s.Devices {
		setTime(&s.Devices[i].QueuesTime, t)
	}
	return s, degraded
}

// setTime changes the time of what was read.
func setTime(at *time.Time, t time.Time) {
	if !at.IsZero() {
		*at = t
	}
}
