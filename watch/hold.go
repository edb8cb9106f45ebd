package watch

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/netsteer/netsteer/advisor"
	"github.com/netsteer/netsteer/host"
)

// heldWindows is for how many windows advice must last before metrics follow
// it, so that alerts do not flap.
const heldWindows = 3

// Held is what metrics show of advice: numbers that have lasted.
type Held struct {
	Findings []HeldFinding // sorted, each above 0
	Changes  map[ChangeKey]int
}

// FindingKey is one series of findings.
type FindingKey struct {
	Device, Rule string
	Severity     advisor.Severity
}

// HeldFinding is how many findings of a key there are.
type HeldFinding struct {
	FindingKey
	N int
}

// ChangeKey is one series of recommended changes; Device is "" for kinds of the
// whole host.
type ChangeKey struct {
	Device string
	Kind   host.Kind
}

// holds follows advice at a distance.
type holds struct {
	span     time.Duration
	findings map[FindingKey]*hold
	changes  map[ChangeKey]*hold
}

func newHolds(span time.Duration) *holds {
	return &holds{span: span, findings: map[FindingKey]*hold{}, changes: map[ChangeKey]*hold{}}
}

// observe takes the advice of now and returns what has lasted.
func (h *holds) observe(now time.Time, a *advisor.Advice) *Held {
	findings := map[FindingKey]int{}
	for i := range a.Findings {
		f := &a.Findings[i]
		findings[FindingKey{f.Device, f.Rule, f.Severity}]++
	}
	changes := map[ChangeKey]int{}
	for i := range a.Changes {
		changes[ChangeKey{a.Changes[i].Device, a.Changes[i].Kind}]++
	}
	follow(h.findings, findings, now, h.span)
	follow(h.changes, changes, now, h.span)

	out := &Held{Changes: map[ChangeKey]int{}}
	for key, c := range h.findings {
		if c.shown > 0 {
			out.Findings = append(out.Findings, HeldFinding{key, c.shown})
		}
	}
	slices.SortFunc(out.Findings, func(a, b HeldFinding) int {
		return cmp.Or(strings.Compare(a.Device, b.Device), strings.Compare(a.Rule, b.Rule), cmp.Compare(a.Severity, b.Severity))
	})
	for key, c := range h.changes {
		out.Changes[key] = c.shown
	}
	return out
}

func follow[K comparable](held map[K]*hold, counts map[K]int, now time.Time, span time.Duration) {
	for key := range counts {
		if held[key] == nil {
			held[key] = &hold{}
		}
	}
	for key, c := range held {
		c.follow(counts[key], now, span)
		if c.shown == 0 && c.way == 0 {
			delete(held, key)
		}
	}
}

// hold is a number that changes only when what is observed has been above it, or
// below it, all the time for a span.
type hold struct {
	shown int
	way   int       // sign of observed - shown
	since time.Time // that it has been so
	least int       // the observed value nearest to shown since then
}

func (h *hold) follow(n int, now time.Time, span time.Duration) {
	h.step(n, now)
	if h.way != 0 && now.Sub(h.since) >= span {
		h.shown, h.way = h.least, 0
		h.step(n, now)
	}
}

func (h *hold) step(n int, now time.Time) {
	switch way := cmp.Compare(n, h.shown); {
	case way != h.way:
		h.way, h.since, h.least = way, now, n
	case way > 0:
		h.least = min(h.least, n)
	case way < 0:
		h.least = max(h.least, n)
	}
}
