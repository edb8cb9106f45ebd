package web

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/netsteer/netsteer/advisor"
	"github.com/netsteer/netsteer/apply"
	"github.com/netsteer/netsteer/host"
)

// The whole ritual: one POST without a body writes the plan's masks, the answer
// says what it left out and how to apply that, and /rollback puts every setting
// back.
func TestApplyAndRollback(t *testing.T) {
	var log bytes.Buffer
	s := newStand(t, func(o *Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	before := s.files(t)
	var plan advisor.Advice
	s.get(t, "/advice", &plan)

	var done ApplyAnswer
	s.post(t, "/apply", "", 200, &done)
	if done.State != apply.Committed || done.ID == "" || done.Actor != "http:@127.0.0.1" || done.Fingerprint != plan.Fingerprint || done.Profile != "balanced" {
		t.Errorf("%+v; want it committed by http:@127.0.0.1, of the plan that /advice gave", done.Transaction)
	}
	written := map[string]string{}
	for _, c := range done.Changes {
		if c.Result != apply.Applied && c.Result != apply.Pending {
			t.Errorf("%s is %s", c.ID, c.Result)
		}
		if c.Kind == host.RPSFlowCnt || c.Kind == host.RPSSockFlowEntries {
			t.Errorf("%s is of a kind that must be named", c.ID)
		}
		written[c.Target] = c.Proposed
	}
	if len(written) < 5 {
		t.Errorf("%d changes written of a host with faults everywhere", len(written))
	}
	var left []string
	for _, c := range plan.Changes {
		if _, ok := written[c.Target]; !ok {
			left = append(left, c.ID)
		}
	}
	if diff := cmp.Diff(left, done.Left); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}

	if line := log.String(); !strings.Contains(line, "transaction="+done.ID+" operation=apply actor=http:@127.0.0.1 state=committed") {
		t.Errorf("logged %q", line)
	}

	var list apply.List
	s.get(t, "/transactions", &list)
	if list.Schema != apply.ListSchema || len(list.Transactions) != 1 || list.Transactions[0].ID != done.ID {
		t.Errorf("transactions %+v", list)
	}
	var one apply.Transaction
	s.get(t, "/transactions/"+done.ID, &one)
	if diff := cmp.Diff(*done.Transaction, one); diff != "" {
		t.Errorf("the record differs from the answer:\n%s", diff)
	}

	var again ApplyAnswer
	s.post(t, "/apply", "", 200, &again)
	if again.ID != "" || len(again.Changes) != 0 && again.Changes[0].Result != apply.Unchanged {
		t.Errorf("a second apply: %+v; want nothing to change", again.Transaction)
	}

	var undone apply.Transaction
	s.post(t, "/rollback", fmt.Sprintf(`{"transaction":%q}`, done.ID), 200, &undone)
	if undone.State != apply.Committed || undone.Operation != apply.Rollback || undone.Undoes != done.ID {
		t.Errorf("rollback: %+v", undone)
	}
	after := s.files(t)
	for name := range after {
		if strings.TrimLeft(strings.TrimSpace(after[name]), "0,") != strings.TrimLeft(strings.TrimSpace(before[name]), "0,") {
			t.Errorf("%s is %q, was %q", name, after[name], before[name])
		}
	}
	var now advisor.Advice
	s.get(t, "/advice", &now)
	if now.Fingerprint != plan.Fingerprint {
		t.Error("after the rollback the plan is another than before")
	}
}

// The body that the answer offers applies what was left out, and leaves nothing.
func TestLeftBody(t *testing.T) {
	s := newStand(t, nil)
	var first, second ApplyAnswer
	s.post(t, "/apply", `{"devices":["eth1"],"kinds":["irq_affinity"]}`, 200, &first)
	for _, c := range first.Changes {
		if c.Device != "eth1" || c.Kind != host.IRQAffinity {
			t.Errorf("%s of %s was not asked for", c.Kind, c.Device)
		}
	}
	if first.LeftBody == nil || len(first.Left) == 0 {
		t.Fatalf("nothing is left: %+v", first)
	}
	var body strings.Builder
	if err := encode(&body, first.LeftBody); err != nil {
		t.Fatal(err)
	}
	s.post(t, "/apply", body.String(), 200, &second)
	if len(second.Left) != 0 || second.LeftBody != nil {
		t.Errorf("after %s there still is left: %v", body.String(), second.Left)
	}
	var plan advisor.Advice
	s.get(t, "/advice", &plan)
	if len(plan.Changes) != 0 {
		t.Errorf("%d changes are proposed after all were made", len(plan.Changes))
	}
}

// A dry run checks and shows everything, and writes neither settings nor a record.
func TestDryRun(t *testing.T) {
	s := newStand(t, nil)
	before := s.files(t)
	var answer ApplyAnswer
	s.post(t, "/apply", `{"dry_run":true}`, 200, &answer)
	if answer.State != apply.DryRun || answer.ID != "" || len(answer.Changes) < 5 {
		t.Errorf("%+v", answer.Transaction)
	}
	if s.setter.sets.Load() != 0 || !maps.Equal(before, s.files(t)) {
		t.Error("a dry run has written")
	}
	if entries, _ := os.ReadDir(filepath.Join(s.state, "transactions")); len(entries) != 0 {
		t.Errorf("a dry run has recorded %v", entries)
	}
}

// waiting makes the first write wait; begun is closed when it does.
func (s *stand) waiting() (begun chan struct{}, goOn func()) {
	begun, proceed := make(chan struct{}), make(chan struct{})
	first := true
	s.setter.on(&s.setter.set, func(host.Setting) error {
		if first { // one write at a time, under the Engine's lock
			first = false
			close(begun)
			<-proceed
		}
		return nil
	})
	return begun, func() { close(proceed) }
}

// Of two POSTs the second, sent while /transactions shows the first at work, is
// busy; the first commits though its client has left.
func TestBusyAndClientLeaves(t *testing.T) {
	s := newStand(t, nil)
	begun, goOn := s.waiting()
	ctx, leave := context.WithCancel(t.Context())
	first := make(chan int, 1)
	go func() {
		r := request("POST", "/apply", "")
		first <- s.ask(r.WithContext(local.Context(ctx))).Code
	}()
	<-begun
	leave()
	var list apply.List
	s.get(t, "/transactions", &list)
	if len(list.Transactions) != 1 || list.Transactions[0].State != apply.Applying {
		t.Errorf("while it is at work /transactions has %+v", list.Transactions)
	}
	for path, body := range map[string]string{"/apply": "", "/rollback": "{}"} {
		var p Problem
		s.post(t, path, body, 409, &p)
		if p.Type != "urn:netsteer:problem:busy" {
			t.Errorf("%s: %+v", path, p)
		}
	}
	goOn()
	<-first
	s.Wait()
	s.get(t, "/transactions", &list)
	if len(list.Transactions) != 1 || list.Transactions[0].State != apply.Committed {
		t.Errorf("after the client left: %+v; want it committed", list.Transactions)
	}
}

// Prefer: respond-async is answered while the transaction is at work, with the
// place that shows its progress and its end.
func TestAsync(t *testing.T) {
	s := newStand(t, nil)
	begun, goOn := s.waiting()
	r := request("POST", "/apply", "")
	r.Header.Set("Prefer", "wait=1, respond-async")
	w := s.ask(r)
	<-begun
	location := w.Header().Get("Location")
	if w.Code != http.StatusAccepted || !strings.HasPrefix(location, "/transactions/2") || w.Header().Get("Preference-Applied") != "respond-async" {
		t.Fatalf("status %d, headers %v", w.Code, w.Header())
	}
	var running apply.Transaction
	s.get(t, location, &running)
	if running.State.Final() {
		t.Errorf("state %s while a write waits", running.State)
	}
	goOn()
	s.Wait()
	s.get(t, location, &running)
	if running.State != apply.Committed {
		t.Errorf("at last the state is %s", running.State)
	}
}

// A write that fails takes all back: 422 with the transaction; an undo that fails
// as well: 500 with it.
func TestFailures(t *testing.T) {
	for name, tt := range map[string]struct {
		fail    func(n int) bool // of the nth write
		status  int
		problem string
		state   apply.State
	}{
		"rolled back":     {func(n int) bool { return n == 3 }, 422, "rolled-back", apply.RolledBack},
		"undo incomplete": {func(n int) bool { return n >= 3 }, 500, "undo-incomplete", apply.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStand(t, nil)
			n := 0
			s.setter.on(&s.setter.set, func(of host.Setting) error {
				if n++; tt.fail(n) {
					return fmt.Errorf("%s: %w", of, os.ErrInvalid)
				}
				return nil
			})
			var p Problem
			s.post(t, "/apply", "", tt.status, &p)
			if p.Type != "urn:netsteer:problem:"+tt.problem || p.Transaction == nil || p.Transaction.State != tt.state || p.Transaction.ID == "" {
				t.Errorf("%+v", p)
			}
			counts, err := s.o.Engine.Counts()
			if err != nil || counts[strings.ReplaceAll(string(tt.state), "-", "_")].N != 1 {
				t.Errorf("counts %v, %v", counts, err)
			}
		})
	}
}

// A fingerprint outlives ten minutes of traffic; one changed mask makes it 409
// with the new plan, and nothing is written.
func TestFingerprint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, nil)
		interrupts := s.files(t)["proc/interrupts"]
		softirqs := s.files(t)["proc/softirqs"]
		var plan advisor.Advice
		s.get(t, "/advice", &plan)
		for i := range 120 { // jitter: counters move, at times much and at times not
			n := (i*7919 + 13) % 97
			s.write(t, "proc/interrupts", strings.ReplaceAll(interrupts, " 0 ", fmt.Sprintf(" %d ", n)))
			s.write(t, "proc/softirqs", strings.ReplaceAll(softirqs, " 0 ", fmt.Sprintf(" %d ", i*n)))
			time.Sleep(5 * time.Second)
		}
		var now advisor.Advice
		s.get(t, "/advice", &now)
		if now.Fingerprint != plan.Fingerprint {
			t.Fatalf("ten minutes later the plan is another:\n%s", cmp.Diff(plan.Changes, now.Changes))
		}
		var dry ApplyAnswer
		body := fmt.Sprintf(`{"fingerprint":%q}`, plan.Fingerprint)
		s.post(t, "/apply", strings.Replace(body, "}", `,"dry_run":true}`, 1), 200, &dry)

		i := slices.IndexFunc(plan.Changes, func(c advisor.Change) bool { return c.Kind == host.XPSCPUs })
		s.write(t, strings.TrimPrefix(plan.Changes[i].Target, "/"), "01\n")
		before := s.files(t)
		var p Problem
		s.post(t, "/apply", body, 409, &p)
		if p.Type != "urn:netsteer:problem:plan-changed" || p.Advice == nil || p.Advice.Fingerprint == plan.Fingerprint {
			t.Fatalf("%+v; want plan-changed with the new plan", p)
		}
		if s.setter.sets.Load() != 0 || !maps.Equal(before, s.files(t)) {
			t.Error("something was written")
		}
		var done ApplyAnswer
		s.post(t, "/apply", fmt.Sprintf(`{"fingerprint":%q}`, p.Advice.Fingerprint), 200, &done)
		if done.State != apply.Committed || done.Fingerprint != p.Advice.Fingerprint {
			t.Errorf("the new plan: %+v", done.Transaction)
		}
	})
}

// The plan that was read is applied, not a newer one, as long as what is selected
// of it holds: here a change that nobody selected has gone.
func TestRememberedPlanIsApplied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, nil)
		var plan advisor.Advice
		s.get(t, "/advice", &plan)
		i := slices.IndexFunc(plan.Changes, func(c advisor.Change) bool { return c.Kind == host.RPSCPUs })
		s.write(t, strings.TrimPrefix(plan.Changes[i].Target, "/"), "00\n")
		var done ApplyAnswer
		s.post(t, "/apply", fmt.Sprintf(`{"fingerprint":%q,"kinds":["irq_affinity"]}`, plan.Fingerprint), 200, &done)
		if done.State != apply.Committed || done.Fingerprint != plan.Fingerprint {
			t.Errorf("%+v", done.Transaction)
		}
	})
}

// The server remembers sixteen plans.
func TestPlanMemory(t *testing.T) {
	var p plans
	for i := range 20 {
		p.remember(&advisor.Advice{Fingerprint: fmt.Sprint(i)})
		p.remember(&advisor.Advice{Fingerprint: "4"}) // read again and again
	}
	for i := range 20 {
		want := i >= 5 || i == 4
		if got := p.find(fmt.Sprint(i)) != nil; got != want {
			t.Errorf("plan %d: remembered %v, want %v", i, got, want)
		}
	}
}
