package watch

import (
	"github.com/netsteer/netsteer/advisor"
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/skew"
)

// Facts are what advice follows from.
func (s *State) Facts() advisor.Facts {
	return advisor.Facts{Inventory: s.Inventory, Rates: s.Rates, Place: s.Place, Allowed: s.Allowed, Degraded: s.Degraded}
}

// shown are the Rates with the causes that need the rules of placement.
func (j *judgement) shown(inv *host.Inventory) *skew.Rates {
	return advisor.ApplyCauses(advisor.Facts{Inventory: inv, Rates: j.rates, Place: j.place, Allowed: j.allowed})
}
