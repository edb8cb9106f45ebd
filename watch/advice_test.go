package watch_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/netsteer/netsteer/apply"
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/skew"
	"github.com/netsteer/netsteer/watch"
)

// Advice is there with the first Sample; what metrics show of it comes after
// three windows, and the causes include placement.
func TestAdvice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newMachine(t).run(t, func(c *watch.Config) {
			c.Transactions = func() (map[string]apply.Count, error) { return map[string]apply.Count{"applied": {N: 7}}, nil }
		})
		time.Sleep(time.Second)
		s, release := scrape(t, w, time.Second)
		if s.Advice == nil || len(s.Advice.Changes) == 0 || s.Held == nil || len(s.Held.Findings) != 0 {
			t.Fatalf("advice %v, held %v; want a plan, and nothing of it held yet", s.Advice, s.Held)
		}
		if s.Transactions["applied"].N != 7 {
			t.Errorf("transactions %v", s.Transactions)
		}
		want := 0
		for _, c := range s.Advice.Changes {
			if c.Device == "eth1" && c.Kind == host.IRQAffinity {
				want++
			}
		}
		release()
		time.Sleep(170 * time.Second)
		s, release = scrape(t, w, time.Second)
		if len(s.Held.Findings) != 0 {
			t.Error("findings show before three windows have passed")
		}
		release()
		time.Sleep(15 * time.Second)
		s, release = scrape(t, w, time.Second)
		defer release()
		stacked := slices.ContainsFunc(s.Held.Findings, func(f watch.HeldFinding) bool {
			return f.Device == "eth1" && f.Rule == "irq-stacked" && f.N == 1
		})
		if got := s.Held.Changes[watch.ChangeKey{Device: "eth1", Kind: host.IRQAffinity}]; !stacked || got != want || want == 0 {
			t.Errorf("findings %v, %d changes of eth1's vectors; want irq-stacked and %d", s.Held.Findings, got, want)
		}
	})
}

// The cause placement of the advisor shows in State's Rates, though the recorded
// counters stand still: settings alone tell it of a host with traffic.
func TestPlacementShows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t)
		w := m.run(t, nil)
		for i := range 12 { // traffic on every queue of eth1
			m.nics.add("eth1", uint64(i+1)*100_000)
			time.Sleep(5 * time.Second)
		}
		s, release := scrape(t, w, time.Second)
		defer release()
		if s.Rates == nil {
			t.Fatal("no rates after a minute")
		}
		if got := s.Rates.Devices[s.Inventory.Device("eth1").ID].RX.Cause; got != skew.CausePlacement {
			t.Errorf("cause of eth1 is %s, want placement", got)
		}
	})
}

// Fresh reads settings that Latest does not know yet, at most once a second;
// Changed begins the window anew.
func TestFreshAndChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t)
		w := m.run(t, nil)
		time.Sleep(41 * time.Second)
		const file = "sys/devices/virtual/net/veth0/queues/rx-1/rps_cpus"
		rps := func(s *watch.State) string { return s.Inventory.Device("veth0").RX[1].RPS.Set.String() }
		s, release, err := w.Latest()
		if err != nil || rps(s) == "2" {
			t.Fatalf("rps_cpus is 2 before it is written, or %v", err)
		}
		release()
		m.write(t, file, "04\n")
		if s, release, err = w.Fresh(t.Context(), time.Second); err != nil || rps(s) != "2" || s.Rates == nil {
			t.Errorf("Fresh: rps_cpus %q, rates %v, %v; want 2 and the window as it was", rps(s), s.Rates, err)
		}
		release()
		s, release = scrape(t, w, time.Second)
		if rps(s) != "2" || w.Inventory() != s.Inventory {
			t.Errorf("the next scrape has rps_cpus %q", rps(s))
		}
		release()
		m.write(t, file, "08\n")
		if s, release, err = w.Fresh(t.Context(), time.Second); err != nil || rps(s) != "2" {
			t.Errorf("within a second Fresh has read again: rps_cpus %q, %v", rps(s), err)
		}
		release()
		if s, release, err = w.Fresh(t.Context(), 0); err != nil || rps(s) != "3" || s.Rates == nil {
			t.Errorf("Fresh of now: rps_cpus %q, rates %v, %v; want 3 and the window as it was", rps(s), s.Rates, err)
		}
		release()
		w.Changed()
		s, release = scrape(t, w, time.Second)
		if rps(s) != "3" || s.Rates != nil || s.Place == nil {
			t.Errorf("after Changed: rps_cpus %q, rates %v, place %v; want 3 and a new window", rps(s), s.Rates, s.Place)
		}
		release()
		time.Sleep(40 * time.Second)
		s, release = scrape(t, w, time.Second)
		defer release()
		if s.Rates == nil || s.Rates.Window > 45*time.Second {
			t.Errorf("40 s later: rates %v, want a window of those", s.Rates)
		}
	})
}

// A journal that cannot be read is said, and its counts are absent.
func TestTransactionsUnreadable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newMachine(t).run(t, func(c *watch.Config) {
			c.Transactions = func() (map[string]apply.Count, error) { return nil, errors.New("permission denied") }
		})
		s, release := scrape(t, w, time.Second)
		defer release()
		if s.Transactions != nil || s.Advice == nil {
			t.Errorf("transactions %v, advice %v", s.Transactions, s.Advice)
		}
	})
}
