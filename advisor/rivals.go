package advisor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/netsteer/netsteer/host"
)

// adviseRivals reports programs that would undo the plan. irqbalance never
// touches RPS, XPS or RFS.
func (d *draft) adviseRivals() {
	for i := range d.Inventory.Rivals {
		r := &d.Inventory.Rivals[i]
		if !r.Active {
			continue
		}
		var irqs []int
		var settings []host.Setting
		for j := range d.changes {
			c := &d.changes[j]
			vec := vectorOf(d.Inventory, c)
			if c.Kind == host.IRQAffinity && vec != nil && r.Undoes(d.device(vec.Device), vec) {
				irqs, settings = append(irqs, vec.IRQ), append(settings, c.Setting())
			}
		}
		f := Finding{Summary: r.Name + " is running and bans the vectors of this plan", Severity: Info}
		switch {
		case r.Once:
			f.Summary = r.Name + " is running and writes masks when its profile changes"
		case len(irqs) == 0 && len(d.changes) == 0:
			f.Summary = r.Name + " is running and may move vectors"
		}
		if len(irqs) > 0 {
			f.Severity = Warning
			f.Summary = fmt.Sprintf("%s is running and will undo %d of the moves", r.Name, len(irqs))
			f.Remedy = "stop it, or let it leave these vectors alone: " + Bans(r.Name, irqs)
			f.Evidence = map[string]any{"irqs": len(irqs)}
		}
		d.find("rival-active", f, settings...)
	}
}

// Bans is the text by which a rival leaves these IRQs alone; "" if it has none.
func Bans(rival string, irqs []int) string {
	if rival != "irqbalance" {
		return "see its manual"
	}
	slices.Sort(irqs)
	words := make([]string, 0, len(irqs))
	for _, irq := range irqs {
		words = append(words, fmt.Sprintf("--banirq=%d", irq))
	}
	return strings.Join(words, " ")
}
