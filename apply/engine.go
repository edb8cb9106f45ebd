package apply

import (
	"context"
	"io"
	"log/slog"
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

// RollbackRequest asks for the former values of a transaction.
type RollbackRequest struct {
	ID    string // "" is the last committed apply
	Force bool   // also where a target no longer holds what was written
	Actor string
}

// Count is how often something happened, and when last (zero: never).
type Count struct {
	N    uint64
	Last time.Time
}

// Apply makes all changes or none. The error is a *Refused, and then nothing was
// written. Otherwise the Transaction's state tells: Committed, RolledBack (all
// is as before), Failed (what could not be undone has the result UndoFailed) or
// DryRun. A cancelled context undoes what was written.
func (e *Engine) Apply(ctx context.Context, r Request) (*Transaction, error) {
	return nil, refuse(WordRefused, "not yet")
}

// Rollback writes the former values of a transaction back, as a transaction of
// its own, with results and errors like Apply's. What no longer holds the written
// value is left alone (CodeChanged) unless forced.
func (e *Engine) Rollback(ctx context.Context, r RollbackRequest) (*Transaction, error) {
	return nil, refuse(WordRefused, "not yet")
}

// Recover undoes what a crash left half done: takes the lock, writes former
// values back where the written ones still are, and returns the records it
// ended and those it only reports (State tells). Apply and Rollback do the same
// first.
func (e *Engine) Recover(ctx context.Context) ([]Transaction, error) { return nil, nil }

// Unfinished returns the records that are not final: the running transaction's,
// and those a crash left.
func (e *Engine) Unfinished() ([]Transaction, error) { return nil, nil }

// List returns all records, newest first, the running one included. A record
// that cannot be read is left out with a warning.
func (e *Engine) List() ([]Transaction, error) { return e.journal.list() }

// Get returns one record; the error matches fs.ErrNotExist if there is none.
func (e *Engine) Get(id string) (*Transaction, error) { return e.journal.get(id) }

// Counts returns how transactions ended: CountResults are the keys.
func (e *Engine) Counts() (map[string]Count, error) { return nil, nil }

// CountResults are the results that Counts counts by.
var CountResults = []string{"applied", "inconclusive", "rolled_back", "rejected", "failed"}

// Reject counts a request that was refused before it came to the Engine; Apply
// counts its own refusals.
func (e *Engine) Reject() {}
