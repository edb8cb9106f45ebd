// Package apply writes a plan as one transaction: lock, journal, preflight,
// write, read back, undo. It is the only code that changes a setting, and does
// so through a Setter.
package apply

import (
	"github.com/netsteer/netsteer/advisor"
	"github.com/netsteer/netsteer/host"
)

// Setter reads and writes one setting at a time. Get returns what the kernel
// shows now, in canonical form; Set writes and does not read back. Errors wrap
// the errno; one of a device, queue or vector that is not there matches
// fs.ErrNotExist, one of a kind it cannot write errors.ErrUnsupported.
type Setter interface {
	Get(s host.Setting) (host.Value, error)
	// Check fails if Set cannot work: not there, not writable, no privilege. It
	// changes nothing.
	Check(s host.Setting, v host.Value) error
	Set(s host.Setting, v host.Value) error
	// Effective is where an irq_affinity setting is programmed now, as list text;
	// false where the kernel does not tell.
	Effective(s host.Setting) (host.Value, bool)
}

// TransactionSchema and ListSchema name the JSON forms.
const (
	TransactionSchema = "netsteer.transaction/v1"
	ListSchema        = "netsteer.transactions/v1"
)

// Operation is what a transaction does.
type Operation string

// Operations.
const (
	Apply    Operation = "apply"
	Rollback Operation = "rollback"
)

// State of a transaction.
type State string

// States. Applying and Verifying are not final.
const (
	Applying   State = "applying"
	Verifying  State = "verifying"
	Committed  State = "committed"
	RolledBack State = "rolled_back"
	Failed     State = "failed" // undo incomplete
	DryRun     State = "dry_run"
)

// Final reports whether nothing more will happen.
func (s State) Final() bool { return s != Applying && s != Verifying && s != "awaiting_confirm" }

// Result of one change.
type Result string

// Results.
const (
	Applied    Result = "applied"
	Unchanged  Result = "unchanged"
	Pending    Result = "pending" // written; the vector moves with its next interrupt
	NoEffect   Result = "no_effect"
	Rival      Result = "rival"
	Undone     Result = "undone"
	UndoFailed Result = "undo_failed"
	NotTried   Result = "not_tried"
)

// Transaction is the journal's record, and what HTTP and commands show.
type Transaction struct {
	Schema string `json:"schema"`
	// ID is like 20261130T142530Z-7f3a; absent where nothing was written and so
	// nothing was recorded: a dry run, or nothing to change.
	ID          string    `json:"id,omitempty"`
	Operation   Operation `json:"operation"`
	Undoes      string    `json:"undoes,omitempty"`
	State       State     `json:"state"`
	Reason      string    `json:"reason,omitempty"`
	Fingerprint string    `json:"fingerprint,omitempty"`
	Profile     string    `json:"profile,omitempty"`
	Started     string    `json:"started"`         // RFC 3339
	Ended       string    `json:"ended,omitempty"` // RFC 3339
	Actor       string    `json:"actor"`           // http:alice@192.0.2.7, cli:root
	BootID      string    `json:"boot_id,omitempty"`
	Changes     []Change  `json:"changes"`
	Verify      *Verify   `json:"verify,omitempty"`
	Left        []string  `json:"left,omitempty"`
}

// Change is one change of the plan with what became of it.
type Change struct {
	advisor.Change
	Result Result `json:"result"`
	// Stored is what the kernel shows after the write, or after the undo.
	Stored *string `json:"stored,omitempty"`
	// Error is why the change was not made; beside the result applied, what the
	// kernel made of the value (code trimmed).
	Error *ChangeError `json:"error,omitempty"`
}

// ChangeError is why a change was not made.
type ChangeError struct {
	Code   Code   `json:"code"`
	Errno  string `json:"errno,omitempty"`
	Detail string `json:"detail"`
}

// Verify is how the effect was checked.
type Verify struct {
	Seconds float64 `json:"seconds"`
	Verdict string  `json:"verdict"` // as_predicted, worse, inconclusive, skipped
	Rule    string  `json:"rule,omitempty"`
}

// List is the answer of GET /transactions.
type List struct {
	Schema       string        `json:"schema"`
	Transactions []Transaction `json:"transactions"` // newest first
}
