package advisor

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/netsteer/netsteer/host"
)

// Selection is what of a plan is to be applied. The zero value is the default:
// irq_affinity and xps_cpus, and rps_cpus that removes or corrects a mask, of
// severity warning or critical, on all devices.
type Selection struct {
	Devices []string
	Kinds   []host.Kind
	// AllowDisruptive lets changes in that reset link, vectors or tables.
	AllowDisruptive bool
}

// Errors of Select, to be told apart by errors.Is.
var (
	ErrUnknownDevice = errors.New("unknown device")
	ErrUnknownKind   = errors.New("unknown kind")
	ErrUnwritable    = errors.New("this kind cannot be applied")
)

// unwritable are the kinds that are known and cannot be applied yet. Package
// apply has the same list: it cannot be asked from here.
var unwritable = []host.Kind{
	host.KindChannels, host.KindRings, host.RSSIndirection, host.RSSHashFields, host.KindFeatures, host.KindCoalesce,
	host.NetdevBudget,
}

// Select divides the changes of a plan into those to apply now and those left
// out, both in the plan's order. One transaction applies one stage: if structure
// is selected, steering is left for the plan after it. A host-wide change must
// be named by its kind, and is not selected where devices are named. A kind that
// cannot be applied is refused where it is named, and with it a plan file that
// has it: such a plan is wanted as a whole.
func Select(a *Advice, s Selection) (selected, left []Change, err error) {
	for _, kind := range s.Kinds {
		if !slices.Contains(kindOrder, kind) {
			return nil, nil, fmt.Errorf("%w %q; kinds are %s", ErrUnknownKind, clip(string(kind)), kindList())
		}
		if err := writable(kind); err != nil {
			return nil, nil, err
		}
	}
	for i := range a.Changes {
		if c := &a.Changes[i]; c.Rule == "" { // of a plan file
			if err := writable(c.Kind); err != nil {
				return nil, nil, err
			}
		}
	}
	for _, name := range s.Devices {
		if !a.knows(name) {
			return nil, nil, fmt.Errorf("%w %q", ErrUnknownDevice, name)
		}
	}
	stage := Steering
	for i := range a.Changes {
		if c := &a.Changes[i]; c.Stage == Structure && s.wants(a, c) {
			stage = Structure
		}
	}
	for _, c := range a.Changes {
		if s.wants(a, &c) && c.stage() == stage {
			selected = append(selected, c)
		} else {
			left = append(left, c)
		}
	}
	return selected, left, nil
}

func (s *Selection) wants(a *Advice, c *Change) bool {
	switch {
	case c.Disruptive && !s.AllowDisruptive:
		return false
	case len(s.Devices) > 0 && !slices.Contains(s.Devices, c.Device):
		return false
	case len(s.Kinds) > 0:
		return slices.Contains(s.Kinds, c.Kind)
	case c.Rule == "":
		return true // of a plan file: it was written to be applied
	case c.Kind == host.RPSCPUs:
		return c.Rule == "rps-redundant" || c.Rule == "rps-wrong-mask"
	case c.Kind != host.IRQAffinity && c.Kind != host.XPSCPUs:
		return false
	}
	return a.severity(c).rank() <= Warning.rank()
}

// severity is the gravest of the findings that a change mends.
func (a *Advice) severity(c *Change) Severity {
	worst := Info
	for i := range a.Findings {
		f := &a.Findings[i]
		if slices.Contains(f.Changes, c.ID) && f.Severity.rank() < worst.rank() {
			worst = f.Severity
		}
	}
	return worst
}

func (a *Advice) knows(device string) bool {
	return slices.ContainsFunc(a.Devices, func(d Device) bool { return d.Device == device }) ||
		slices.ContainsFunc(a.Changes, func(c Change) bool { return c.Device == device })
}

// stage is structure or steering, by kind where the change does not say.
func (c *Change) stage() Stage {
	if c.Stage != "" {
		return c.Stage
	}
	return stageOf(c.Kind)
}

func stageOf(kind host.Kind) Stage {
	if slices.Index(kindOrder, kind) < slices.Index(kindOrder, host.IRQAffinity) {
		return Structure
	}
	return Steering
}

func writable(kind host.Kind) error {
	if slices.Contains(unwritable, kind) {
		return fmt.Errorf("%s: %w; these can: %s", kind, ErrUnwritable, kindList())
	}
	return nil
}

// kindList names the kinds that can be applied.
func kindList() string {
	var kinds []string
	for _, k := range kindOrder {
		if !slices.Contains(unwritable, k) {
			kinds = append(kinds, string(k))
		}
	}
	slices.Sort(kinds)
	return strings.Join(kinds, ", ")
}
