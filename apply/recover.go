package apply

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/netsteer/netsteer/host"
)

// recoverable is how old a record may be for recovery to undo it. Later the host
// has been seen and used as it is.
const recoverable = 10 * time.Minute

// Recover undoes what a crash left half done: takes the lock, writes former
// values back where the written ones still are, and returns the records it
// ended and those it only reports (State tells which). Apply and Rollback do the
// same first.
func (e *Engine) Recover(ctx context.Context) ([]Transaction, error) {
	unlock, err := lock(e.o.Dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return e.recover()
}

// recover is Recover under the lock: no transaction is running, so a record that
// is not final is a crash's.
func (e *Engine) recover() ([]Transaction, error) {
	all, err := e.journal.list()
	if err != nil {
		return nil, noState(err)
	}
	var left []Transaction
	for i := range all {
		t := &all[i]
		if t.State.Final() {
			continue
		}
		switch {
		case t.BootID != "" && e.o.BootID != "" && t.BootID != e.o.BootID:
			// None of the kinds outlives its kernel: there is nothing to undo.
			t.State, t.Reason = RolledBack, "interrupted; the host was restarted since, which undid it"
		case e.o.ReportOnly, e.o.Setter == nil, e.o.Now().Sub(t.started()) > recoverable:
			e.o.Logger.Warn("a transaction was interrupted and is not undone; roll it back by its id, if its values are not wanted", "transaction", t.ID, "started", t.Started)
			left = append(left, *t)
			continue
		default:
			e.undoLeft(t)
		}
		e.o.Logger.Warn("an interrupted transaction was ended", "transaction", t.ID, "state", t.State, "reason", t.Reason)
		if err := e.end(t); err != nil {
			return nil, noState(err)
		}
		left = append(left, *t)
	}
	return left, nil
}

// undoLeft undoes an interrupted transaction, of which nobody knows how far it
// came: former values go back where the written ones are; what holds something
// else was changed by others since, and is theirs.
func (e *Engine) undoLeft(t *Transaction) {
	failed, others := 0, 0
	for i := range slices.Backward(t.Changes) {
		c := &t.Changes[i]
		if !c.mayHold() {
			continue
		}
		now, err := e.o.Setter.Get(c.Setting())
		if err == nil && !c.wrote(now) && !sameValue(c.Kind, now, host.Value(*c.Current)) {
			c.Stored, c.Error = new(string(now)), changedMeanwhile(c, now)
			others++
			continue
		}
		if !e.undoOne(c) {
			failed++
		}
	}
	cause := "interrupted"
	if others > 0 {
		cause = fmt.Sprintf("interrupted; %d settings were changed by others meanwhile and left alone", others)
	}
	t.settle(failed, cause)
}

// mayHold: the target may hold what the transaction wrote.
func (c *Change) mayHold() bool {
	return c.Current != nil && (c.Result == Applied || c.Result == Pending || c.Result == UndoFailed || c.planned())
}

// wrote reports whether a value is what the change wrote, or what the kernel
// made of it.
func (c *Change) wrote(now host.Value) bool {
	return holds(c.Kind, host.Value(c.Proposed), now) || c.Stored != nil && sameValue(c.Kind, host.Value(*c.Stored), now)
}

func changedMeanwhile(c *Change, now host.Value) *ChangeError {
	return &ChangeError{Code: CodeChanged, Detail: fmt.Sprintf("holds %q, neither the written %q nor the former %q: left alone", now, c.Proposed, *c.Current)}
}

// Unfinished returns the records that are not final: the running transaction's,
// and those that a crash left.
func (e *Engine) Unfinished() ([]Transaction, error) {
	all, err := e.List()
	return slices.DeleteFunc(all, func(t Transaction) bool { return t.State.Final() }), err
}
