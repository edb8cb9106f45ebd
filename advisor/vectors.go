package advisor

import (
	"fmt"
	"slices"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
)

// adviseAllowed reports that there is no CPU to plan with.
func (d *draft) adviseAllowed() {
	if !d.allowed.IsEmpty() {
		return
	}
	withheld := map[string]any{"online": d.Inventory.CPUs.Online.String()}
	for why, n := range d.Facts.Allowed.Withheld {
		if n > 0 {
			withheld[string(why)] = n
		}
	}
	d.find("no-allowed-cpu", Finding{Summary: "no CPU may take interrupts: nothing is planned", Evidence: withheld})
}

// adviseVectors reports the vectors that are not planned, and why.
func (d *draft) adviseVectors() {
	for i := range d.Inventory.Devices {
		dev := &d.Inventory.Devices[i]
		if !d.chosen(dev) {
			continue
		}
		if d.left(dev) {
			d.find("device-left", Finding{Device: dev.Name, Summary: dev.Name + ": named by --advisor.leave: measured, never changed"})
			continue
		}
		d.vectorsOf(dev, "vector-unmovable", "smp_affinity is read-only", func(v *host.Vector) bool { return v.ReadOnly && v.Carries() })
		d.vectorsOf(dev, "shared-line", "the line is shared", func(v *host.Vector) bool { return v.Shared })
		d.vectorsOf(dev, "vector-unmapped", "no queue is known", func(v *host.Vector) bool { return v.Unmapped != "" })
		offline := d.Inventory.CPUs.Possible.Minus(d.Inventory.CPUs.Online)
		d.vectorsOf(dev, "irq-offline-mask", "CPUs of the mask are offline", func(v *host.Vector) bool {
			return v.Carries() && v.Affinity.OK && v.Affinity.Set.Overlaps(offline)
		})
		if dev.ThreadedNAPI && len(dev.Vectors) > 0 {
			d.find("napi-threaded", Finding{Device: dev.Name, Summary: dev.Name + ": NAPI threads do the work: its vectors are left alone"})
		}
		if dev.RewritesXPS && len(dev.Vectors) > 0 {
			f := Finding{Device: dev.Name, Summary: fmt.Sprintf("%s: %s writes affinity and XPS anew at CPU hot-plug and channel change; vectors on CPUs of their own are left", dev.Name, dev.Driver)}
			var settings []host.Setting
			for j := range d.changes {
				if c := &d.changes[j]; c.Device == dev.Name && (c.Kind == host.IRQAffinity || c.Kind == host.XPSCPUs) {
					settings = append(settings, c.Setting())
				}
			}
			d.find("driver-rewrites", f, settings...)
		}
	}
}

// vectorsOf adds one finding for all vectors of a device that are so.
func (d *draft) vectorsOf(dev *host.Device, rule, why string, is func(*host.Vector) bool) {
	var irqs, list []int
	var on cpuset.Set
	for i := range dev.Vectors {
		v := &dev.Vectors[i]
		if !is(v) {
			continue
		}
		irqs = append(irqs, v.IRQ)
		if v.Queue >= 0 {
			list = append(list, v.Queue)
		}
		if cpu := d.intent(v); cpu >= 0 {
			on = on.Union(cpuset.Of(cpu))
		}
	}
	if len(irqs) == 0 {
		return
	}
	slices.Sort(irqs)
	f := Finding{Device: dev.Name, Queues: list, Summary: fmt.Sprintf("%s: IRQ %s: %s", dev.Name, numbers(irqs), why),
		Evidence: map[string]any{"irqs": numbers(irqs), "cpus": on.String()}}
	if rule == "vector-unmovable" && !on.SubsetOf(d.near(dev)) {
		f.Severity = Warning // it would be moved
	}
	d.find(rule, f)
}
