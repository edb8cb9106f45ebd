package watch

import "github.com/netsteer/netsteer/advisor"

// Facts are what advice follows from.
func (s *State) Facts() advisor.Facts {
	return advisor.Facts{Inventory: s.Inventory, Rates: s.Rates, Place: s.Place, Allowed: s.Allowed, Degraded: s.Degraded}
}
