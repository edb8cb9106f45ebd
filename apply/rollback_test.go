package apply_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/netsteer/netsteer/advisor"
	"github.com/netsteer/netsteer/apply"
	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
)

func rollback(t *testing.T, e *apply.Engine, r apply.RollbackRequest) *apply.Transaction {
	t.Helper()
	tx, err := e.Rollback(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

func rps(queue int, set string) []advisor.Change {
	return []advisor.Change{change(host.RPSCPUs, "rx", queue, set)}
}

func (m *machine) rps(queue int) string {
	m.t.Helper()
	text, err := os.ReadFile(m.path(m.queueFile("rx", queue, "rps_cpus")))
	if err != nil {
		m.t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

func TestRollbackIsOfTheLastAndOnlyOnce(t *testing.T) {
	m := newMachine(t)
	e := m.engine()
	_, err := e.Rollback(context.Background(), apply.RollbackRequest{})
	refusal(t, err, apply.WordUnknownTransaction, "no committed transaction")

	first := mustApply(t, e, apply.Request{Changes: rps(0, "1")})
	second := mustApply(t, e, apply.Request{Changes: rps(1, "1")})
	if back := rollback(t, e, apply.RollbackRequest{}); back.Undoes != second.ID || m.rps(0) != "02" || m.rps(1) != "00" {
		t.Errorf("%+v: %s %s", back, m.rps(0), m.rps(1))
	}
	_, err = e.Rollback(context.Background(), apply.RollbackRequest{})
	refusal(t, err, apply.WordRefused, second.ID, "already")
	_, err = e.Rollback(context.Background(), apply.RollbackRequest{ID: second.ID})
	refusal(t, err, apply.WordRefused, "already")
	if back := rollback(t, e, apply.RollbackRequest{ID: first.ID}); back.Undoes != first.ID || m.rps(0) != "00" {
		t.Errorf("%+v: %s", back, m.rps(0))
	}
	for _, id := range []string{"20261130T142530Z-7f3a", "../../../etc/passwd", first.ID + "\n"} {
		_, err = e.Rollback(context.Background(), apply.RollbackRequest{ID: id})
		refusal(t, err, apply.WordUnknownTransaction)
	}
}

func TestRollbackIsRefusedWhenALaterOneWroteTheSame(t *testing.T) {
	m := newMachine(t)
	e := m.engine()
	first := mustApply(t, e, apply.Request{Changes: append(rps(0, "1"), rps(1, "1")...)})
	other := mustApply(t, e, apply.Request{Changes: rps(2, "1")})
	second := mustApply(t, e, apply.Request{Changes: rps(0, "2")})
	_, err := e.Rollback(context.Background(), apply.RollbackRequest{ID: first.ID})
	refusal(t, err, apply.WordRefused, second.ID, "later")

	rollback(t, e, apply.RollbackRequest{ID: other.ID}) // wrote other settings than the later one
	rollback(t, e, apply.RollbackRequest{ID: second.ID})
	// second and its rollback both wrote rx-0 later, and are as if they had not been.
	rollback(t, e, apply.RollbackRequest{ID: first.ID})
	if m.rps(0)+m.rps(1)+m.rps(2) != "000000" {
		t.Error(m.rps(0), m.rps(1), m.rps(2))
	}
}

func TestRollbackLeavesWhatOthersChanged(t *testing.T) {
	m := newMachine(t)
	e := m.engine()
	tx := mustApply(t, e, apply.Request{Changes: append(rps(0, "1"), rps(1, "1")...)})
	m.file(m.queueFile("rx", 0, "rps_cpus"), "80\n")
	back := rollback(t, e, apply.RollbackRequest{})
	if back.State != apply.Committed || m.rps(0) != "80" || m.rps(1) != "00" || !strings.HasPrefix(back.Reason, "1 of 2 left alone: rps_cpus of eth0 rx-0 holds another value") {
		t.Errorf("%+v: %s %s", back, m.rps(0), m.rps(1))
	}
	left := back.Changes[1]
	if left.Result != apply.NotTried || left.Error == nil || left.Error.Code != apply.CodeChanged || !strings.Contains(left.Error.Detail, `"7"`) {
		t.Errorf("%+v", left)
	}
	_, err := e.Rollback(context.Background(), apply.RollbackRequest{ID: tx.ID})
	refusal(t, err, apply.WordRefused, "already")
}

func TestRollbackThatUndoesNothingSaysWhy(t *testing.T) {
	m := newMachine(t)
	e := m.engine()
	tx := mustApply(t, e, apply.Request{Changes: append(rps(0, "1"), rps(1, "1")...)})
	m.file(m.queueFile("rx", 0, "rps_cpus"), "80\n")
	m.file(m.queueFile("rx", 1, "rps_cpus"), "80\n")
	back := rollback(t, e, apply.RollbackRequest{})
	if want := "nothing was undone: rps_cpus of eth0 rx-1 holds another value than was written: --force writes it back anyway (and 1 more)"; back.ID != "" || back.Reason != want {
		t.Errorf("%+v", back)
	}
	if err := os.RemoveAll(m.path("sys/class/net/eth0/queues/rx-1")); err != nil {
		t.Fatal(err)
	}
	back = rollback(t, e, apply.RollbackRequest{ID: tx.ID})
	if want := "nothing was undone: rps_cpus of eth0 rx-1 is not there (and 1 more)"; back.ID != "" || back.Reason != want {
		t.Errorf("the device is there, the queue is not: %s", back.Reason)
	}
}

func TestRollbackMakesNoFolder(t *testing.T) {
	m := newMachine(t)
	dir := m.path("none")
	for id, says := range map[string]string{"": "no committed transaction", "foo": `"foo"`} {
		_, err := m.engine(func(o *apply.Options) { o.Dir = dir }).Rollback(context.Background(), apply.RollbackRequest{ID: id})
		refusal(t, err, apply.WordUnknownTransaction, says)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Error(err)
	}
}

func TestForcedRollbackWritesOverOthers(t *testing.T) {
	m := newMachine(t)
	e := m.engine()
	first := mustApply(t, e, apply.Request{Changes: rps(0, "1")})
	mustApply(t, e, apply.Request{Changes: rps(0, "2")})
	m.file(m.queueFile("rx", 0, "rps_cpus"), "80\n")
	if back := rollback(t, e, apply.RollbackRequest{ID: first.ID, Force: true}); back.State != apply.Committed || m.rps(0) != "00" {
		t.Errorf("%+v: %s", back, m.rps(0))
	}
}

func TestRollbackOfWhatTheKernelMadeOfTheValue(t *testing.T) {
	m := newMachine(t)
	m.store = func(s host.Setting, v host.Value) (string, bool) { return "1", v == "1,6-7" }
	e := m.engine()
	mustApply(t, e, apply.Request{Changes: rps(0, "1,6-7")})
	if back := rollback(t, e, apply.RollbackRequest{}); back.State != apply.Committed || m.rps(0) != "00" {
		t.Errorf("%+v: %s", back, m.rps(0))
	}
}

func TestRollbackAfterARestart(t *testing.T) {
	m := newMachine(t)
	e := m.engine()
	mustApply(t, e, apply.Request{Changes: append(rps(0, "1"), rps(1, "1")...)})
	// rx-1 is what the boot made it; rx-0 was written again by a boot script. The
	// vectors have other numbers, and the device another index.
	m.file(m.queueFile("rx", 1, "rps_cpus"), "00\n")
	m.file("sys/class/net/eth0/ifindex", "9\n")
	m.inv.Devices[0].Ifindex = 9
	again := m.engine(func(o *apply.Options) { o.BootID = "boot-2" })
	back := rollback(t, again, apply.RollbackRequest{})
	if back.State != apply.Committed || results(back) != "unchanged applied" || m.rps(0) != "00" {
		t.Errorf("%s %s: %s", back.State, results(back), m.rps(0))
	}
}

func TestRollbackWithNothingLeftToUndo(t *testing.T) {
	m := newMachine(t)
	e := m.engine()
	mustApply(t, e, apply.Request{Changes: rps(0, "1")})
	m.file(m.queueFile("rx", 0, "rps_cpus"), "00\n")
	back := rollback(t, e, apply.RollbackRequest{})
	if back.State != apply.Committed || back.ID != "" || results(back) != "unchanged" || back.Reason != "nothing to undo: all is as before already" {
		t.Errorf("%+v", back)
	}
	if err := os.RemoveAll(m.path("sys/class/net/eth0")); err != nil {
		t.Fatal(err)
	}
	m.inv.Devices = nil
	back = rollback(t, e, apply.RollbackRequest{})
	if back.State != apply.Committed || back.Changes[0].Error.Code != apply.CodeGone || back.Reason != "nothing was undone: eth0 is not there" {
		t.Errorf("the device is gone: %+v", back.Changes[0])
	}
}

func TestRollbackThatFailsIsUndoneItself(t *testing.T) {
	m := newMachine(t)
	e := m.engine()
	tx := mustApply(t, e, apply.Request{Changes: onePlan()})
	applied := m.files()
	sets := 0
	m.before = func(c call) error {
		if c.op == "set" {
			if sets++; sets == 4 {
				return os.ErrInvalid
			}
		}
		return nil
	}
	back := rollback(t, e, apply.RollbackRequest{})
	if back.State != apply.RolledBack {
		t.Errorf("%s: %s", back.State, back.Reason)
	}
	if d := differing(applied, m.files()); len(d) > 0 {
		t.Errorf("half undone: %v", d)
	}
	m.before = nil
	if back := rollback(t, e, apply.RollbackRequest{}); back.Undoes != tx.ID || back.State != apply.Committed {
		t.Errorf("%+v", back)
	}
}

func TestRollbackRestoresEveryIntentFileByteForByte(t *testing.T) {
	m := newMachine(t)
	m.file(m.queueFile("rx", 3, "rps_cpus"), "a5\n")
	m.file(m.irqFile(43, "smp_affinity_list"), "1,3,5-7\n")
	m.file(m.irqFile(43, "smp_affinity"), "ea\n")
	before := m.files()
	e := m.engine()
	var plan []advisor.Change
	for q := range queues {
		plan = append(plan, change(host.IRQAffinity, "combined", q, cpuset.Of(q).String()),
			change(host.RPSCPUs, "rx", q, "0-7"), change(host.XPSCPUs, "tx", q, cpuset.Of(q, q+4).String()))
	}
	if tx := mustApply(t, e, apply.Request{Changes: plan}); tx.State != apply.Committed {
		t.Fatalf("%+v", tx)
	}
	if d := differing(wantFiles(m, before, plan), m.files()); len(d) > 0 {
		t.Fatalf("not as planned: %v", d)
	}
	rollback(t, e, apply.RollbackRequest{})
	if d := differing(before, m.files()); len(d) > 0 {
		t.Errorf("not restored: %v", d)
	}
}
