package watch

import (
	"testing"
	"time"

	"github.com/netsteer/netsteer/advisor"
	"github.com/netsteer/netsteer/host"
)

// A number follows what is observed only when that has lasted for the span, and
// then to the value nearest to what it was.
func TestHold(t *testing.T) {
	const step, span = 5 * time.Second, 20 * time.Second
	for name, tt := range map[string]struct{ observed, shown []int }{
		"comes and stays":    {[]int{1, 1, 1, 1, 1, 1}, []int{0, 0, 0, 0, 1, 1}},
		"flaps in":           {[]int{1, 1, 1, 0, 1, 1, 1, 1, 1}, []int{0, 0, 0, 0, 0, 0, 0, 0, 1}},
		"one gap keeps it":   {[]int{1, 1, 1, 1, 1, 0, 1, 0, 0, 1}, []int{0, 0, 0, 0, 1, 1, 1, 1, 1, 1}},
		"goes":               {[]int{1, 1, 1, 1, 1, 0, 0, 0, 0, 0}, []int{0, 0, 0, 0, 1, 1, 1, 1, 1, 0}},
		"least of what was":  {[]int{4, 9, 3, 8, 8, 8}, []int{0, 0, 0, 0, 3, 3}},
		"then up from there": {[]int{3, 3, 3, 3, 8, 8, 8, 8, 8}, []int{0, 0, 0, 0, 3, 3, 3, 3, 8}},
	} {
		t.Run(name, func(t *testing.T) {
			var h hold
			at := time.Unix(1000, 0)
			for i, n := range tt.observed {
				h.follow(n, at, span)
				if h.shown != tt.shown[i] {
					t.Fatalf("step %d: shown %d, want %d", i, h.shown, tt.shown[i])
				}
				at = at.Add(step)
			}
		})
	}
}

// Findings and changes are held by their own keys, and nothing is kept of what
// has come and gone.
func TestHoldsForget(t *testing.T) {
	h := newHolds(time.Minute)
	at := time.Unix(1000, 0)
	flash := &advisor.Advice{
		Findings: []advisor.Finding{{Rule: "irq-stacked", Severity: advisor.Warning, Device: "eth0"}},
		Changes:  []advisor.Change{{Kind: host.IRQAffinity, Device: "eth0"}, {Kind: host.IRQAffinity, Device: "eth0"}},
	}
	if got := h.observe(at, flash); len(got.Findings) != 0 || got.Changes[ChangeKey{"eth0", host.IRQAffinity}] != 0 {
		t.Errorf("shown at once: %+v", got)
	}
	h.observe(at.Add(time.Second), &advisor.Advice{})
	if len(h.findings) != 0 || len(h.changes) != 0 {
		t.Errorf("%d findings and %d changes are kept of what is gone", len(h.findings), len(h.changes))
	}
	h.observe(at.Add(2*time.Second), flash)
	got := h.observe(at.Add(62*time.Second), flash)
	if len(got.Findings) != 1 || got.Findings[0].N != 1 || got.Changes[ChangeKey{"eth0", host.IRQAffinity}] != 2 {
		t.Errorf("after a minute: %+v, want one finding and two changes", got)
	}
}
