// Package watch is the only clock: it refreshes the Inventory, keeps the ring
// of Samples and publishes State, all that collector and web see.
package watch

import (
	"time"

	"github.com/netsteer/netsteer/advisor"
	"github.com/netsteer/netsteer/apply"
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/skew"
)

// State is one consistent view of the machine. It is read only, and valid until
// its lease is released.
type State struct {
	Inventory *host.Inventory
	Sample    *host.Sample
	Rates     *skew.Rates // nil until the window is half full
	Place     *skew.Place
	Allowed   skew.Allowed

	// Advice is the plan of the last Sample tick, and Held what metrics show of
	// it; nil before the first.
	Advice *advisor.Advice
	Held   *Held
	// Transactions counts how transactions ended, by apply.CountResults; nil
	// where the journal cannot be read or is none of this process.
	Transactions map[string]apply.Count

	// DeviceInterrupts counts the interrupts of each device's vectors by CPU:
	// [Device.ID*NumIDs + cpu]. It starts at the kernel's uint32 sum and grows
	// by wrap-safe deltas.
	DeviceInterrupts []uint64

	// Degraded is the Inventory's and the Sample's, sorted, each (source,
	// device, reason) once.
	Degraded []host.Degraded
	// LastSuccess is when each source was last read; a source never read is absent.
	LastSuccess map[host.Source]time.Time
	// Failed are the sources that this reading does without: not read by the
	// deadline and last values too old.
	Failed map[host.Source]bool
}
