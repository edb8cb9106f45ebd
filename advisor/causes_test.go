package advisor

import (
	"strings"
	"testing"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/skew"
)

// measured gives every queue of every device this rate, and each direction this
// cause.
func measured(m *machine, rate float64, cause skew.Cause) Facts {
	f := m.facts(skew.Options{})
	f.Rates = idleRates(m)
	for i := range f.Rates.Queues {
		f.Rates.Queues[i] = skew.QueueRates{Packets: skew.Value{V: rate, OK: rate >= 0}, Live: true}
	}
	for i := range f.Rates.Devices {
		f.Rates.Devices[i].RX.Cause, f.Rates.Devices[i].TX.Cause = cause, cause
	}
	return f
}

func TestPlacementCause(t *testing.T) {
	tests := []struct {
		name string
		make func() Facts
		want skew.Cause
		says string
	}{
		{"two loaded units on a CPU, another has none", func() Facts {
			m := newMachine(1, 1, 2, 1)
			m.nic("eth0", 0, 0, 0)
			return measured(m, 1000, skew.CauseUnknown)
		}, skew.CausePlacement, "2 loaded queues run on CPU 0 while CPU 1 has none"},
		{"also where the queues themselves are even", func() Facts {
			m := newMachine(1, 1, 2, 1)
			m.nic("eth0", 0, 0, 0)
			return measured(m, 1000, skew.CauseNone)
		}, skew.CausePlacement, "2 loaded"},
		{"with another device's unit", func() Facts {
			m := newMachine(1, 1, 3, 1)
			m.nic("eth0", 0, 0, 1)
			m.nic("eth1", 0, 1)
			return measured(m, 1000, skew.CauseUnknown)
		}, skew.CausePlacement, "2 loaded queues run on CPU 1 while CPU 2 has none"},
		{"no CPU is free", func() Facts {
			m := newMachine(1, 1, 2, 1)
			m.nic("eth0", 0, 0, 1, 0)
			return measured(m, 1000, skew.CauseUnknown)
		}, skew.CauseUnknown, ""},
		{"a wrong node", func() Facts {
			m := newMachine(2, 1, 2, 1)
			m.nic("eth0", 1, 0, 3)
			return measured(m, 1000, skew.CauseNone)
		}, skew.CausePlacement, "CPU 0, not on the NIC's node 1"},
		{"an isolated CPU", func() Facts {
			m := newMachine(1, 1, 2, 1)
			m.inv.CPUs.IsolatedBoot = cpuset.Of(1)
			m.nic("eth0", 0, 0, 1)
			return measured(m, 1000, skew.CauseNone)
		}, skew.CausePlacement, "isolated CPU 1"},
		{"idle comes first", func() Facts {
			m := newMachine(1, 1, 2, 1)
			m.nic("eth0", 0, 0, 0)
			return measured(m, 1000, skew.CauseIdle)
		}, skew.CauseIdle, ""},
		{"a single queue comes first", func() Facts {
			m := newMachine(2, 1, 2, 1)
			m.nic("eth0", 1, 0)
			return measured(m, 1000, skew.CauseSingleQueue)
		}, skew.CauseSingleQueue, ""},
		{"without counters nothing is known", func() Facts {
			m := newMachine(1, 1, 2, 1)
			m.nic("eth0", 0, 0, 0)
			return measured(m, -1, skew.CauseUnknown)
		}, skew.CauseUnknown, ""},
		{"well placed", func() Facts {
			m := newMachine(1, 1, 2, 1)
			m.nic("eth0", 0, 0, 1)
			return measured(m, 1000, skew.CauseNone)
		}, skew.CauseNone, ""},
		{"a trickle collides with nothing", func() Facts {
			m := newMachine(1, 1, 3, 1)
			d := m.nic("eth0", 0, 0, 1, 1).dev()
			f := measured(m, 1000, skew.CauseUnknown)
			f.Rates.Queues[d.RX[2].ID].Packets.V, f.Rates.Queues[d.TX[2].ID].Packets.V = 1, 1
			return f
		}, skew.CauseUnknown, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := tt.make()
			before := f.Rates.Devices[0].RX.Cause
			rates := ApplyCauses(f)
			got := rates.Devices[0].RX
			if got.Cause != tt.want || !strings.Contains(got.Evidence, tt.says) {
				t.Errorf("%s (%s), want %s (%s)", got.Cause, got.Evidence, tt.want, tt.says)
			}
			if f.Rates.Devices[0].RX.Cause != before {
				t.Error("the facts were changed")
			}
			if a := Advise(f, Policy{}); a.Devices[0].Skew.RX.Cause != string(tt.want) {
				t.Errorf("advice says %s", a.Devices[0].Skew.RX.Cause)
			}
		})
	}
	if ApplyCauses(newMachine(1, 1, 1, 1).facts(skew.Options{})) != nil {
		t.Error("Rates out of none")
	}
}

// A device's cause is the worse of its directions, RX first.
func TestDeviceCause(t *testing.T) {
	for _, tt := range []struct{ rx, tx, want skew.Cause }{
		{skew.CauseNone, skew.CauseIdle, skew.CauseNone},
		{skew.CauseIdle, skew.CausePlacement, skew.CausePlacement},
		{skew.CauseFewFlows, skew.CausePlacement, skew.CauseFewFlows},
		{skew.CauseUnknown, skew.CauseNone, skew.CauseUnknown},
		{skew.CauseSingleQueue, skew.CauseTXSelection, skew.CauseTXSelection},
	} {
		if got := (DeviceCauses{RX: Because{Cause: tt.rx}, TX: Because{Cause: tt.tx}}).Device(); got != tt.want {
			t.Errorf("rx %s, tx %s: %s, want %s", tt.rx, tt.tx, got, tt.want)
		}
	}
}

// Moving what was measured to the planned CPUs predicts the spread.
func TestPrediction(t *testing.T) {
	m := newMachine(1, 1, 2, 1)
	m.nic("eth0", 0, 0, 0)
	f := measured(m, 500, skew.CauseUnknown)
	for i := range f.Rates.Queues {
		f.Rates.Queues[i].Load = skew.Value{V: 0.2, OK: true}
	}
	f.Rates.CPUs[0] = skew.CPURates{NICPackets: skew.Value{V: 2000, OK: true}, BusyNet: skew.Value{V: 0.85, OK: true}}
	f.Rates.CPUs[1] = skew.CPURates{NICPackets: skew.Value{V: 0, OK: true}, BusyNet: skew.Value{V: 0.05, OK: true}}
	p := Advise(f, Policy{}).Predicted
	if p == nil || *p.NICPackets.CPUSkewCV != (BeforeAfter{1, 0}) || *p.NICPackets.BusiestCPU != (BeforeAfter{2000, 1000}) ||
		*p.BusyNet.BusiestCPU != (BeforeAfter{0.85, 0.45}) {
		t.Errorf("%+v", p)
	}
	f.Rates.SinceBoot = true
	if a := Advise(f, Policy{}); a.Predicted != nil || a.Basis != "since-boot" {
		t.Errorf("of totals since boot: %+v", a.Predicted)
	}
}
