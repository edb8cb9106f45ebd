package scan

import (
	"slices"

	"github.com/netsteer/netsteer/host"
)

// Affinity reads the masks of all vectors again, which takes no lock, and
// returns a new Inventory of the same shape if one has changed, else inv
// itself.
func (s *Scanner) Affinity(inv *host.Inventory) *host.Inventory {
	r := &reader{tree: s.machine.Tree, notes: &notes{}}
	var changed *host.Inventory
	for i := range inv.Vectors {
		v := inv.Vectors[i]
		readAffinity(r, &v)
		if !v.Affinity.OK || v.Affinity == inv.Vectors[i].Affinity && v.Effective == inv.Vectors[i].Effective {
			continue
		}
		if changed == nil {
			changed = copyOf(inv)
			changed.Generation = s.generation.Add(1)
		}
		changed.Vectors[i] = v
	}
	if changed == nil {
		return inv
	}
	return changed
}

// copyOf returns an Inventory whose vectors may be written.
func copyOf(inv *host.Inventory) *host.Inventory {
	c := *inv
	c.Vectors = slices.Clone(inv.Vectors)
	c.Devices = slices.Clone(inv.Devices)
	slice(&c)
	return &c
}
