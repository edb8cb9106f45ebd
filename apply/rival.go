package apply

import (
	"fmt"
	"slices"
	"strings"

	"github.com/netsteer/netsteer/host"
)

// rivalOf returns the running program that moves this vector as well, and the
// vector; nil if none is known to.
func rivalOf(inv *host.Inventory, s host.Setting) (*host.Rival, *host.Vector) {
	d := inv.Device(s.Device)
	v := d.VectorOf(s)
	if v == nil {
		return nil, nil
	}
	for i := range inv.Rivals {
		if r := &inv.Rivals[i]; r.Undoes(d, v) {
			return r, v
		}
	}
	return nil, nil
}

// rivalError says how to keep the rival from the vector.
func rivalError(r *host.Rival, v *host.Vector) *ChangeError {
	detail := fmt.Sprintf("%s runs and writes IRQ %d: stop it, or allow rivals", r.Name, v.IRQ)
	if r.Name == irqbalance {
		detail = fmt.Sprintf("irqbalance runs and moves IRQ %d: start it with --banirq=%d, or stop it, or allow rivals", v.IRQ, v.IRQ)
	}
	return &ChangeError{Code: CodeRival, Detail: detail}
}

const irqbalance = "irqbalance"

// leftToRivals sums up in one line what is left to rivals, with the whole ban as
// it is written for irqbalance; "" if nothing is.
func leftToRivals(inv *host.Inventory, changes []Change) string {
	left := 0
	var names, bans []string
	for i := range changes {
		if changes[i].Result != Rival {
			continue
		}
		r, v := rivalOf(inv, changes[i].Setting())
		if r == nil {
			continue
		}
		left++
		if !slices.Contains(names, r.Name) {
			names = append(names, r.Name)
		}
		if r.Name == irqbalance {
			bans = append(bans, fmt.Sprintf("--banirq=%d", v.IRQ))
		}
	}
	if left == 0 {
		return ""
	}
	line := fmt.Sprintf("%d vectors are left to %s", left, strings.Join(names, " and "))
	if len(bans) > 0 {
		line += fmt.Sprintf("; to keep it from them: IRQBALANCE_ARGS=%q", strings.Join(bans, " "))
	}
	return line
}
