package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/netsteer/netsteer/apply"
)

// work is a transaction: it returns the answer, or a problem.
type work func(ctx context.Context) (any, *Problem)

// transact does the work and answers. Once begun it goes on when the client
// leaves: half a plan is worse than all of it or none. Prefer: respond-async
// (RFC 7240) gets 202 and the place to look, unless the work is done by then.
func (h *Handler) transact(w http.ResponseWriter, r *http.Request, actor string, do work) {
	type outcome struct {
		answer  any
		problem *Problem
	}
	done := make(chan outcome, 1)
	ctx := context.WithoutCancel(r.Context())
	began := h.now()
	h.jobs.Go(func() {
		answer, p := do(ctx)
		done <- outcome{answer, p}
	})
	var look <-chan time.Time
	if prefersAsync(r.Header) {
		ticker := time.NewTicker(lookInterval)
		defer ticker.Stop()
		look = ticker.C
	}
	for {
		select {
		case o := <-done:
			if o.problem != nil {
				o.problem.write(w)
				return
			}
			writeDocument(w, http.StatusOK, "application/json", o.answer)
			return
		case <-look:
			if t := h.running(actor, began); t != nil {
				w.Header().Set("Location", "/transactions/"+t.ID)
				w.Header().Set("Preference-Applied", "respond-async")
				writeDocument(w, http.StatusAccepted, "application/json", t)
				return
			}
		}
	}
}

// lookInterval is how often the journal is asked for the transaction that a
// client does not want to wait for.
const lookInterval = 5 * time.Millisecond

// running finds the actor's transaction that began since then; nil: it is not
// recorded yet. There is never more than one at work.
func (h *Handler) running(actor string, since time.Time) *apply.Transaction {
	all, err := h.o.Engine.Unfinished()
	if err != nil {
		return nil
	}
	for i := range all {
		started, err := time.Parse(time.RFC3339, all[i].Started)
		if err == nil && all[i].Actor == actor && !started.Before(since.Truncate(time.Second)) {
			return &all[i]
		}
	}
	return nil
}

// prefersAsync reads Prefer headers: respond-async, wait=10.
func prefersAsync(header http.Header) bool {
	for _, line := range header.Values("Prefer") {
		for preference := range strings.SplitSeq(line, ",") {
			name, _, _ := strings.Cut(preference, ";")
			if strings.EqualFold(strings.TrimSpace(name), "respond-async") {
				return true
			}
		}
	}
	return false
}

// settled logs a transaction that has written, and lets the watcher see what.
func (h *Handler) settled(t *apply.Transaction) {
	if t.ID == "" {
		return
	}
	level := slog.LevelInfo
	if t.State != apply.Committed {
		level = slog.LevelWarn
	}
	h.o.Logger.Log(context.Background(), level, "A transaction has ended",
		"transaction", t.ID, "operation", t.Operation, "actor", t.Actor, "state", t.State, "changes", len(t.Changes), "reason", t.Reason)
	h.o.Watcher.Changed()
}

// failure is the problem of a transaction that did not do what was asked for;
// nil if it did.
func failure(t *apply.Transaction) *Problem {
	var p *Problem
	switch t.State {
	case apply.RolledBack:
		p = problem(problemRolledBack, "all is as before: "+t.Reason)
	case apply.Failed:
		p = problem(problemUndoIncomplete, fmt.Sprintf("not all could be undone: %s; see transaction %s", t.Reason, t.ID))
	default:
		return nil
	}
	p.Transaction = t
	return p
}

// refusalWord is the word of an Engine's error, "" for nil.
func refusalWord(err error) string {
	if err == nil {
		return ""
	}
	if refused := new(apply.Refused); errors.As(err, &refused) && statuses[string(refused.Word)] != 0 {
		return string(refused.Word)
	}
	return problemInternal
}
