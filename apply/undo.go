package apply

import (
	"fmt"
	"slices"

	"github.com/netsteer/netsteer/host"
)

// undoTries: what cannot be undone leaves the machine half done, so a passing
// failure gets another chance.
const undoTries = 3

// undo writes the former values of the touched changes back, last one first,
// and sets the transaction's state, with the cause as its reason. It writes over
// whatever a target holds: moments ago that was this transaction's own.
func (e *Engine) undo(t *Transaction, touched []int, cause string) {
	failed := 0
	for _, i := range slices.Backward(touched) {
		if !e.undoOne(&t.Changes[i]) {
			failed++
		}
		e.show(t)
	}
	t.settle(failed, cause)
}

// settle is the state after an undo.
func (t *Transaction) settle(failed int, cause string) {
	t.State, t.Reason = RolledBack, cause
	if failed > 0 {
		t.State = Failed
		t.Reason = fmt.Sprintf("undo incomplete, %d settings are not as before: %s", failed, cause)
	}
}

// undoOne writes one former value back and reports success. A target that has
// vanished is as good as undone: what comes back under its name comes with
// values of its own.
func (e *Engine) undoOne(c *Change) bool {
	s, old := c.Setting(), host.Value(*c.Current)
	var err error
	for range undoTries {
		var now host.Value
		if now, err = e.restore(s, old); err == nil {
			c.Stored = new(string(now))
			if c.Result != NoEffect {
				c.Result = Undone
			}
			if c.Error != nil && c.Error.Code == CodeTrimmed {
				c.Error = nil // was of the value that is no more there
			}
			return true
		}
	}
	if _, gone := e.o.Setter.Get(s); gone != nil && codeOf(c.Kind, gone) == CodeGone {
		c.Result, c.Stored, c.Error = Undone, nil, changeError(c.Kind, gone)
		c.Error.Detail = e.notThere(s) + " is not there any more"
		return true
	}
	c.Result = UndoFailed
	c.Error = changeError(c.Kind, err)
	c.Error.Code = CodeUndo
	if now, err := e.o.Setter.Get(s); err == nil {
		c.Stored = new(string(now))
	}
	return false
}

// restore writes a former value unless it is there already, and reads it back. It
// must be that very value: a mask that the kernel trims, for a CPU that is
// offline by now, is not as before.
func (e *Engine) restore(s host.Setting, old host.Value) (host.Value, error) {
	if now, err := e.o.Setter.Get(s); err == nil && sameValue(s.Kind, now, old) {
		return now, nil
	}
	if err := e.o.Setter.Set(s, old); err != nil {
		return "", err
	}
	now, err := e.o.Setter.Get(s)
	if err != nil {
		return "", err
	}
	if !sameValue(s.Kind, old, now) {
		return "", fmt.Errorf("%s: %q was written back, and the kernel shows %q", s, old, now)
	}
	return now, nil
}
