package advisor

import (
	"time"

	"cmp"
	"math"

	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/skew"
)

// Advise turns facts into a plan. It is a function of its arguments alone: the
// same facts give the same Advice, and its irq_affinity changes follow from
// settings alone, whatever the traffic.
func Advise(f Facts, p Policy) *Advice {
	p.Profile = cmp.Or(p.Profile, Balanced)
	v := newView(f, p)
	d := &draft{view: v}
	for _, advise := range []func(){d.adviseAllowed, d.adviseIRQs, d.adviseXPS, d.adviseRPS, d.adviseRFS, d.adviseVectors, d.adviseQueues, d.adviseRivals} {
		advise()
	}
	a := &Advice{
		Schema: Schema, Profile: string(p.Profile), Basis: "window",
		Devices: []Device{}, Findings: []Finding{}, Changes: []Change{}, Degraded: []host.Degraded{},
		Host: hostBlock(f.Inventory, f.Allowed),
	}
	if f.Rates == nil || f.Rates.SinceBoot {
		a.Basis = "since-boot"
	}
	if f.Rates != nil {
		a.WindowSeconds = f.Rates.Window.Round(100 * time.Millisecond).Seconds()
	}
	d.finish(a)
	a.Devices = append(a.Devices, v.devices()...)
	a.Predicted = d.predict()
	a.Degraded = append(a.Degraded, f.Degraded...)
	a.Fingerprint = Fingerprint(f.Inventory.BootID, a.Changes)
	return a
}

// hostBlock is what a plan file must agree with.
func hostBlock(inv *host.Inventory, allowed skew.Allowed) Host {
	h := Host{Kernel: inv.Kernel, Online: inv.CPUs.Online.String(), Allowed: allowed.CPUs.String(), Devices: map[string]HostDevice{}}
	for i := range inv.Devices {
		if d := &inv.Devices[i]; !d.Stacked {
			h.Devices[d.Name] = HostDevice{Driver: d.Driver, Queues: max(len(d.RX), len(d.TX))}
		}
	}
	return h
}

// devices describes the devices asked for, in Inventory order.
func (v *view) devices() []Device {
	var list []Device
	causes := v.causes()
	for i := range v.Inventory.Devices {
		d := &v.Inventory.Devices[i]
		if d.Stacked || !v.chosen(d) {
			continue
		}
		out := Device{Device: d.Name, Driver: d.Driver}
		if d.Node >= 0 {
			node := d.Node
			out.NUMANode = &node
		}
		if v.Rates != nil {
			r := &v.Rates.Devices[i]
			out.Cause = string(causes[i].Device())
			out.Skew = &Skew{RX: direction(&r.RX, causes[i].RX), TX: direction(&r.TX, causes[i].TX)}
		}
		if v.Place != nil {
			out.AffinityMismatchRatio = value(v.Place.Devices[i].MismatchRatio)
		}
		list = append(list, out)
	}
	return list
}

func direction(r *skew.DirectionRates, c Because) *Direction {
	packets := r.Skew[skew.Packets]
	return &Direction{
		Cause: string(c.Cause), CauseEvidence: c.Evidence, LiveQueues: r.Live,
		CV: value(packets.CV), MaxToMean: value(packets.MaxToMean), PacketsPerSecond: value(r.PacketsPerSecond),
	}
}

func value(v skew.Value) *float64 {
	if !v.OK {
		return nil
	}
	rounded := round(v.V)
	return &rounded
}

// round keeps four decimals: more is noise, and differs between processors that
// fuse multiply and add and those that do not.
func round(v float64) float64 { return math.Round(v*1e4) / 1e4 }
