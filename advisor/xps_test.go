package advisor

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/skew"
)

func TestXPS(t *testing.T) {
	tests := []struct {
		name string
		make func() *machine
		want string // masks proposed for the queues, "" where none is
	}{
		{"8 queues on node 1 of 2 x 8 CPUs: 2 CPUs each", func() *machine {
			m := newMachine(2, 1, 8, 1)
			m.nic("eth0", 1, 8, 9, 10, 11, 12, 13, 14, 15)
			return m
		}, "[0,8 1,9 2,10 3,11 4,12 5,13 6,14 7,15]"},
		{"as many queues as CPUs: one each", func() *machine {
			m := newMachine(1, 1, 4, 1)
			m.nic("eth0", 0, 2, 0, 3, 1)
			return m
		}, "[2 0 3 1]"},
		{"siblings go to their core's queue", func() *machine {
			m := newMachine(1, 1, 4, 2)
			m.nic("eth0", 0, 0, 2, 4, 6)
			return m
		}, "[0-1 2-3 4-5 6-7]"},
		{"caches before node", func() *machine {
			m := newMachine(1, 2, 4, 1)
			m.nic("eth0", 0, 0, 4)
			return m
		}, "[0-3 4-7]"},
		{"more queues than CPUs: where each completes", func() *machine {
			m := newMachine(1, 1, 2, 1)
			m.nic("eth0", 0, 0, 1, 0)
			return m
		}, "[0 1 0]"},
		{"isolated CPUs send too", func() *machine {
			m := newMachine(1, 1, 4, 1)
			m.inv.CPUs.IsolatedBoot = cpuset.Of(2, 3)
			m.nic("eth0", 0, 0, 1)
			return m
		}, "[0,2 1,3]"},
		{"offline CPUs do not", func() *machine {
			m := newMachine(1, 1, 4, 1)
			m.inv.CPUs.Online = cpuset.Range(0, 2)
			m.nic("eth0", 0, 0, 1)
			return m
		}, "[0,2 1]"},
		{"one mask on all is as good as none", func() *machine {
			m := newMachine(1, 1, 2, 1)
			m.nic("eth0", 0, 0, 1).xps("0-1", "0-1")
			return m
		}, "[0 1]"},
		{"set and matching: left, though another division is possible", func() *machine {
			m := newMachine(1, 1, 4, 1)
			m.nic("eth0", 0, 0, 1).xps("0,3", "1-2")
			return m
		}, "[]"},
		{"set, a CPU in no mask", func() *machine {
			m := newMachine(1, 1, 4, 1)
			m.nic("eth0", 0, 0, 1).xps("0", "1-2")
			return m
		}, "[0,2 1,3]"},
		{"set, crossed", func() *machine {
			m := newMachine(1, 1, 2, 1)
			m.nic("eth0", 0, 0, 1).xps("1", "0")
			return m
		}, "[0 1]"},
		{"more than one traffic class", func() *machine {
			m := newMachine(1, 1, 2, 1)
			m.nic("eth0", 0, 0, 1).dev().TX[1].TrafficClass = 1
			m.inv.Devices[0].TX[1].Usable = true
			return m
		}, "[]"},
		{"xps_rxqs", func() *machine {
			m := newMachine(1, 1, 2, 1)
			m.nic("eth0", 0, 0, 1).dev().TX[1].XPSRXQueues = []int{1}
			return m
		}, "[]"},
		{"a driver that ignores XPS", func() *machine {
			m := newMachine(1, 1, 2, 1)
			m.nic("eth0", 0, 0, 1).dev().IgnoresXPS = true
			return m
		}, "[]"},
		{"one TX queue", func() *machine {
			m := newMachine(1, 1, 2, 1)
			m.nic("eth0", 0, 0).dev().TX[0].XPS = host.Mask{}
			return m
		}, "[]"},
		{"a completion CPU that is not known", func() *machine {
			m := newMachine(1, 1, 2, 1)
			m.nic("eth0", 0, 0, 1).dev().TX[1].Vector = -1
			return m
		}, "[]"},
		{"virtio's groups are left where each queue completes in its own", func() *machine {
			m := newMachine(1, 1, 2, 2)
			m.nic("eth0", 0, 1, 2).xps("0-1", "2-3").dev().RewritesXPS = true
			return m
		}, "[]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, c := range changesOf(tt.make().advise(Policy{}), host.XPSCPUs) {
				got = append(got, c.Proposed)
			}
			if fmt.Sprint(got) != tt.want {
				t.Errorf("%v, want %s", got, tt.want)
			}
		})
	}
}

// With XPS unset what is forwarded keeps its queue, and nothing is known of a
// host that sends nothing: no proposal, and a finding that says so. With XPS set
// wrongly no traffic is needed.
func TestForwardersKeepXPSUnset(t *testing.T) {
	m := newMachine(1, 1, 2, 1)
	n := m.nic("eth0", 0, 0, 1)
	quiet := func() *Advice {
		_, place, allowed := skew.Judge(m.inv, nil, skew.Options{}, nil)
		return Advise(Facts{Inventory: m.inv, Place: place, Allowed: allowed}, Policy{})
	}
	a := quiet()
	if len(a.Changes) > 0 || !slices.Equal(rulesOf(a), []string{"xps-left"}) || !strings.Contains(a.Findings[0].Summary, "forwarded packets keep their queue") {
		t.Errorf("%v, %+v", brief(a.Changes), a.Findings)
	}
	n.xps("1", "0")
	if got := brief(quiet().Changes); !slices.Equal(got, []string{"xps_cpus of eth0 tx-0: 1 -> 0", "xps_cpus of eth0 tx-1: 0 -> 1"}) {
		t.Error(got)
	}
	if a := Advise(Facts{Inventory: m.inv, Allowed: skew.Allowed{CPUs: m.all()}}, Policy{}); len(a.Changes) != 2 {
		t.Errorf("without a Place: %v", brief(a.Changes))
	}
}

// XPS follows the planned CPUs, not the present ones: one plan is enough.
func TestXPSFollowsThePlan(t *testing.T) {
	m := newMachine(2, 1, 2, 1)
	m.nic("eth0", 1, 0, 0).xps("0,2", "1,3")
	if got := brief(m.advise(Policy{}).Changes); !slices.Equal(got, []string{
		"irq_affinity of eth0 queue 0: 0 -> 2", "irq_affinity of eth0 queue 1: 0 -> 3",
	}) {
		t.Error(got)
	}
}
