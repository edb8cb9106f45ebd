package advisor_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/netsteer/netsteer/advisor"
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/record"
	"github.com/netsteer/netsteer/host/scan"
	"github.com/netsteer/netsteer/internal/testenv"
	"github.com/netsteer/netsteer/skew"
	"github.com/netsteer/netsteer/watch"
)

// The plan for interrupts of a recorded host is the same with its traffic and
// without, and twice the same bytes.
func TestRecordedTrafficMovesNoVector(t *testing.T) {
	with, without := advisor.Advise(recorded(t, true), advisor.Policy{}), advisor.Advise(recorded(t, false), advisor.Policy{})
	irqs := func(a *advisor.Advice) []string {
		var list []string
		for _, c := range a.Changes {
			if c.Kind == host.IRQAffinity {
				list = append(list, c.Target+" "+c.Proposed)
			}
		}
		return list
	}
	if a, b := irqs(with), irqs(without); !slices.Equal(a, b) || len(a) == 0 {
		t.Errorf("with traffic %v, without %v", a, b)
	}
	if with.Basis != "window" || without.Basis != "since-boot" {
		t.Errorf("basis %s, %s", with.Basis, without.Basis)
	}
	if asJSON(t, with) != asJSON(t, advisor.Advise(recorded(t, true), advisor.Policy{})) {
		t.Error("read again, the same host gave other bytes")
	}
}

// Guests recorded from real kernels: what is planned is allowed, and the plan is
// a plan file that the same guest takes.
func TestRecordedGuests(t *testing.T) {
	guests, err := filepath.Glob(filepath.Join(testenv.Shared(t, "recorded"), "*.tar.gz"))
	if err != nil || len(guests) == 0 {
		t.Fatalf("%v, %v", guests, err)
	}
	for _, path := range guests {
		t.Run(filepath.Base(path), func(t *testing.T) {
			r, err := record.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			t0, t1, _ := r.Times()
			s := watch.Recorded(skew.Options{MinRate: 100}, scan.New(r.Machine(), scan.Options{}), nil, t0, t1)
			a := advisor.Advise(advisor.Facts{Inventory: s.Inventory, Rates: s.Rates, Place: s.Place, Allowed: s.Allowed, Degraded: s.Degraded}, advisor.Policy{})
			if len(a.Devices) == 0 {
				t.Error("no device")
			}
			for _, c := range a.Changes {
				t.Logf("%s %s %s %s", c.Target, c.Proposed, c.Rule, c.Reason)
				if c.Kind == host.IRQAffinity && (len(c.CPUs) != 1 || !s.Allowed.CPUs.Contains(c.CPUs[0])) {
					t.Errorf("%s to %s, allowed %s", c.Target, c.Proposed, s.Allowed.CPUs)
				}
			}
			for _, f := range a.Findings {
				t.Logf("%s %s", f.Rule, f.Summary)
			}
			plan, err := advisor.ParsePlan([]byte(asJSON(t, a)))
			if err != nil {
				t.Fatal(err)
			}
			if err := advisor.CheckHost(plan, s.Inventory, s.Allowed); err != nil {
				t.Error(err)
			}
			for _, c := range plan.Changes {
				if _, err := advisor.Resolve(s.Inventory, c); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
