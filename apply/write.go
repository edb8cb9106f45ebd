package apply

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
)

// run makes a transaction of preflighted changes: the record with every former
// value is durable before the first write; then all changes are made, or those
// made are undone. The error is a *Refused: nothing was written.
func (e *Engine) run(ctx context.Context, t *Transaction) (*Transaction, error) {
	t.State = Applying
	if err := e.journal.save(t); err != nil {
		e.journal.remove(t.ID) // it may be there in spite of the error, and would pass for a crash
		return nil, noState(err)
	}
	e.show(t)
	defer e.show(nil)

	touched, err := e.write(ctx, t)
	if err != nil {
		e.undo(t, touched, err.Error())
		e.endLogged(t) // without a record it is a crash to the next start, with nothing left to undo
		return t, nil
	}
	t.State = Committed
	if t.Operation == Apply {
		t.Verify = &Verify{Verdict: "skipped"}
	}
	if err := e.end(t); err != nil {
		// What the journal does not know as committed is undone after a crash, so
		// it is undone now.
		t.Verify = nil
		e.undo(t, touched, e.unrecorded(t.Operation, err))
		_ = e.end(t) // most likely fails as before, and the reason says so
	}
	return t, nil
}

// unrecorded is the reason of what was undone because its end could not be
// recorded.
func (e *Engine) unrecorded(op Operation, err error) string {
	why := fmt.Sprintf("the %s could not be recorded", op)
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		return fmt.Sprintf("%s: no space left: make room in %s, or choose a folder with --state.dir", why, e.o.Dir)
	}
	return fmt.Sprintf("%s: %v", why, err)
}

// endLogged is end where nothing else would tell that it failed.
func (e *Engine) endLogged(t *Transaction) {
	if err := e.end(t); err != nil {
		e.o.Logger.Error("journal: the end of a transaction cannot be recorded", "transaction", t.ID, "state", t.State, "err", err)
	}
}

// end makes the last state durable.
func (e *Engine) end(t *Transaction) error {
	t.Ended = timestamp(e.o.Now())
	if err := e.journal.save(t); err != nil {
		return err
	}
	e.journal.prune()
	return nil
}

// write makes the planned changes in their order and stops at the first that
// fails. touched are those that a write was tried of.
func (e *Engine) write(ctx context.Context, t *Transaction) (touched []int, err error) {
	for i := range t.Changes {
		c := &t.Changes[i]
		if !c.planned() {
			continue
		}
		if err := context.Cause(ctx); err != nil {
			return touched, fmt.Errorf("interrupted: %w", err)
		}
		touched = append(touched, i)
		if err := e.writeOne(c); err != nil {
			return touched, err
		}
		e.show(t)
	}
	return touched, nil
}

// planned: to be written, and nothing is known to have come of it yet.
func (c *Change) planned() bool { return c.Result == NotTried && c.Error == nil && c.Current != nil }

// writeOne writes, reads back and compares by meaning.
func (e *Engine) writeOne(c *Change) error {
	s, want := c.Setting(), host.Value(c.Proposed)
	if err := e.o.Setter.Set(s, want); err != nil {
		return e.failed(c, s, "", err)
	}
	stored, err := e.o.Setter.Get(s)
	if err != nil {
		return e.failed(c, s, "read back: ", err)
	}
	c.Stored = new(string(stored))
	same := sameValue(c.Kind, want, stored)
	switch {
	case !same && sameValue(c.Kind, host.Value(*c.Current), stored):
		c.Result = NoEffect
		return c.noEffect(s, fmt.Errorf("%q was written without an error, and the kernel still shows %q", want, stored))
	case !holds(c.Kind, want, stored):
		return c.noEffect(s, fmt.Errorf("%q was written, and the kernel shows %q", want, stored))
	}
	c.Result = Applied
	if lost := trimmed(want, stored); isSet(c.Kind) && lost != "" {
		c.Error = &ChangeError{Code: CodeTrimmed, Detail: fmt.Sprintf("the kernel took out CPUs %s, which are offline or isolated", lost)}
	}
	if c.Kind == host.IRQAffinity && e.pending(s, stored) {
		c.Result = Pending
	}
	return nil
}

// failed records a failure of a change. Of what has vanished since it was
// checked, the path that cannot be opened says too little.
func (e *Engine) failed(c *Change, s host.Setting, doing string, err error) error {
	c.Error = changeError(c.Kind, err)
	if c.Error.Code == CodeGone {
		c.Error.Detail = e.notThere(s) + " is not there any more"
		return errors.New(c.Error.Detail)
	}
	return fmt.Errorf("%s: %s%w", s, doing, err)
}

// notThere names what is gone with a setting: the device if its first queue,
// which every device has, is gone as well.
func (e *Engine) notThere(s host.Setting) string {
	first := host.Setting{Kind: host.RPSCPUs, Device: s.Device, Direction: host.RX}
	if _, err := e.o.Setter.Get(first); s.Device != "" && errors.Is(err, fs.ErrNotExist) {
		return s.Device
	}
	return s.String()
}

func (c *Change) noEffect(s host.Setting, err error) error {
	c.Error = &ChangeError{Code: CodeNoEffect, Detail: err.Error()}
	return fmt.Errorf("%s: %w", s, err)
}

// pending: the vector is programmed elsewhere still. Without interrupt remapping
// it moves with its next interrupt, for an idle one never: that is no failure.
func (e *Engine) pending(s host.Setting, stored host.Value) bool {
	effective, ok := e.o.Setter.Effective(s)
	if !ok {
		return false
	}
	at, errAt := cpuset.ParseList(string(effective))
	to, errTo := cpuset.ParseList(string(stored))
	return errors.Join(errAt, errTo) == nil && !at.SubsetOf(to)
}
