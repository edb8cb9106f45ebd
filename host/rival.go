package host

import (
	"slices"

	"github.com/netsteer/netsteer/cpuset"
)

// Rival is a program that writes the same files.
type Rival struct {
	Name   string // "irqbalance", ...
	Active bool
	// Once: it writes when it starts or changes its profile, not again and again,
	// and so does not undo what is written later.
	Once bool
	// BannedIRQs and BannedModules are what it says it leaves alone; BannedCPUs
	// are the CPUs it keeps interrupts off. All come from its command line, and
	// what cannot be read there is not known to be banned.
	BannedIRQs    []int
	BannedModules []string
	BannedCPUs    cpuset.Set
}

// Undoes reports whether the rival would move this vector of a device again.
func (r *Rival) Undoes(d *Device, v *Vector) bool {
	banned := slices.Contains(r.BannedIRQs, v.IRQ) || d.Driver != "" && slices.Contains(r.BannedModules, d.Driver)
	return r.Active && !r.Once && !banned
}
