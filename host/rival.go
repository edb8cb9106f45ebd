package host

import (
	"slices"

	"github.com/netsteer/netsteer/cpuset"
)

// Rival is a program that writes the same files.
type Rival struct {
	Name   string // "irqbalance", ...
	Active bool
	// BannedIRQs and BannedModules are what it says it leaves alone; BannedCPUs
	// are the CPUs it keeps interrupts off. All come from its command line, and
	// what cannot be read there is not known to be banned.
	BannedIRQs    []int
	BannedModules []string
	BannedCPUs    cpuset.Set
}

// Bans reports whether the rival leaves this vector alone.
func (r *Rival) Bans(irq int) bool {
	return slices.Contains(r.BannedIRQs, irq)
}
