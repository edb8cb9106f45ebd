package advisor

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/skew"
)

const head = `{"schema":"netsteer.advice/v1","changes":[`

// A plan written by hand: what is read of it, in canonical form.
func TestParsePlan(t *testing.T) {
	a, err := ParsePlan([]byte(head + `
	 {"kind":"rps_cpus","device":"veth0","direction":"rx","queue":1,"proposed":" 3, 0-1 ","current":"junk","target":"/etc/passwd"},
	 {"kind":"xps_cpus","device":"veth0","direction":"tx","queue":1,"proposed":""},
	 {"kind":"irq_affinity","device":"eth0","direction":"combined","queue":0,"proposed":"5"},
	 {"kind":"rps_sock_flow_entries","proposed":"32768"},
	 {"kind":"netdev_budget","proposed":"usecs=8000 packets=300"},
	 {"kind":"channels","device":"eth0","proposed":"combined=4"},
	 {"kind":"rss_indirection","device":"eth0","proposed":"weights 1 1"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	got := brief(a.Changes)
	want := []string{"rps_cpus of veth0 rx-1: ? -> 0-1,3", "xps_cpus of veth0 tx-1: ? -> ", "irq_affinity of eth0 queue 0: ? -> 5",
		"rps_sock_flow_entries: ? -> 32768", "netdev_budget: ? -> packets=300 usecs=8000", "channels of eth0: ? -> combined=4", "rss_indirection of eth0: ? -> weights 1 1"}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if c := a.Changes[0]; c.Target != "" || c.ID != "c1" || c.Disruptive || !slices.Equal(c.CPUs, []int{0, 1, 3}) {
		t.Errorf("%+v", c)
	}
	if c := a.Changes[5]; !c.Disruptive || c.Stage != Structure {
		t.Errorf("%+v", c)
	}
}

// What is refused, in one line that names the change, the field and the fault.
func TestParsePlanRefuses(t *testing.T) {
	one := func(s string) string { return head + s + "]}" }
	tests := []struct{ name, text, says string }{
		{"no JSON", `nonsense`, "plan is not JSON"},
		{"two values", head + `]} {}`, "more after the first JSON value"},
		{"another schema", `{"schema":"netsteer.advice/v9","changes":[]}`, `schema is "netsteer.advice/v9", want "netsteer.advice/v1"`},
		{"no schema", `{}`, `schema is ""`},
		{"a kind that is none", one(`{"kind":"rps","device":"eth0","proposed":""}`), `change 1: kind "rps" is unknown`},
		{"a path for a device", one(`{"kind":"rps_cpus","device":"../../etc","direction":"rx","queue":0,"proposed":""}`), "change 1: device"},
		{"dots for a device", one(`{"kind":"rps_cpus","device":"..","direction":"rx","queue":0,"proposed":""}`), "change 1: device"},
		{"no device", one(`{"kind":"rps_cpus","direction":"rx","queue":0,"proposed":""}`), "change 1: device"},
		{"a device for what is host-wide", one(`{"kind":"netdev_max_backlog","device":"eth0","proposed":"1000"}`), "change 1: device: netdev_max_backlog is host-wide"},
		{"RPS of tx", one(`{"kind":"rps_cpus","device":"eth0","direction":"tx","queue":0,"proposed":""}`), `change 1: direction: "tx" is not one of rx`},
		{"no direction", one(`{"kind":"irq_affinity","device":"eth0","queue":0,"proposed":"1"}`), "change 1: direction"},
		{"a direction for channels", one(`{"kind":"channels","device":"eth0","direction":"rx","proposed":"rx=1"}`), "change 1: direction: channels has none"},
		{"no queue", one(`{"kind":"rps_cpus","device":"eth0","direction":"rx","proposed":""}`), "change 1: queue is missing"},
		{"queue below 0", one(`{"kind":"rps_cpus","device":"eth0","direction":"rx","queue":-1,"proposed":""}`), "change 1: queue: -1"},
		{"a queue for channels", one(`{"kind":"channels","device":"eth0","queue":1,"proposed":"rx=1"}`), "change 1: queue"},
		{"queue as text", one(`{"kind":"rps_cpus","device":"eth0","direction":"rx","queue":"1","proposed":""}`), "plan: change 1: queue must be a number"},
		{"half a queue", one(`{"kind":"rps_cpus","device":"eth0","direction":"rx","queue":1.5,"proposed":""}`), "plan: change 1: queue must be a whole number"},
		{"a number for a value", one(`{"kind":"rps_cpus","device":"eth0","direction":"rx","queue":1,"proposed":3}`), "plan: change 1: proposed must be a string"},
		{"a text for a change", one(`"rps_cpus"`), "plan: change 1: it must be an object"},
		{"a list for a plan", `[]`, "plan: it must be an object"},
		{"an object for changes", `{"schema":"netsteer.advice/v1","changes":{}}`, "plan: changes must be a list"},
		{"empty", " \n", "the plan is empty"},
		{"cut off", head + "\n{", "plan is not JSON: line 2: it ends too early"},
		{"a comma too many", head + "\n{\n},\n]}", "plan is not JSON: line 4: invalid character"},
		{"no kind", one(`{"device":"eth0"}`), "change 1: kind is missing"},
		{"a misspelt queue", one(`{"kind":"rps_cpus","device":"eth0","direction":"rx","queu":0,"target":"x","proposed":""}`), `change 1: queue is missing (there is "queu")`},
		{"no value", one(`{"kind":"rps_cpus","device":"eth0","direction":"rx","queue":0}`), "change 1: proposed is missing"},
		{"a mask for a list", one(`{"kind":"rps_cpus","device":"eth0","direction":"rx","queue":0,"proposed":"ff"}`), "change 1: proposed"},
		{"no CPU for an interrupt", one(`{"kind":"irq_affinity","device":"eth0","direction":"rx","queue":0,"proposed":""}`), "at least one CPU"},
		{"a flow table of gigabytes", one(`{"kind":"rps_flow_cnt","device":"eth0","direction":"rx","queue":0,"proposed":"1000000000"}`), "from 0 to 1048576"},
		{"a negative backlog", one(`{"kind":"netdev_max_backlog","proposed":"-1"}`), "from 1 to"},
		{"a budget of what", one(`{"kind":"netdev_budget","proposed":"packet=1"}`), `"packet" is not one of packets, usecs`},
		{"the same name twice", one(`{"kind":"rings","device":"eth0","proposed":"rx=1 rx=2"}`), `"rx" is there twice`},
		{"weights of nothing", one(`{"kind":"rss_indirection","device":"eth0","proposed":"weights 0 0"}`), "all weights are 0"},
		{"the same setting twice", one(`{"kind":"netdev_max_backlog","proposed":"1"},{"kind":"netdev_max_backlog","proposed":"2"}`), "change 2 sets the same as change 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, err := ParsePlan([]byte(tt.text))
			if err == nil {
				t.Fatalf("taken: %v", brief(a.Changes))
			}
			if !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q does not say %q", err, tt.says)
			}
		})
	}
}

// netsteer's own plan is a plan file for the same machine.
func TestPlanRoundTrip(t *testing.T) {
	m := newMachine(2, 1, 4, 1)
	m.nic("eth0", 1, same(4, 0)...).xps("0", "1")
	f := m.facts(skew.Options{})
	a := Advise(f, Policy{})
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := ParsePlan(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := CheckHost(plan, m.inv, f.Allowed); err != nil {
		t.Error(err)
	}
	for i, c := range plan.Changes {
		r, err := Resolve(m.inv, c)
		if err != nil {
			t.Fatal(err)
		}
		if w := a.Changes[i]; r.Target != w.Target || *r.Current != *w.Current || r.Proposed != w.Proposed || r.Stage != w.Stage {
			t.Errorf("%+v, want %+v", r, w)
		}
		plan.Changes[i] = r
	}
	if got := Fingerprint(m.inv.BootID, plan.Changes); got != a.Fingerprint {
		t.Errorf("fingerprint %s, want %s", got, a.Fingerprint)
	}
}

func TestCheckHost(t *testing.T) {
	m := newMachine(1, 1, 4, 1)
	m.nic("eth0", 0, 0, 1)
	f := m.facts(skew.Options{})
	block := func(change func(*Host)) *Advice {
		h := hostBlock(m.inv, f.Allowed)
		change(&h)
		return &Advice{Host: h}
	}
	tests := []struct {
		name string
		plan *Advice
		says string
	}{
		{"none", &Advice{}, ""},
		{"the same", block(func(h *Host) {}), ""},
		{"another kernel", block(func(h *Host) { h.Kernel = "5.10" }), ""},
		{"more CPUs", block(func(h *Host) { h.Online = "0-7" }), "online CPUs are 0-3 here, 0-7 in the plan"},
		{"other allowed CPUs", block(func(h *Host) { h.Allowed = "0-1" }), "allowed CPUs are 0-3 here"},
		{"no list", block(func(h *Host) { h.Online = "x" }), "plan: host: online"},
		{"another driver", block(func(h *Host) { h.Devices["eth0"] = HostDevice{"ixgbe", 2} }), `driver "igb" here, "ixgbe"`},
		{"more queues", block(func(h *Host) { h.Devices["eth0"] = HostDevice{"igb", 8} }), "2 queues here, 8 in the plan"},
		{"a device more", block(func(h *Host) { h.Devices["eth9"] = HostDevice{"igb", 8} }), `device "eth9" is not there`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := CheckHost(tt.plan, m.inv, f.Allowed)
			if (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%v, want %q", err, tt.says)
			}
			if errors.Is(err, ErrNotThere) != (tt.name == "a device more") {
				t.Errorf("%v is or is not ErrNotThere", err)
			}
		})
	}
}

func TestResolveRefuses(t *testing.T) {
	m := newMachine(1, 1, 4, 1)
	m.inv.CPUs.Online = cpuset.Range(0, 2)
	m.nic("eth0", 0, 0, 1)
	at := func(kind host.Kind, device, direction string, queue int, proposed string) Change {
		return Change{Kind: kind, Device: device, Direction: direction, Queue: &queue, Proposed: proposed}
	}
	tests := []struct {
		name    string
		c       Change
		says    string
		missing bool
	}{
		{"a device that is not there", at(host.RPSCPUs, "eth9", "rx", 0, "1"), `device "eth9" is not there`, true},
		{"a queue that is not there", at(host.RPSCPUs, "eth0", "rx", 2, "1"), "rps_cpus of eth0 rx-2: the queue is not there", true},
		{"a vector that is not there", at(host.IRQAffinity, "eth0", "rx", 0, "1"), "irq_affinity of eth0 rx-0: the vector is not there", true},
		{"CPUs beyond", at(host.XPSCPUs, "eth0", "tx", 1, "0,4"), "CPU 4 is beyond this machine's CPUs 0-3", false},
		{"an interrupt to an offline CPU", at(host.IRQAffinity, "eth0", "combined", 0, "3"), "none of the CPUs 3 is online", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Resolve(m.inv, tt.c)
			if err == nil || !strings.Contains(err.Error(), tt.says) || errors.Is(err, ErrNotThere) != tt.missing {
				t.Errorf("%v, want %q", err, tt.says)
			}
		})
	}
}

func TestCurrent(t *testing.T) {
	m := newMachine(1, 1, 2, 1)
	d := m.nic("eth0", 0, 0, 1).xps("0-1").dev()
	d.RX[1].FlowEntries, d.TX[1].XPS = host.Known(4096), host.Mask{}
	m.inv.Sysctls = host.Sysctls{NetdevMaxBacklog: host.Known(1000), NetdevBudget: host.Known(300), NetdevBudgetUsecs: host.Known(8000)}
	zero, one := 0, 1
	for _, tt := range []struct {
		c     Change
		value string
		ok    bool
	}{
		{Change{Kind: host.IRQAffinity, Device: "eth0", Direction: "combined", Queue: &one}, "1", true},
		{Change{Kind: host.RPSCPUs, Device: "eth0", Direction: "rx", Queue: &zero}, "", true},
		{Change{Kind: host.RPSFlowCnt, Device: "eth0", Direction: "rx", Queue: &one}, "4096", true},
		{Change{Kind: host.XPSCPUs, Device: "eth0", Direction: "tx", Queue: &zero}, "0-1", true},
		{Change{Kind: host.XPSCPUs, Device: "eth0", Direction: "tx", Queue: &one}, "", false},
		{Change{Kind: host.NetdevMaxBacklog}, "1000", true},
		{Change{Kind: host.NetdevBudget}, "packets=300 usecs=8000", true},
		{Change{Kind: host.RPSSockFlowEntries}, "0", false},
		{Change{Kind: host.XPSCPUs, Device: "eth1", Direction: "tx", Queue: &one}, "", false},
	} {
		if value, ok := Current(m.inv, &tt.c); ok != tt.ok || ok && value != tt.value {
			t.Errorf("%s: %q, %v", tt.c.name(), value, ok)
		}
	}
}

// A fingerprint is of what is written on this boot, and of nothing else.
func TestFingerprint(t *testing.T) {
	one, now := 1, "0"
	c := Change{ID: "c1", Kind: host.IRQAffinity, Device: "eth0", Direction: "rx", Queue: &one, Target: "/proc/irq/26/smp_affinity_list", Current: &now, Proposed: "1", Reason: "a"}
	was := Fingerprint("boot", []Change{c})
	other := c
	other.ID, other.Target, other.Reason, other.Rule, other.CPUs = "c9", "/proc/irq/27/smp_affinity_list", "b", "x", []int{1}
	if got := Fingerprint("boot", []Change{other}); got != was || len(got) != len("sha256:")+64 {
		t.Errorf("%s, want %s", got, was)
	}
	for name, change := range map[string]func(*Change){
		"kind":      func(c *Change) { c.Kind = host.RPSCPUs },
		"device":    func(c *Change) { c.Device = "eth1" },
		"direction": func(c *Change) { c.Direction = "tx" },
		"queue":     func(c *Change) { c.Queue = nil },
		"current":   func(c *Change) { c.Current = nil },
		"proposed":  func(c *Change) { c.Proposed = "2" },
	} {
		d := c
		change(&d)
		if Fingerprint("boot", []Change{d}) == was {
			t.Errorf("%s is not in it", name)
		}
	}
	if Fingerprint("another", []Change{c}) == was {
		t.Error("the boot is not in it")
	}
}

func TestSelect(t *testing.T) {
	zero := 0
	at := func(id string, kind host.Kind, device, rule string) Change {
		return Change{ID: id, Kind: kind, Device: device, Queue: &zero, Rule: rule, Stage: stageOf(kind), Disruptive: kind == host.KindRings}
	}
	a := &Advice{
		Devices:  []Device{{Device: "eth0"}, {Device: "eth1"}},
		Findings: []Finding{{Severity: Warning, Changes: []string{"c1", "c2", "c3", "c4", "c5"}}, {Severity: Info, Changes: []string{"c6"}}},
		Changes: []Change{
			at("c0", host.KindRings, "eth0", "x"), at("c1", host.IRQAffinity, "eth0", "irq-stacked"), at("c2", host.RPSCPUs, "eth0", "rps-redundant"),
			at("c3", host.RPSCPUs, "eth0", "rps-missing"), at("c4", host.XPSCPUs, "eth1", "xps-mismatch"), at("c5", host.NetdevMaxBacklog, "", "x"),
			at("c6", host.XPSCPUs, "eth0", "xps-unset"),
		},
	}
	hand := &Advice{Changes: []Change{at("c1", host.RPSCPUs, "veth0", ""), at("c2", host.RPSFlowCnt, "veth0", "")}}
	mixed := &Advice{Changes: []Change{at("c1", host.RPSCPUs, "eth0", ""), at("c2", host.KindRings, "eth0", "")}}
	tests := []struct {
		name string
		a    *Advice
		s    Selection
		want string // ids, or the error
	}{
		{"default", a, Selection{}, "c1 c2 c4"},
		{"a device", a, Selection{Devices: []string{"eth1"}}, "c4"},
		{"kinds", a, Selection{Kinds: []host.Kind{host.RPSCPUs, host.NetdevMaxBacklog}}, "c2 c3 c5"},
		{"host-wide changes are not a device's", a, Selection{Kinds: []host.Kind{host.NetdevMaxBacklog}, Devices: []string{"eth0"}}, ""},
		{"a named kind, whatever the severity", a, Selection{Kinds: []host.Kind{host.XPSCPUs}}, "c4 c6"},
		{"a plan file is wanted as a whole", hand, Selection{}, "c1 c2"},
		{"a device that is none", a, Selection{Devices: []string{"eth9"}}, `unknown device "eth9"`},
		{"a kind that is none", a, Selection{Kinds: []host.Kind{"rps"}}, `unknown kind "rps"; kinds are irq_affinity, netdev_max_backlog, rps_cpus, rps_flow_cnt, rps_sock_flow_entries, xps_cpus`},
		{"a kind that cannot be applied", a, Selection{Kinds: []host.Kind{host.IRQAffinity, host.KindRings}}, "rings: this kind cannot be applied; these can: irq_affinity, "},
		{"nor with leave", a, Selection{Kinds: []host.Kind{host.KindRings}, AllowDisruptive: true}, "rings: this kind cannot be applied"},
		{"a plan file with one is refused as a whole", mixed, Selection{}, "rings: this kind cannot be applied"},
		{"whatever of it is wanted", mixed, Selection{Kinds: []host.Kind{host.RPSCPUs}, AllowDisruptive: true}, "rings: this kind cannot be applied"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			selected, left, err := Select(tt.a, tt.s)
			if err != nil {
				if !strings.HasPrefix(err.Error(), tt.want) || !errors.Is(err, ErrUnknownDevice) && !errors.Is(err, ErrUnknownKind) && !errors.Is(err, ErrUnwritable) {
					t.Errorf("%v, want %q", err, tt.want)
				}
				return
			}
			ids := []string{}
			for _, c := range selected {
				ids = append(ids, c.ID)
			}
			if got := strings.Join(ids, " "); got != tt.want || len(selected)+len(left) != len(tt.a.Changes) {
				t.Errorf("selected %q, %d left; want %q", got, len(left), tt.want)
			}
		})
	}
}

// Structure goes first, alone, once it can be written.
func TestSelectStage(t *testing.T) {
	all := unwritable
	t.Cleanup(func() { unwritable = all })
	unwritable = nil
	a := &Advice{Changes: []Change{
		{ID: "c0", Kind: host.KindRings, Stage: Structure, Disruptive: true, Rule: "x"},
		{ID: "c1", Kind: host.IRQAffinity, Stage: Steering, Rule: "x"},
	}}
	for leave, want := range map[bool]string{false: "c1", true: "c0"} {
		selected, left, err := Select(a, Selection{Kinds: []host.Kind{host.KindRings, host.IRQAffinity}, AllowDisruptive: leave})
		if err != nil || len(selected) != 1 || selected[0].ID != want || len(left) != 1 {
			t.Errorf("allowed %v: %v %v %v, want %s", leave, brief(selected), brief(left), err, want)
		}
	}
}

// Whatever is parsed parses again to the same, and names no path.
func FuzzParsePlan(f *testing.F) {
	f.Add([]byte(head + `{"kind":"rps_cpus","device":"eth0","direction":"rx","queue":1,"proposed":"0-3"}]}`))
	f.Add([]byte(head + `{"kind":"netdev_budget","proposed":"packets=300 usecs=8000"}],"host":{"online":"0-3","devices":{}}}`))
	f.Add([]byte(`{"schema":"netsteer.advice/v1","changes":null}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		a, err := ParsePlan(text)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %q", err)
			}
			return
		}
		again, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		b, err := ParsePlan(again)
		if err != nil || fmt.Sprint(brief(a.Changes)) != fmt.Sprint(brief(b.Changes)) {
			t.Errorf("%v: %v, again %v", err, brief(a.Changes), brief(b.Changes))
		}
		for _, c := range a.Changes {
			if strings.Contains(c.Device, "/") || c.Target != "" {
				t.Errorf("%+v", c)
			}
		}
		Shell(a, a.Changes, 64)
	})
}
