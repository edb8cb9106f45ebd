package apply_test

import (
	"context"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/netsteer/netsteer/apply"
	"github.com/netsteer/netsteer/host"
)

// crash applies the plan and dies at the n-th write, as a process would whose
// writes stay: its lock is gone, its record is not final.
func crash(t *testing.T, m *machine, e *apply.Engine, n int) {
	t.Helper()
	sets := 0
	m.before = func(c call) error {
		if c.op == "set" {
			if sets++; sets == n {
				panic("crash")
			}
		}
		return nil
	}
	defer func() {
		m.before = nil
		if recover() == nil {
			t.Fatal("no crash")
		}
	}()
	e.Apply(context.Background(), apply.Request{Changes: onePlan()})
}

func TestCrashIsUndoneAtAnyWrite(t *testing.T) {
	for n := 1; n <= len(onePlan()); n++ {
		m := newMachine(t)
		before := m.files()
		crash(t, m, m.engine(), n)
		e := m.engine() // the next process
		if left, err := e.Unfinished(); err != nil || len(left) != 1 || left[0].State != apply.Applying {
			t.Fatalf("write %d: %+v %v", n, left, err)
		}
		ended, err := e.Recover(context.Background())
		if err != nil || len(ended) != 1 || ended[0].State != apply.RolledBack {
			t.Fatalf("write %d: %+v %v", n, ended, err)
		}
		if d := differing(before, m.files()); len(d) > 0 {
			t.Errorf("write %d: not undone: %v", n, d)
		}
		if left, _ := e.Unfinished(); len(left) > 0 {
			t.Errorf("write %d: still unfinished", n)
		}
		if again, err := e.Recover(context.Background()); err != nil || len(again) > 0 {
			t.Errorf("write %d: undone twice: %v %v", n, again, err)
		}
	}
}

func TestApplyUndoesACrashFirst(t *testing.T) {
	m := newMachine(t)
	crash(t, m, m.engine(), 5)
	tx := mustApply(t, m.engine(), apply.Request{Changes: rps(1, "0,2")})
	if tx.State != apply.Committed || *tx.Changes[0].Current != "" {
		t.Errorf("the new transaction takes a crash's value for the former one: %+v", tx.Changes[0])
	}
}

func TestRecoveryLeavesWhatOthersChanged(t *testing.T) {
	m := newMachine(t)
	before := m.files()
	crash(t, m, m.engine(), 6)
	m.file(m.queueFile("rx", 1, "rps_cpus"), "80\n")
	ended, err := m.engine().Recover(context.Background())
	if err != nil || ended[0].State != apply.RolledBack || ended[0].Reason != "interrupted; 1 settings were changed by others meanwhile and left alone" {
		t.Errorf("%+v %v", ended, err)
	}
	if d := differing(before, m.files()); len(d) != 1 || m.rps(1) != "80" {
		t.Errorf("%v", d)
	}
}

func TestRecoveryThatFailsSaysSo(t *testing.T) {
	m := newMachine(t)
	crash(t, m, m.engine(), 6)
	m.before = func(c call) error {
		if c.op == "set" && c.setting.Kind == host.NetdevMaxBacklog {
			return unix.EIO
		}
		return nil
	}
	e := m.engine()
	ended, err := e.Recover(context.Background())
	if err != nil || ended[0].State != apply.Failed {
		t.Fatalf("%+v %v", ended, err)
	}
	m.before = nil
	// What failed can be tried again by its id.
	if back := rollback(t, e, apply.RollbackRequest{ID: ended[0].ID}); back.State != apply.Committed {
		t.Errorf("%+v", back)
	}
	if tx, err := e.Get(ended[0].ID); err != nil || tx.State != apply.RolledBack {
		t.Errorf("%+v %v", tx, err)
	}
}

func TestOldCrashIsReportedAndRolledBackOnRequest(t *testing.T) {
	for name, option := range map[string]func(*apply.Options){
		"old":    func(o *apply.Options) { o.Now = func() time.Time { return time.Now().Add(11 * time.Minute) } },
		"report": func(o *apply.Options) { o.ReportOnly = true },
	} {
		m := newMachine(t)
		before := m.files()
		crash(t, m, m.engine(), 6)
		crashed := m.files()
		e := m.engine(option)
		left, err := e.Recover(context.Background())
		if err != nil || len(left) != 1 || left[0].State != apply.Applying {
			t.Fatalf("%s: %+v %v", name, left, err)
		}
		if d := differing(crashed, m.files()); len(d) > 0 {
			t.Errorf("%s: written: %v", name, d)
		}
		rollback(t, e, apply.RollbackRequest{ID: left[0].ID})
		if d := differing(before, m.files()); len(d) > 0 {
			t.Errorf("%s: not rolled back: %v", name, d)
		}
		if left, _ := e.Unfinished(); len(left) > 0 {
			t.Errorf("%s: still unfinished", name)
		}
	}
}

func TestCrashOfAnotherBootIsHistory(t *testing.T) {
	m := newMachine(t)
	crash(t, m, m.engine(), 6)
	now := m.files()
	e := m.engine(func(o *apply.Options) { o.BootID = "boot-2" })
	ended, err := e.Recover(context.Background())
	if err != nil || len(ended) != 1 || ended[0].State != apply.RolledBack {
		t.Fatalf("%+v %v", ended, err)
	}
	if d := differing(now, m.files()); len(d) > 0 {
		t.Errorf("written: %v", d)
	}
}
