package watch

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/netsteer/netsteer/advisor"
	"github.com/netsteer/netsteer/apply"
	"github.com/netsteer/netsteer/host"
)

// read returns a State with counters of now. With keep the Sample also goes into
// the window.
func (w *Watcher) read(ctx context.Context, keep bool) (*State, func(), error) {
	select {
	case <-w.turn:
	case <-ctx.Done():
		return nil, nil, fmt.Errorf("waiting for the reading under way: %w", ctx.Err())
	}
	defer func() { w.turn <- struct{}{} }()

	w.mu.Lock()
	v, l := w.view, w.latest
	w.mu.Unlock()
	if v == nil {
		return nil, nil, ErrNotReady
	}
	if l == nil || l.state.Inventory != v.inv || time.Since(l.sample.Time) >= w.share {
		l = w.readNow(ctx, v)
	}
	if keep {
		w.keep(v, l)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.latest.acquire(w)
}

// keep puts a lease into the window, and judges the window and plans anew, with
// the masks as they are now. It is this goroutine's turn; the lock is not held
// while it thinks, which on a large host takes tens of milliseconds.
func (w *Watcher) keep(v *view, l *lease) {
	inv := w.config.Scanner.Affinity(v.inv)
	w.mu.Lock()
	v.inv = inv
	v.push(l, w.config.Window)
	w.mu.Unlock()
	v.judge(w.config.Skew, w.config.Window)
	s := *l.state
	s.Inventory = v.inv
	s.Rates, s.Place, s.Allowed = v.judged.shown, v.judged.place, v.judged.allowed
	s.Advice = advisor.Advise(s.Facts(), w.config.Policy)
	s.Held = w.holds.observe(l.sample.Time, s.Advice)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.advice, w.held = s.Advice, s.Held
	l.state = &s
}

// readNow reads all counters into a new lease and publishes it. It is this
// goroutine's turn.
func (w *Watcher) readNow(ctx context.Context, v *view) *lease {
	w.mu.Lock()
	l := take(&v.free)
	w.mu.Unlock()

	fits, degraded := v.counters.Read(&l.sample)
	if !fits {
		w.outdated()
	}
	readDevices(ctx, v.devices)
	now := time.Now()
	failed := map[host.Source]bool{}
	for _, d := range degraded {
		failed[d.Source] = true
	}
	failSettings(failed, v.inv)
	for _, d := range v.devices {
		more, missing := d.copyTo(&l.sample, now, w.config.MaxAge)
		degraded = append(degraded, more...)
		failed[host.SourceStats] = failed[host.SourceStats] || missing
	}
	l.interrupts = v.totals.add(v.inv, &l.sample, l.interrupts)
	transactions := w.transactions()
	if v.judged.inv != v.inv {
		v.judge(w.config.Skew, w.config.Window)
	}

	w.mu.Lock()
	defer w.mu.Unlock()
	v.last = successes(v.last, v.inv, &l.sample)
	l.state = &State{
		Inventory: v.inv, Sample: &l.sample,
		Rates: v.judged.shown, Place: v.judged.place, Allowed: v.judged.allowed,
		Advice: w.advice, Held: w.held, Transactions: transactions,
		DeviceInterrupts: l.interrupts,
		Degraded:         merge(v.inv.Degraded, degraded),
		LastSuccess:      v.last, Failed: failed,
	}
	if w.latest != nil {
		w.latest.drop()
	}
	w.latest = l
	return l
}

// transactions reads the journal's counts.
func (w *Watcher) transactions() map[string]apply.Count {
	if w.config.Transactions == nil {
		return nil
	}
	counts, err := w.config.Transactions()
	// Once, not with every Sample: it is the turn of whoever reads.
	if text := errorText(err); text != w.uncounted {
		w.uncounted = text
		if err != nil {
			w.config.Logger.Warn("Transactions cannot be counted", "err", err)
		}
	}
	return counts
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// failSettings adds the sources of settings that cannot be read for the whole
// host. A single device's is degraded, and the rest of the collector is there.
func failSettings(failed map[host.Source]bool, inv *host.Inventory) {
	for _, d := range inv.Degraded {
		switch d.Source {
		case host.SourceSysfs, host.SourceTopology, host.SourceSysctl:
			failed[d.Source] = failed[d.Source] || d.Device == ""
		}
	}
}

// merge joins two lists, sorted, each (source, device, reason) once.
func merge(a, b []host.Degraded) []host.Degraded {
	all := slices.Concat(a, b)
	slices.SortStableFunc(all, host.Degraded.Compare)
	return slices.CompactFunc(all, func(x, y host.Degraded) bool { return x.Compare(y) == 0 })
}

// successes returns the times at which each source was last read in full.
func successes(before map[host.Source]time.Time, inv *host.Inventory, s *host.Sample) map[host.Source]time.Time {
	last := maps.Clone(before)
	if last == nil {
		last = map[host.Source]time.Time{}
	}
	set := func(source host.Source, t time.Time) {
		if !t.IsZero() {
			last[source] = t
		}
	}
	set(host.SourceInterrupts, s.InterruptsTime)
	set(host.SourceSoftirqs, s.SoftirqsTime)
	set(host.SourceSoftnet, s.SoftnetTime)
	set(host.SourceStat, s.StatTime)
	for i := range s.Devices {
		if t := s.Devices[i].QueuesTime; t.After(last[host.SourceStats]) {
			last[host.SourceStats] = t
		}
	}
	broken := map[host.Source]bool{}
	for _, d := range inv.Degraded {
		broken[d.Source] = true
	}
	for _, source := range settingsSources {
		if !broken[source] {
			set(source, inv.Time)
		}
	}
	return last
}

// settingsSources are read on the slow clock.
var settingsSources = []host.Source{
	host.SourceIRQ, host.SourceTopology, host.SourceSysctl, host.SourceSysfs, host.SourceQueues,
	host.SourceNetlink, host.SourceRSS, host.SourceNetdev,
}
