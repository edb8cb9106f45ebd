package apply

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/netsteer/netsteer/advisor"
	"github.com/netsteer/netsteer/host"
)

// Options are what an Engine works with.
type Options struct {
	// Dir is --state.dir: it holds lock, transactions/ and counts.json, and is
	// made when the first transaction needs it.
	Dir string
	// Setter writes. nil: this process only reads the journal, and refuses the rest.
	Setter Setter
	// Inventory is the machine as it is now: values are checked against its CPUs,
	// devices and rivals before the first write.
	Inventory func() (*host.Inventory, error)
	BootID    string           // /proc/sys/kernel/random/boot_id, "" if unknown
	Now       func() time.Time // nil: time.Now
	Logger    *slog.Logger     // nil: silent
	// ReportOnly: what a crash left is reported and not undone
	// (--advisor.recover=report).
	ReportOnly bool
}

// Engine makes transactions. It is safe for concurrent use: of two transactions
// at once, in one process or in several, the second is refused as busy.
type Engine struct {
	o       Options
	journal journal

	mu       sync.Mutex
	running  *Transaction // a copy, as far as it has come
	rejected Count
	seen     map[string]outcome // of records already read, by id
}

// New returns an Engine. It touches nothing.
func New(o Options) *Engine {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	return &Engine{o: o, journal: journal{dir: o.Dir, log: o.Logger}}
}

// Request asks for the selected changes of a plan.
type Request struct {
	// Advice, if not nil, is the plan the changes are from: the record keeps its profile.
	Advice  *advisor.Advice
	Changes []advisor.Change // as selected
	Left    []string         // ids of those that were not
	Actor   string           // http:alice@192.0.2.7, cli:root

	DryRun          bool // everything up to the first write, and no record
	AllowDisruptive bool
	AllowRival      bool // move vectors though another program does as well
	SkipMissing     bool // leave out what is not there, instead of refusing
	// Fingerprint, if not empty, is that of the plan: each target must still hold
	// the change's Current. Without it Current is not read.
	Fingerprint string
}

// Apply makes all changes or none. The error is a *Refused, and then nothing was
// written. Otherwise the Transaction's state tells: Committed, RolledBack (all
// is as before), Failed (what could not be undone has the result UndoFailed) or
// DryRun. Where nothing had to be written it is Committed without an id. A
// cancelled context undoes what was written.
func (e *Engine) Apply(ctx context.Context, r Request) (*Transaction, error) {
	t, err := e.apply(ctx, &r)
	if err != nil && !r.DryRun {
		e.Reject()
	}
	return t, err
}

func (e *Engine) apply(ctx context.Context, r *Request) (*Transaction, error) {
	if r.DryRun {
		t, err := e.plan(nil, r)
		if err == nil {
			t.nothing(t.idle())
			t.State = DryRun
		}
		return t, err
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
	t, err := e.plan(all, r)
	if err != nil {
		return nil, err
	}
	if idle := t.idle(); idle != "" {
		t.nothing(idle)
		return t, nil
	}
	return e.run(ctx, t)
}

// begin is the first step of every transaction: the lock, then what a crash left.
func (e *Engine) begin() (unlock func(), err error) {
	if e.o.Setter == nil {
		return nil, refuse(WordRefused, "this process only reads: it was started without leave to write settings")
	}
	if unlock, err = lock(e.o.Dir); err != nil {
		return nil, err
	}
	if _, err := e.recover(); err != nil {
		unlock()
		return nil, err
	}
	return unlock, nil
}

// plan is the transaction as it is before the first write: everything checked.
func (e *Engine) plan(all []Transaction, r *Request) (*Transaction, error) {
	if e.o.Setter == nil {
		return nil, refuse(WordRefused, "this process only reads: it was started without leave to write settings")
	}
	inv, err := e.o.Inventory()
	if err != nil {
		return nil, refuse(WordRefused, "the machine cannot be read: %w", err)
	}
	t, err := e.transaction(all, Apply, r.Actor)
	if err != nil {
		return nil, err
	}
	t.Fingerprint, t.Left = r.Fingerprint, r.Left
	if r.Advice != nil {
		t.Profile = r.Advice.Profile
	}
	if t.Changes, err = e.preflight(inv, r); err != nil {
		return nil, err
	}
	t.Reason = leftToRivals(inv, t.Changes)
	return t, nil
}

// transaction is a new record. Records are ordered by their start, so one never
// starts before an earlier one, whatever the clock does.
func (e *Engine) transaction(all []Transaction, op Operation, actor string) (*Transaction, error) {
	at := e.o.Now().UTC()
	if len(all) > 0 {
		if last := all[0].started(); !at.After(last) {
			at = last.Add(time.Microsecond)
		}
	}
	id, err := newID(at, all)
	if err != nil {
		return nil, refuse(WordRefused, "no transaction id: %w", err)
	}
	return &Transaction{
		Schema: TransactionSchema, ID: id, Operation: op, State: Applying,
		Started: timestamp(at), Actor: actor, BootID: e.o.BootID, Changes: []Change{},
	}, nil
}

// idle says why a checked transaction has nothing to write; "": it has.
func (t *Transaction) idle() string {
	if slices.ContainsFunc(t.Changes, func(c Change) bool { return c.planned() }) {
		return ""
	}
	gone := 0
	for i := range t.Changes {
		if err := t.Changes[i].Error; err != nil && err.Code == CodeGone {
			gone++
		}
	}
	if gone > 0 {
		return fmt.Sprintf("nothing to change: %d of %d are not there", gone, len(t.Changes))
	}
	return "nothing to change"
}

// nothing ends a transaction that has nothing to write and so leaves no record:
// the last one recorded stays the one to roll back.
func (t *Transaction) nothing(reason string) {
	t.ID, t.State, t.Ended = "", Committed, t.Started
	if t.Reason == "" {
		t.Reason = reason
	}
}

// timestamp is RFC 3339 in UTC with microseconds: two transactions of one second
// keep their order.
func timestamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000000Z") }

// newID returns an id like 20261130T142530Z-7f3a that no record has.
func newID(at time.Time, all []Transaction) (string, error) {
	for {
		var suffix [2]byte
		if _, err := rand.Read(suffix[:]); err != nil {
			return "", err
		}
		id := fmt.Sprintf("%s-%x", at.UTC().Format("20060102T150405Z"), suffix)
		if !slices.ContainsFunc(all, func(t Transaction) bool { return t.ID == id }) {
			return id, nil
		}
	}
}

// show keeps a copy of the running transaction for List and Get; nil: it has ended.
func (e *Engine) show(t *Transaction) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.running = nil
	if t != nil {
		c := *t
		c.Changes = slices.Clone(t.Changes)
		e.running = &c
	}
}

// progress is the running transaction of this process, if it is that one.
func (e *Engine) progress(id string) *Transaction {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.running == nil || e.running.ID != id {
		return nil
	}
	c := *e.running
	c.Changes = slices.Clone(c.Changes)
	return &c
}

// List returns all records, newest first, the running one included, as far as
// it has come. A record that cannot be read is left out with a warning.
func (e *Engine) List() ([]Transaction, error) {
	all, err := e.journal.list()
	for i := range all {
		if t := e.progress(all[i].ID); t != nil {
			all[i] = *t
		}
	}
	return all, err
}

// Get returns one record; the error matches fs.ErrNotExist if there is none.
func (e *Engine) Get(id string) (*Transaction, error) {
	t, err := e.journal.get(id)
	if now := e.progress(id); err == nil && now != nil {
		return now, nil
	}
	return t, err
}
