package collector

import (
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/watch"
)

var (
	advisorGroup = &group{"advisor"}

	findings = advisorGroup.gauge("findings",
		"Findings of a rule; device is empty for one of the whole host. Held: advice must last for 3 windows before a finding shows or vanishes.",
		"device", "rule", "severity")
	recommendedChanges = advisorGroup.gauge("recommended_changes",
		"Changes that advice proposes, 0 for each kind that the device has; device is empty for settings of the whole host. Held: advice must last for 3 windows before the number follows it.",
		"device", "kind")
)

var advisorCollector = collector{group: advisorGroup, emit: emitAdvice}

func emitAdvice(st *watch.State, s *sink) {
	if st.Held == nil {
		return
	}
	for i := range st.Held.Findings {
		f := &st.Held.Findings[i]
		s.add(findings, float64(f.N), f.Device, f.Rule, string(f.Severity))
	}
	inv := st.Inventory
	for i := range inv.Devices {
		for kind := range kindsOf(&inv.Devices[i]) {
			emitChanges(st, s, inv.Devices[i].Name, kind)
		}
	}
	if inv.Sysctls.RPSSockFlowEntries.OK {
		emitChanges(st, s, "", host.RPSSockFlowEntries)
	}
}

func emitChanges(st *watch.State, s *sink, device string, kind host.Kind) {
	s.add(recommendedChanges, float64(st.Held.Changes[watch.ChangeKey{Device: device, Kind: kind}]), device, string(kind))
}

// kindsOf yields the kinds of settings that a device has and advice may change.
func kindsOf(d *host.Device) func(func(host.Kind) bool) {
	return func(yield func(host.Kind) bool) {
		var has struct{ irq, rps, rfs, xps bool }
		for i := range d.Vectors {
			has.irq = has.irq || d.Vectors[i].Queue >= 0
		}
		for i := range d.RX {
			has.rps = has.rps || d.RX[i].RPS.OK
			has.rfs = has.rfs || d.RX[i].FlowEntries.OK
		}
		for i := range d.TX {
			has.xps = has.xps || d.TX[i].XPS.OK
		}
		_ = (!has.irq || yield(host.IRQAffinity)) &&
			(!has.rps || yield(host.RPSCPUs)) &&
			(!has.rfs || yield(host.RPSFlowCnt)) &&
			(!has.xps || yield(host.XPSCPUs))
	}
}
