package apply

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/netsteer/netsteer/advisor"
	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
)

// RollbackRequest asks for the former values of a transaction.
type RollbackRequest struct {
	ID    string // "" is the last committed apply
	Force bool   // also where a target no longer holds what was written, or a later transaction wrote it
	Actor string
}

// Rollback writes the former values of a transaction back, as a transaction of
// its own, with results and errors like Apply's. What no longer holds the written
// value is left alone (CodeChanged) unless forced; where that is so of all and
// nothing is undone, the Transaction has no id, and its Reason says so. It works for records of an
// earlier boot too: settings are named by device and queue.
func (e *Engine) Rollback(ctx context.Context, r RollbackRequest) (*Transaction, error) {
	if e.o.Setter != nil && !e.journal.exists() {
		_, err := choose(nil, r.ID) // the lock would make the folder
		return nil, err
	}
	unlock, err := e.begin()
	if err != nil {
		return nil, err
	}
	defer unlock()
	all, err := e.journal.list()
	if err != nil {
		return nil, noState(err)
	}
	target, err := choose(all, r.ID)
	if err != nil {
		return nil, err
	}
	if later := laterWriter(all, target); later != nil && !r.Force {
		return nil, refuse(WordRefused, "transaction %s wrote the same settings later: roll that one back first, or force", later.ID)
	}
	t, err := e.transaction(all, Rollback, r.Actor)
	if err != nil {
		return nil, err
	}
	t.Undoes, t.Profile = target.ID, target.Profile
	if t.Changes, err = e.reverse(target, r.Force); err != nil {
		return nil, err
	}
	t.Reason = leftAlone(t.Changes)
	if !slices.ContainsFunc(t.Changes, func(c Change) bool { return c.planned() }) {
		t.nothing("nothing to undo: all is as before already")
	} else if t, err = e.run(ctx, t); err != nil {
		return nil, err
	}
	if t.State == Committed && target.State != Committed {
		e.close(target, t)
	}
	return t, nil
}

// leftAlone says which changes are not undone, "" if none.
func leftAlone(changes []Change) string {
	var left, planned int
	why := ""
	for i := range changes {
		c := &changes[i]
		if c.planned() {
			planned++
		}
		if c.Error == nil {
			continue
		}
		left++
		switch {
		case why != "":
		case c.Error.Code == CodeGone:
			why = c.Error.Detail
		default:
			why = c.Setting().String() + " holds another value than was written: --force writes it back anyway"
		}
	}
	switch {
	case left == 0:
		return ""
	case left > 1:
		why += fmt.Sprintf(" (and %d more)", left-1)
	}
	if planned == 0 {
		return "nothing was undone: " + why
	}
	return fmt.Sprintf("%d of %d left alone: %s", left, len(changes), why)
}

// close ends a record that a crash or an incomplete undo had left.
func (e *Engine) close(target, by *Transaction) {
	if slices.ContainsFunc(by.Changes, func(c Change) bool { return c.Error != nil && c.Error.Code == CodeChanged }) {
		return
	}
	target.State, target.Reason = RolledBack, "rolled back on request"
	e.endLogged(target) // or the target stays as it was
}

// choose finds the transaction to undo.
func choose(all []Transaction, id string) (*Transaction, error) {
	if id != "" {
		i := slices.IndexFunc(all, func(t Transaction) bool { return t.ID == id })
		switch {
		case i < 0:
			return nil, refuse(WordUnknownTransaction, "there is no transaction %q", clip(id))
		case all[i].State == RolledBack:
			return nil, refuse(WordRefused, "transaction %s is rolled back already: %s", id, all[i].Reason)
		}
		if by := undoneBy(all, &all[i]); by != nil {
			return nil, refuse(WordRefused, "transaction %s is rolled back already, by %s", id, by.ID)
		}
		return &all[i], nil
	}
	i := slices.IndexFunc(all, func(t Transaction) bool { return t.Operation != Rollback && t.State == Committed })
	if i < 0 {
		return nil, refuse(WordUnknownTransaction, "there is no committed transaction to roll back")
	}
	if by := undoneBy(all, &all[i]); by != nil {
		return nil, refuse(WordRefused, "the last transaction, %s, is rolled back already, by %s: name an earlier one by its id", all[i].ID, by.ID)
	}
	return &all[i], nil
}

// undoneBy is the committed rollback of t that still stands, nil if there is none.
func undoneBy(all []Transaction, t *Transaction) *Transaction {
	for i := range all {
		by := &all[i]
		if by.ID == t.ID {
			return nil // newest first: the rest is earlier
		}
		if by.Operation == Rollback && by.Undoes == t.ID && by.State == Committed && undoneBy(all, by) == nil {
			return by
		}
	}
	return nil
}

// laterWriter is a transaction after t that wrote one of its settings and still
// stands. A pair of later ones that undo each other is as if it had not been.
func laterWriter(all []Transaction, t *Transaction) *Transaction {
	wrote := map[host.Setting]bool{}
	for i := range t.Changes {
		wrote[t.Changes[i].Setting()] = true
	}
	for i := range all {
		later := &all[i]
		if later.ID == t.ID {
			break // newest first: the rest is earlier
		}
		if later.State != Committed && later.State.Final() && later.State != Failed {
			continue
		}
		if undoneBy(all, later) != nil || undoesLater(all, later, t) {
			continue
		}
		for j := range later.Changes {
			if c := &later.Changes[j]; c.mayHold() && wrote[c.Setting()] {
				return later
			}
		}
	}
	return nil
}

// undoesLater: by is a rollback of something after t.
func undoesLater(all []Transaction, by, t *Transaction) bool {
	if by.Operation != Rollback {
		return false
	}
	undone := slices.IndexFunc(all, func(x Transaction) bool { return x.ID == by.Undoes })
	self := slices.IndexFunc(all, func(x Transaction) bool { return x.ID == t.ID })
	return undone >= 0 && undone < self
}

// reverse makes the changes that undo a transaction, in the reverse order of its
// writes, each checked like those of an apply.
func (e *Engine) reverse(target *Transaction, force bool) ([]Change, error) {
	changes := []Change{}
	for i := range slices.Backward(target.Changes) {
		c := &target.Changes[i]
		if !c.mayHold() {
			continue
		}
		back, err := e.reverseOne(c, force)
		if err != nil {
			return nil, err
		}
		changes = append(changes, back)
	}
	return changes, nil
}

func (e *Engine) reverseOne(c *Change, force bool) (Change, error) {
	s, old := c.Setting(), host.Value(*c.Current)
	back := Change{Result: NotTried, Change: advisor.Change{
		ID: c.ID, Stage: c.Stage, Kind: c.Kind, Device: c.Device, Direction: c.Direction, Queue: c.Queue,
		Target: c.Target, Proposed: string(old), Reason: "the value before", Disruptive: c.Disruptive,
	}}
	if err := named(&back.Change); err != nil { // a later release's record, or a hand in the journal
		return back, err
	}
	if set, err := cpuset.ParseList(string(old)); err == nil && isSet(c.Kind) {
		back.CPUs = set.Slice()
	}
	now, err := e.o.Setter.Get(s)
	if errors.Is(err, fs.ErrNotExist) {
		back.Error = changeError(c.Kind, err)
		back.Error.Detail = e.notThere(s) + " is not there"
		return back, nil
	}
	if err != nil {
		return back, cannotWrite(s, err)
	}
	back.Current = new(string(now))
	switch {
	case sameValue(c.Kind, now, old):
		back.Result = Unchanged
	case !c.wrote(now) && !force:
		back.Error = changedMeanwhile(c, now)
	default:
		if err := e.o.Setter.Check(s, old); err != nil {
			return back, cannotWrite(s, err)
		}
	}
	return back, nil
}
