package apply_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/netsteer/netsteer/advisor"
	"github.com/netsteer/netsteer/apply"
	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
)

func mustApply(t *testing.T, e *apply.Engine, r apply.Request) *apply.Transaction {
	t.Helper()
	tx, err := e.Apply(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

func refusal(t *testing.T, err error, word apply.Word, parts ...string) {
	t.Helper()
	var r *apply.Refused
	if !errors.As(err, &r) || r.Word != word {
		t.Fatalf("got %v, want a refusal with the word %s", err, word)
	}
	if strings.Contains(r.Detail, "\n") {
		t.Errorf("more than one line: %q", r.Detail)
	}
	for _, part := range parts {
		if !strings.Contains(r.Detail, part) {
			t.Errorf("%q does not say %q", r.Detail, part)
		}
	}
}

func results(tx *apply.Transaction) string {
	var all []string
	for i := range tx.Changes {
		all = append(all, string(tx.Changes[i].Result))
	}
	return strings.Join(all, " ")
}

func TestPlanChangesItsFilesAndNoOtherInOrder(t *testing.T) {
	m := newMachine(t)
	before := m.files()
	var order []host.Kind
	m.before = func(c call) error {
		if c.op == "set" {
			order = append(order, c.setting.Kind)
		}
		return nil
	}
	e := m.engine()
	tx := mustApply(t, e, apply.Request{Changes: onePlan(), Actor: "cli:root"})
	if tx.State != apply.Committed || tx.Ended == "" || tx.BootID != "boot-1" || tx.Actor != "cli:root" {
		t.Errorf("%+v", tx)
	}
	if d := differing(wantFiles(m, before, onePlan()), m.files()); len(d) > 0 {
		t.Errorf("not as planned: %v", d)
	}
	want := []host.Kind{host.IRQAffinity, host.IRQAffinity, host.NetdevMaxBacklog, host.RPSCPUs, host.RPSSockFlowEntries, host.RPSFlowCnt, host.XPSCPUs}
	for i := range want {
		if order[i] != want[i] {
			t.Errorf("written in the order %v", order)
			break
		}
	}
	// Effective is CPU 0 for both vectors: one may not run there, so it is yet to move.
	if got := results(tx); got != "pending pending applied applied applied applied applied" {
		t.Error(got)
	}

	m.before = nil
	back, err := e.Rollback(context.Background(), apply.RollbackRequest{Actor: "cli:root"})
	if err != nil || back.State != apply.Committed || back.Undoes != tx.ID || back.Operation != apply.Rollback {
		t.Fatalf("%+v, %v", back, err)
	}
	if d := differing(before, m.files()); len(d) > 0 {
		t.Errorf("rollback leaves %v", d)
	}
}

func TestEffectiveWithinTheMaskIsApplied(t *testing.T) {
	m := newMachine(t)
	tx := mustApply(t, m.engine(), apply.Request{Changes: []advisor.Change{change(host.IRQAffinity, "combined", 0, "0-1")}})
	if results(tx) != "applied" || *tx.Changes[0].Stored != "0-1" || *tx.Changes[0].Current != "0-7" {
		t.Errorf("%+v", tx.Changes[0])
	}
}

func TestRecordWithAllFormerValuesIsOnDiskBeforeTheFirstWrite(t *testing.T) {
	m := newMachine(t)
	var at apply.Transaction
	var dir string
	m.before = func(c call) error {
		if c.op == "set" && at.ID == "" {
			found, _ := filepath.Glob(filepath.Join(dir, "transactions/*"))
			if len(found) != 1 {
				t.Fatalf("records at the first write: %v", found)
			}
			text, err := os.ReadFile(found[0])
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(text, &at); err != nil {
				t.Fatal(err)
			}
		}
		return nil
	}
	e := m.engine(func(o *apply.Options) { dir = o.Dir })
	tx := mustApply(t, e, apply.Request{Changes: onePlan()})
	if at.ID != tx.ID || at.State != apply.Applying || len(at.Changes) != len(onePlan()) {
		t.Fatalf("%+v", at)
	}
	former := map[host.Kind]string{host.IRQAffinity: "0-7", host.NetdevMaxBacklog: "1000", host.RPSCPUs: "", host.RPSSockFlowEntries: "0", host.RPSFlowCnt: "0", host.XPSCPUs: "2-3"}
	for _, c := range at.Changes {
		if c.Current == nil || *c.Current != former[c.Kind] {
			t.Errorf("%s: former value %v", c.Kind, c.Current)
		}
	}
	for path, mode := range map[string]os.FileMode{"": 0o755, "lock": 0o600, "transactions": 0o755, "transactions/" + tx.ID + ".json": 0o644} {
		info, err := os.Stat(filepath.Join(dir, path))
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("%q: %v %v, want mode %o", path, info, err, mode)
		}
	}
}

func TestRefusals(t *testing.T) {
	disruptive := change(host.RPSCPUs, "rx", 0, "1")
	disruptive.Disruptive = true
	noQueue := change(host.RPSCPUs, "rx", 0, "1")
	noQueue.Queue = nil
	other := change(host.RPSCPUs, "rx", 0, "1")
	other.Device = "../../etc"
	for _, c := range []struct {
		name   string
		change advisor.Change
		word   apply.Word
		says   []string
	}{
		{"kind of structure", hostWide(host.KindChannels, "combined=4"), apply.WordRefused, []string{"channels", "irq_affinity, netdev_max_backlog, rps_cpus"}},
		{"no such kind", hostWide("smp_affinity", "1"), apply.WordUnknownKind, []string{`"smp_affinity"`, "xps_cpus"}},
		{"device that is a path", other, apply.WordUnknownDevice, []string{"../../etc"}},
		{"queue that is not there", change(host.RPSCPUs, "rx", 9, "1"), apply.WordRefused, []string{"rx-9"}},
		{"vector that is not there", change(host.IRQAffinity, "rx", 0, "1"), apply.WordRefused, []string{"rx-0", "no vector"}},
		{"no queue", noQueue, apply.WordRefused, []string{`"queue" is missing`}},
		{"wrong direction", change(host.XPSCPUs, "rx", 0, "1"), apply.WordRefused, []string{`"rx" is not tx`}},
		{"mask beyond the CPUs", change(host.RPSCPUs, "rx", 0, "7-8"), apply.WordRefused, []string{"CPUs 8", "0-7"}},
		{"no CPU online", change(host.XPSCPUs, "tx", 0, "6"), apply.WordRefused, []string{"online"}},
		{"vector without a CPU", change(host.IRQAffinity, "combined", 0, ""), apply.WordRefused, []string{"empty"}},
		{"not a list", change(host.RPSCPUs, "rx", 0, "0x3"), apply.WordRefused, nil},
		{"flow table of gigabytes", change(host.RPSFlowCnt, "rx", 0, "1000000000"), apply.WordRefused, []string{"65536"}},
		{"no backlog", hostWide(host.NetdevMaxBacklog, "0"), apply.WordRefused, []string{"from 1"}},
		{"negative", hostWide(host.RPSSockFlowEntries, "-1"), apply.WordRefused, nil},
		{"host-wide with a device", advisor.Change{Kind: host.NetdevMaxBacklog, Device: "eth0", Proposed: "1"}, apply.WordRefused, []string{"whole host"}},
		{"disruptive", disruptive, apply.WordRefused, []string{"--allow-disruptive"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t)
			m.inv.CPUs.Online = m.inv.CPUs.Online.Minus(cpuset.Of(6))
			before := m.files()
			e := m.engine()
			good := change(host.XPSCPUs, "tx", 3, "0")
			_, err := e.Apply(context.Background(), apply.Request{Changes: []advisor.Change{good, c.change}})
			refusal(t, err, c.word, c.says...)
			if d := differing(before, m.files()); len(d) > 0 {
				t.Errorf("written: %v", d)
			}
			if all, err := e.List(); len(all) > 0 || err != nil {
				t.Errorf("a refusal left a record: %v %v", all, err)
			}
			if counts, err := e.Counts(); err != nil || counts["rejected"].N != 1 || counts["applied"].N != 0 {
				t.Errorf("%v %v", counts, err)
			}
		})
	}
}

func TestSameSettingTwiceIsRefused(t *testing.T) {
	m := newMachine(t)
	twice := []advisor.Change{change(host.RPSCPUs, "rx", 0, "1"), change(host.RPSCPUs, "", 0, "2")}
	_, err := m.engine().Apply(context.Background(), apply.Request{Changes: twice})
	refusal(t, err, apply.WordRefused, "twice")
}

func TestReadingProcessRefuses(t *testing.T) {
	m := newMachine(t)
	e := m.engine(func(o *apply.Options) { o.Setter = nil })
	_, err := e.Apply(context.Background(), apply.Request{Changes: onePlan()})
	refusal(t, err, apply.WordRefused, "only reads")
	_, err = e.Rollback(context.Background(), apply.RollbackRequest{})
	refusal(t, err, apply.WordRefused, "only reads")
}

func TestDeviceOfAnotherNamespaceIsRefused(t *testing.T) {
	m := newMachine(t)
	m.inv.Degraded = []host.Degraded{{Source: host.SourceNetlink, Device: "eth0", Reason: host.ReasonOtherNamespace}}
	_, err := m.engine().Apply(context.Background(), apply.Request{Changes: onePlan()})
	refusal(t, err, apply.WordRefused, "another network namespace")
}

func TestMissingIsLeftOutOnRequest(t *testing.T) {
	m := newMachine(t)
	gone := change(host.XPSCPUs, "tx", 1, "1")
	gone.Device = "eth9"
	plan := []advisor.Change{change(host.RPSCPUs, "rx", 9, "1"), change(host.RPSCPUs, "rx", 0, "1"), gone}
	tx := mustApply(t, m.engine(), apply.Request{Changes: plan, SkipMissing: true})
	if tx.State != apply.Committed || results(tx) != "not_tried applied not_tried" {
		t.Fatalf("%s %s", tx.State, results(tx))
	}
	for _, i := range []int{0, 2} {
		if err := tx.Changes[i].Error; err == nil || err.Code != apply.CodeGone {
			t.Errorf("change %d: %+v", i, err)
		}
	}
}

func TestNothingToChangeSaysWhatIsMissing(t *testing.T) {
	m := newMachine(t)
	gone := rps(77, "1")
	for _, tt := range []struct {
		changes []advisor.Change
		dry     bool
		state   apply.State
		says    string
	}{
		{nil, true, apply.DryRun, "nothing to change"},
		{rps(0, ""), true, apply.DryRun, "nothing to change"},
		{append(rps(78, "1"), gone...), false, apply.Committed, "nothing to change: 2 of 2 are not there"},
		{append(rps(0, ""), gone...), true, apply.DryRun, "nothing to change: 1 of 2 are not there"},
		{append(rps(0, "1"), gone...), true, apply.DryRun, ""},
	} {
		tx := mustApply(t, m.engine(), apply.Request{Changes: tt.changes, DryRun: tt.dry, SkipMissing: true})
		if tx.State != tt.state || tx.Reason != tt.says || tx.ID != "" {
			t.Errorf("%v: %s %q, want %q", tt.changes, tx.State, tx.Reason, tt.says)
		}
	}
}

// What the advisor selects can be applied, and what it refuses cannot.
func TestAdvisorAndEngineHaveTheSameKinds(t *testing.T) {
	for _, kind := range []host.Kind{
		host.IRQAffinity, host.RPSCPUs, host.RPSFlowCnt, host.XPSCPUs, host.RPSSockFlowEntries, host.NetdevMaxBacklog, host.NetdevBudget,
		host.KindChannels, host.KindRings, host.RSSIndirection, host.RSSHashFields, host.KindFeatures, host.KindCoalesce,
	} {
		_, _, err := advisor.Select(&advisor.Advice{}, advisor.Selection{Kinds: []host.Kind{kind}})
		if can := slices.Contains(apply.Kinds(), kind); can != (err == nil) {
			t.Errorf("%s: can be applied %v, selected: %v", kind, can, err)
		}
	}
}

func TestWhatHoldsIsNotWritten(t *testing.T) {
	m := newMachine(t)
	m.file(m.queueFile("rx", 0, "rps_flow_cnt"), "1024\n")
	m.before = func(c call) error {
		if c.op == "set" {
			t.Errorf("written: %v", c)
		}
		return nil
	}
	e := m.engine()
	plan := []advisor.Change{
		change(host.XPSCPUs, "tx", 0, "1,0"), // the same set in other words
		change(host.RPSFlowCnt, "rx", 0, "1000"),
		change(host.IRQAffinity, "combined", 3, "0-7"),
	}
	tx := mustApply(t, e, apply.Request{Changes: plan})
	if tx.State != apply.Committed || tx.ID != "" || results(tx) != "unchanged unchanged unchanged" {
		t.Errorf("%+v", tx)
	}
	if all, _ := e.List(); len(all) > 0 {
		t.Error("nothing was written, and it is recorded as if it were the one to roll back")
	}
}

func TestDryRunChecksAndWritesNothing(t *testing.T) {
	m := newMachine(t)
	before := m.files()
	var dir string
	e := m.engine(func(o *apply.Options) { dir = o.Dir })
	tx := mustApply(t, e, apply.Request{Changes: onePlan(), DryRun: true})
	if tx.State != apply.DryRun || !strings.HasPrefix(results(tx), "not_tried not_tried") {
		t.Errorf("%s: %s", tx.State, results(tx))
	}
	if d := differing(before, m.files()); len(d) > 0 {
		t.Errorf("written: %v", d)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("a dry run made the state directory: %v", err)
	}
	_, err := e.Apply(context.Background(), apply.Request{Changes: []advisor.Change{hostWide("x", "1")}, DryRun: true})
	refusal(t, err, apply.WordUnknownKind)
	if counts, _ := e.Counts(); counts["rejected"].N != 0 {
		t.Error("a dry run counts as rejected")
	}
}

func TestPlanWithFingerprintHoldsOrIsRefused(t *testing.T) {
	current := "2-3"
	c := change(host.XPSCPUs, "tx", 1, "4-5")
	c.Current = &current
	request := apply.Request{Changes: []advisor.Change{c}, Fingerprint: "sha256:00"}

	m := newMachine(t)
	if tx := mustApply(t, m.engine(), request); tx.State != apply.Committed || tx.Fingerprint != "sha256:00" {
		t.Errorf("%+v", tx)
	}
	m = newMachine(t)
	m.file(m.queueFile("tx", 1, "xps_cpus"), "80\n")
	_, err := m.engine().Apply(context.Background(), request)
	refusal(t, err, apply.WordPlanChanged, `"7"`, `"2-3"`)
	request.Fingerprint = "" // a plan file is intent: its current is not read
	if tx := mustApply(t, m.engine(), request); tx.State != apply.Committed || *tx.Changes[0].Current != "7" {
		t.Errorf("%+v", tx)
	}
}

func TestKernelStoresSomethingElse(t *testing.T) {
	for _, c := range []struct {
		name   string
		change advisor.Change
		stores string
		state  apply.State
		result apply.Result
		code   apply.Code
	}{
		{"isolated CPUs taken out of RPS", change(host.RPSCPUs, "rx", 0, "1,6-7"), "1", apply.Committed, apply.Applied, apply.CodeTrimmed},
		{"RPS switched off instead", change(host.RPSCPUs, "rx", 0, "6-7"), "", apply.RolledBack, apply.NoEffect, apply.CodeNoEffect},
		{"another CPU put in", change(host.XPSCPUs, "tx", 0, "4"), "4,5", apply.RolledBack, apply.Undone, apply.CodeNoEffect},
		{"power of two", change(host.RPSFlowCnt, "rx", 0, "1000"), "1024", apply.Committed, apply.Applied, ""},
		{"another number", change(host.RPSFlowCnt, "rx", 0, "1000"), "512", apply.RolledBack, apply.Undone, apply.CodeNoEffect},
		{"vector's mask trimmed", change(host.IRQAffinity, "combined", 0, "1-2"), "1", apply.RolledBack, apply.Undone, apply.CodeNoEffect},
		{"vector not moved at all", change(host.IRQAffinity, "combined", 0, "1"), "0-7", apply.RolledBack, apply.NoEffect, apply.CodeNoEffect},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t)
			before := m.files()
			m.store = func(_ host.Setting, v host.Value) (string, bool) { return c.stores, string(v) == c.change.Proposed }
			tx := mustApply(t, m.engine(), apply.Request{Changes: []advisor.Change{c.change}})
			got := tx.Changes[0]
			if tx.State != c.state || got.Result != c.result {
				t.Errorf("%s %s: %s", tx.State, got.Result, tx.Reason)
			}
			if got.Error == nil {
				got.Error = &apply.ChangeError{}
			}
			if got.Error.Code != c.code {
				t.Errorf("code %q, want %q", got.Error.Code, c.code)
			}
			if d := differing(before, m.files()); c.state == apply.RolledBack && len(d) > 0 {
				t.Errorf("not undone: %v", d)
			}
		})
	}
}

func TestVectorsOfRivalsAreLeftToThem(t *testing.T) {
	m := newMachine(t)
	m.inv.Rivals = []host.Rival{{Name: "irqbalance", Active: true, BannedIRQs: []int{42}}, {Name: "tuned"}}
	plan := []advisor.Change{
		change(host.IRQAffinity, "combined", 1, "1"),
		change(host.IRQAffinity, "combined", 2, "2"),
		change(host.IRQAffinity, "combined", 3, "3"),
		change(host.XPSCPUs, "tx", 1, "1"),
	}
	tx := mustApply(t, m.engine(), apply.Request{Changes: plan})
	if tx.State != apply.Committed || results(tx) != "rival pending rival applied" {
		t.Fatalf("%s: %s", tx.State, results(tx))
	}
	if err := tx.Changes[0].Error; err.Code != apply.CodeRival || !strings.Contains(err.Detail, "--banirq=41") {
		t.Errorf("%+v", err)
	}
	if !strings.Contains(tx.Reason, `IRQBALANCE_ARGS="--banirq=41 --banirq=43"`) {
		t.Error(tx.Reason)
	}

	m.inv.Rivals[0].BannedModules = []string{"igb"}
	if tx := mustApply(t, m.engine(), apply.Request{Changes: plan[:1]}); results(tx) != "pending" {
		t.Errorf("the driver is banned: %s", results(tx))
	}
	m.inv.Rivals[0] = host.Rival{Name: "irqbalance", Active: true}
	if tx := mustApply(t, m.engine(), apply.Request{Changes: plan[2:3], AllowRival: true}); results(tx) != "pending" {
		t.Errorf("rivals are allowed: %s", results(tx))
	}
}
