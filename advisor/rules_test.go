package advisor

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/skew"
)

// Which rules fire, and what they propose.
func TestRules(t *testing.T) {
	tests := []struct {
		name    string
		make    func() *machine
		p       Policy
		rules   []string
		changes []string
	}{
		{"all is well", func() *machine {
			m := newMachine(1, 1, 2, 1)
			m.nic("eth0", 0, 0, 1).xps("0", "1")
			return m
		}, Policy{}, nil, nil},
		{"irq-stacked", func() *machine {
			m := newMachine(1, 1, 2, 1)
			m.nic("eth0", 0, 1, 1).xps("1", "0")
			return m
		}, Policy{}, []string{"irq-stacked"}, []string{"irq_affinity of eth0 queue 1: 1 -> 0"}},
		{"irq-siblings", func() *machine {
			m := newMachine(1, 1, 2, 2)
			m.nic("eth0", 0, 0, 1).xps("0-1", "2-3")
			return m
		}, Policy{}, []string{"irq-siblings"}, []string{"irq_affinity of eth0 queue 1: 1 -> 2"}},
		{"irq-remote-node", func() *machine {
			m := newMachine(2, 1, 2, 1)
			m.nic("eth0", 1, 0, 3).xps("0,2", "1,3")
			return m
		}, Policy{}, []string{"irq-remote-node"}, []string{"irq_affinity of eth0 queue 0: 0 -> 2"}},
		{"irq-isolated", func() *machine {
			m := newMachine(1, 1, 4, 1)
			m.inv.CPUs.NohzFull = cpuset.Of(3)
			m.nic("eth0", 0, 0, 3).xps("0,2-3", "1")
			return m
		}, Policy{}, []string{"irq-isolated"}, []string{"irq_affinity of eth0 queue 1: 3 -> 1"}},
		{"irq-not-allowed", func() *machine {
			m := newMachine(1, 1, 4, 1)
			m.inv.CPUs.DefaultIRQ = host.KnownMask(cpuset.Range(0, 2))
			m.nic("eth0", 0, 0, 3).xps("0,2-3", "1")
			return m
		}, Policy{}, []string{"irq-not-allowed"}, []string{"irq_affinity of eth0 queue 1: 3 -> 1"}},
		{"irq-pair-split", func() *machine {
			m := newMachine(1, 1, 2, 1)
			m.split("eth0", 0, 0, 1).xps("0", "1").dev().Vectors[2].Affinity = host.KnownMask(cpuset.Of(1))
			return m
		}, Policy{}, []string{"irq-pair-split"}, []string{"irq_affinity of eth0 tx-0: 1 -> 0"}},
		{"irq-unpinned", func() *machine {
			m := newMachine(1, 1, 2, 1)
			v := &m.nic("eth0", 0, 0, 1).xps("0", "1").dev().Vectors[1]
			v.Affinity, v.Effective = host.KnownMask(m.all()), host.KnownMask(m.all())
			return m
		}, Policy{}, []string{"irq-unpinned"}, []string{"irq_affinity of eth0 queue 1: 0-1 -> 1"}},
		{"irq-slow-cpu, in profile throughput", func() *machine {
			m := bigLittle()
			m.nic("eth0", -1, 0, 4).xps("0-3,5", "4,6-7")
			return m
		}, Policy{Profile: Throughput}, []string{"irq-slow-cpu"}, []string{"irq_affinity of eth0 queue 0: 0 -> 5"}},
		{"irq-offline-mask needs no change", func() *machine {
			m := newMachine(1, 1, 3, 1)
			m.inv.CPUs.Online = cpuset.Of(0, 1)
			m.nic("eth0", 0, 0, 1).xps("0", "1").wide(m.inv.CPUs.Possible)
			return m
		}, Policy{}, []string{"irq-offline-mask"}, nil},
		{"vector-unmovable", func() *machine {
			m := newMachine(1, 1, 2, 1)
			m.nic("eth0", 0, 0, 1).xps("0", "1").dev().Vectors[0].ReadOnly = true
			return m
		}, Policy{}, []string{"vector-unmovable"}, nil},
		{"vector-unmapped", func() *machine {
			m := newMachine(1, 1, 2, 1)
			n := m.nic("eth0", 0, 0, 1)
			for i := range n.dev().Vectors {
				v := &n.dev().Vectors[i]
				v.Queue, v.RX, v.TX, v.Role, v.Unmapped = -1, nil, nil, host.RoleOther, host.ReasonUnknownDriver
				n.dev().RX[i].Vector, n.dev().TX[i].Vector = -1, -1
			}
			return m
		}, Policy{}, []string{"vector-unmapped", "xps-left"}, nil},
		{"shared-line and single-queue", func() *machine {
			m := newMachine(1, 1, 2, 1)
			m.nic("eth0", 0, 0).dev().Vectors[0].Shared = true
			return m
		}, Policy{}, []string{"shared-line", "single-queue"}, nil},
		{"no-allowed-cpu: nothing is planned", func() *machine {
			m := newMachine(1, 1, 2, 1)
			m.inv.CPUs.IsolatedBoot = m.all()
			m.nic("eth0", 0, 0, 0)
			return m
		}, Policy{}, []string{"no-allowed-cpu", "xps-left"}, nil},
		{"napi-threaded", func() *machine {
			m := newMachine(1, 1, 2, 1)
			m.nic("eth0", 0, 0, 0).dev().ThreadedNAPI = true
			return m
		}, Policy{}, []string{"napi-threaded", "xps-left"}, nil},
		{"no-vectors: a veth", func() *machine {
			m := newMachine(1, 1, 2, 1)
			d := m.nic("veth0", -1, 0, 0).xps("0", "").dev()
			d.Physical, d.Driver = false, "veth"
			m.inv.Vectors = nil
			for i := range m.inv.Queues {
				m.inv.Queues[i].Vector = -1
			}
			m.inv.Queues[1].RPS = host.KnownMask(cpuset.Of(1))
			m.reslice()
			return m
		}, Policy{}, []string{"no-vectors"}, nil},
		{"queues-exceed-cpus", func() *machine {
			m := newMachine(1, 1, 2, 1)
			m.nic("eth0", 0, 0, 1, 0).xps("0", "1", "0")
			return m
		}, Policy{}, []string{"queues-exceed-cpus"}, nil},
		{"device-left", func() *machine {
			m := newMachine(1, 1, 2, 1)
			m.nic("eth0", 0, 0, 0)
			return m
		}, Policy{Leave: regexp.MustCompile("^eth0$")}, []string{"device-left", "irq-stacked"}, nil},
		{"driver-rewrites: moving takes affinity and XPS in one plan", func() *machine {
			m := newMachine(1, 1, 2, 1)
			m.nic("eth0", 0, 0, 0).xps("0", "1").dev().RewritesXPS = true
			return m
		}, Policy{}, []string{"driver-rewrites", "irq-stacked"}, []string{"irq_affinity of eth0 queue 1: 0 -> 1"}},
		{"a device that is not asked for has no finding and no change", func() *machine {
			m := newMachine(1, 1, 2, 1)
			m.nic("eth0", 0, 0, 0)
			m.nic("eth1", 0, 1).dev().TX[0].Vector = -1
			return m
		}, Policy{Devices: []string{"eth1"}}, []string{"single-queue"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := tt.make().advise(tt.p)
			if got := rulesOf(a); !slices.Equal(got, tt.rules) {
				t.Errorf("rules %v, want %v", got, tt.rules)
			}
			if got := brief(a.Changes); !slices.Equal(got, append([]string{}, tt.changes...)) {
				t.Errorf("changes %v, want %v", got, tt.changes)
			}
			for i, c := range a.Changes {
				if c.Reason == "" || c.Target == "" || c.Disruptive || c.Stage != Steering || !mended(a, c.ID) {
					t.Errorf("change %d lacks something: %+v", i, c)
				}
			}
		})
	}
}

func mended(a *Advice, id string) bool {
	return slices.ContainsFunc(a.Findings, func(f Finding) bool { return slices.Contains(f.Changes, id) })
}

// Every rule that a finding can name is in the table once, with all it needs.
func TestRuleTable(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Rules() {
		if seen[r.ID] || r.ID == "" || r.Title == "" || r.Severity.rank() < 0 || strings.ToLower(r.ID) != r.ID {
			t.Errorf("%+v", r)
		}
		seen[r.ID] = true
	}
	for _, id := range irqRules {
		if !seen[id] {
			t.Errorf("%s is not in the table", id)
		}
	}
}

// A finding is critical where the CPU it is about was measured to be full.
func TestCriticalWhereMeasured(t *testing.T) {
	m := newMachine(1, 1, 2, 1)
	m.nic("eth0", 0, 0, 0)
	f := m.facts(skew.Options{})
	f.Rates = idleRates(m)
	f.Rates.CPUs[0].BusyNet = skew.Value{V: 0.9, OK: true}
	a := Advise(f, Policy{})
	if a.Findings[0].Rule != "irq-stacked" || a.Findings[0].Severity != Critical {
		t.Errorf("%+v", a.Findings[0])
	}
}

func idleRates(m *machine) *skew.Rates {
	return &skew.Rates{Devices: make([]skew.DeviceRates, len(m.inv.Devices)), Queues: make([]skew.QueueRates, len(m.inv.Queues)),
		CPUs: make([]skew.CPURates, m.inv.CPUs.NumIDs())}
}

// Masks of RPS: off where redundant, corrected where wrong, left where neither.
func TestRPS(t *testing.T) {
	tests := []struct {
		name  string
		cpus  []int // of the vectors, on 4 CPUs of one node
		mask  string
		with  func(*machine)
		p     Policy
		rule  string
		wants string // "-" left alone
	}{
		{"a queue, more CPUs: left", []int{0}, "1-3", nil, Policy{}, "", "-"},
		{"every CPU has a queue: off", []int{0, 1, 2, 3}, "0-3", nil, Policy{}, "rps-redundant", ""},
		{"more queues than CPUs: off", []int{0, 1, 2, 3, 0}, "0-3", nil, Policy{}, "rps-redundant", ""},
		{"an offline CPU goes", []int{0}, "1-3", func(m *machine) { m.inv.CPUs.Online = cpuset.Range(0, 2) }, Policy{}, "rps-wrong-mask", "1-2"},
		{"an isolated CPU goes", []int{0}, "1-3", func(m *machine) { m.inv.CPUs.IsolatedCpuset = cpuset.Of(1) }, Policy{}, "rps-wrong-mask", "2-3"},
		{"only an offline CPU: off", []int{0}, "3", func(m *machine) { m.inv.CPUs.Online = cpuset.Range(0, 2) }, Policy{}, "rps-wrong-mask", ""},
		{"only the interrupt's own CPU: off", []int{2}, "2", nil, Policy{}, "rps-wrong-mask", ""},
		{"a single other CPU: left", []int{2}, "3", nil, Policy{}, "", "-"},
		{"an excluded CPU goes", []int{0}, "1-3", nil, Policy{ExcludeCPUs: cpuset.Of(3)}, "rps-wrong-mask", "1-2"},
		{"a stacked device: off", []int{0}, "1-3", func(m *machine) { m.inv.Devices[0].Stacked = true }, Policy{}, "rps-wrong-mask", ""},
		{"unknown mask: left", []int{0, 1, 2, 3}, "0-3", func(m *machine) { m.inv.Queues[0].RPS = host.Mask{} }, Policy{}, "", "-"},
		{"wrong and redundant: off", []int{0, 1, 2}, "0-3", func(m *machine) { m.inv.CPUs.Online = cpuset.Range(0, 2) }, Policy{}, "rps-wrong-mask", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(1, 1, 4, 1)
			m.nic("eth0", 0, tt.cpus...)
			set, _ := cpuset.ParseList(tt.mask)
			m.inv.Queues[0].RPS = host.KnownMask(set)
			if tt.with != nil {
				tt.with(m)
			}
			got, rule := "-", ""
			if list := changesOf(m.advise(tt.p), host.RPSCPUs); len(list) > 0 {
				got, rule = list[0].Proposed, list[0].Rule
			}
			if got != tt.wants || rule != tt.rule {
				t.Errorf("%q by %q, want %q by %q", got, rule, tt.wants, tt.rule)
			}
		})
	}
}

// RFS needs both halves; nothing is proposed.
func TestRFSHalves(t *testing.T) {
	tests := []struct {
		name   string
		global host.Count
		counts []uint64
		says   string // "" no finding
	}{
		{"off", host.Known(0), []uint64{0, 0}, ""},
		{"on", host.Known(32768), []uint64{16384, 16384}, ""},
		{"the queues' half only", host.Known(0), []uint64{16384, 16384}, "rps_sock_flow_entries is 0"},
		{"the host's half only", host.Known(32768), []uint64{0, 0}, "no queue has rps_flow_cnt"},
		{"one queue without", host.Known(32768), []uint64{16384, 0}, "not for RX queue 1"},
		{"another namespace: unknown", host.Count{}, []uint64{16384, 0}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(1, 1, 2, 1)
			d := m.nic("eth0", 0, 0, 1).xps("0", "1").dev()
			m.inv.Sysctls.RPSSockFlowEntries = tt.global
			for i, n := range tt.counts {
				d.RX[i].FlowEntries = host.Known(n)
			}
			a := m.advise(Policy{})
			var says string
			for _, f := range a.Findings {
				if f.Rule == "rfs-half" {
					says = f.Summary
				}
			}
			if (tt.says == "") != (says == "") || !strings.Contains(says, tt.says) || len(a.Changes) > 0 {
				t.Errorf("%q, want %q; changes %v", says, tt.says, brief(a.Changes))
			}
		})
	}
}

// irqbalance undoes moves of what it does not ban.
func TestRivals(t *testing.T) {
	tests := []struct {
		name   string
		rival  host.Rival
		says   string
		severe Severity
	}{
		{"not running", host.Rival{Name: "irqbalance"}, "", ""},
		{"running", host.Rival{Name: "irqbalance", Active: true}, "will undo 1 of the moves", Warning},
		{"bans the vector", host.Rival{Name: "irqbalance", Active: true, BannedIRQs: []int{31}}, "bans the vectors", Info},
		{"bans the driver", host.Rival{Name: "irqbalance", Active: true, BannedModules: []string{"igb"}}, "bans the vectors", Info},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(1, 1, 2, 1)
			m.nic("eth0", 0, 0, 0)
			m.inv.Rivals = []host.Rival{tt.rival}
			var got Finding
			for _, f := range m.advise(Policy{}).Findings {
				if f.Rule == "rival-active" {
					got = f
				}
			}
			if (got.Summary == "") != (tt.says == "") || !strings.Contains(got.Summary, tt.says) || got.Severity != tt.severe {
				t.Errorf("%+v", got)
			}
			if tt.severe == Warning && !strings.Contains(got.Remedy, "--banirq=31") {
				t.Errorf("remedy %q", got.Remedy)
			}
		})
	}
}
