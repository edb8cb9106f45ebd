package apply_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/netsteer/netsteer/advisor"
	"github.com/netsteer/netsteer/apply"
	"github.com/netsteer/netsteer/host"
)

var errnos = []unix.Errno{unix.EACCES, unix.EPERM, unix.EROFS, unix.EIO, unix.EINVAL, unix.ENOSPC, unix.ENOENT, unix.ENODEV}

// allOrNothing checks what must hold after any apply, however it ended. before
// are the files from then, want those of a commit.
func allOrNothing(t *testing.T, m *machine, e *apply.Engine, tx *apply.Transaction, err error, before, want map[string]string) {
	t.Helper()
	now := m.files()
	all, listErr := e.List()
	if listErr != nil {
		t.Fatal(listErr)
	}
	if err != nil {
		var r *apply.Refused
		if !errors.As(err, &r) || r.Word == "" || r.Detail == "" {
			t.Errorf("not a refusal: %v", err)
		}
		if d := differing(before, now); len(d) > 0 {
			t.Errorf("refused (%v), and written: %v", err, d)
		}
		if tx != nil || len(all) > 0 {
			t.Errorf("refused, and recorded: %v", all)
		}
		return
	}
	if len(all) != 1 || all[0].ID != tx.ID || all[0].State != tx.State || !all[0].State.Final() {
		t.Errorf("the record differs from the answer: %+v", all)
	}
	switch tx.State {
	case apply.Committed:
		if d := differing(want, now); len(d) > 0 {
			t.Errorf("committed, and not as planned: %v", d)
		}
	case apply.RolledBack:
		if d := differing(before, now); len(d) > 0 {
			t.Errorf("rolled back, and not as before: %v (%s)", d, tx.Reason)
		}
		if tx.Reason == "" {
			t.Error("rolled back without a reason")
		}
	case apply.Failed:
		named := map[string]bool{}
		for i := range tx.Changes {
			if c := &tx.Changes[i]; c.Result == apply.UndoFailed {
				named[m.name(c.Setting())] = true
				if c.Kind == host.IRQAffinity {
					named[m.irqFile(40+*c.Queue, "smp_affinity")] = true // the same value as a mask
				}
				if c.Error == nil || c.Error.Code != apply.CodeUndo {
					t.Errorf("undo failed without an error: %+v", c)
				}
			}
		}
		for _, name := range differing(before, now) {
			if !named[name] {
				t.Errorf("failed, and %s is not as before and not named", name)
			}
		}
		if len(named) == 0 {
			t.Error("failed, and names nothing")
		}
	default:
		t.Errorf("state %s", tx.State)
	}
}

// TestAnyFailureAtAnyCall lets each call of a transaction fail with each errno,
// alone, and with one of them and the undo failing as well.
func TestAnyFailureAtAnyCall(t *testing.T) {
	m := newMachine(t)
	mustApply(t, m.engine(), apply.Request{Changes: onePlan()})
	total := m.calls
	if total < 4*len(onePlan()) {
		t.Fatalf("%d calls", total)
	}
	const alone = "and none after"
	then := map[string]func(c call) bool{
		"and none after":       func(call) bool { return false },
		"and the next write":   nil, // made below: it counts
		"and all writes after": func(c call) bool { return c.op == "set" },
		"and all reads after":  func(c call) bool { return c.op == "get" },
	}
	ends := map[apply.State]int{} // "refused" too
	for name, again := range then {
		first := errnos
		if name != alone {
			first = []unix.Errno{unix.EINVAL}
		}
		for _, errno := range first {
			for n := 1; n <= total; n++ {
				// The second failure is EIO: were both of a vanished device, it would
				// have vanished.
				m := newMachine(t)
				before := m.files()
				once := true
				m.before = func(c call) error {
					switch {
					case c.n < n:
						return nil
					case c.n == n:
						return errno
					case again != nil && again(c):
						return unix.EIO
					case again == nil && once && c.op == "set":
						once = false
						return unix.EIO
					}
					return nil
				}
				e := m.engine()
				tx, err := e.Apply(context.Background(), apply.Request{Changes: onePlan()})
				t.Run(fmt.Sprintf("%s at call %d %s", unix.ErrnoName(errno), n, name), func(t *testing.T) {
					allOrNothing(t, m, e, tx, err, before, wantFiles(m, before, onePlan()))
				})
				if tx != nil {
					ends[tx.State]++
				} else {
					ends["refused"]++
				}
			}
		}
	}
	for _, state := range []apply.State{"refused", apply.RolledBack, apply.Failed} {
		if ends[state] == 0 {
			t.Errorf("no case ended %s: %v", state, ends)
		}
	}
	t.Logf("ends: %v", ends)
}

// TestErrnoWords: what the kernel's errnos are called, at the write and before.
func TestErrnoWords(t *testing.T) {
	for _, c := range []struct {
		kind  host.Kind
		errno unix.Errno
		code  apply.Code
		word  apply.Word
	}{
		{host.IRQAffinity, unix.EPERM, apply.CodeUnmovable, apply.WordRefused}, // Linux 6.12 on
		{host.IRQAffinity, unix.EIO, apply.CodeUnmovable, apply.WordRefused},   // before
		{host.IRQAffinity, unix.EACCES, apply.CodeNotPrivileged, apply.WordNotPrivileged},
		{host.IRQAffinity, unix.EROFS, apply.CodeNotPrivileged, apply.WordNotPrivileged},
		{host.IRQAffinity, unix.ENOSPC, apply.CodeNoVectors, apply.WordRefused},
		{host.IRQAffinity, unix.EINVAL, apply.CodeInvalid, apply.WordRefused},
		{host.XPSCPUs, unix.EPERM, apply.CodeNotPrivileged, apply.WordNotPrivileged},
		{host.XPSCPUs, unix.EOVERFLOW, apply.CodeInvalid, apply.WordRefused},
		{host.XPSCPUs, unix.ENOENT, apply.CodeGone, apply.WordRefused},
		{host.XPSCPUs, unix.ENODEV, apply.CodeGone, apply.WordRefused},
		{host.XPSCPUs, unix.ENOMEM, apply.CodeNoMemory, apply.WordRefused},
		{host.XPSCPUs, unix.EIO, apply.CodeError, apply.WordRefused},
	} {
		for _, op := range []string{"check", "set"} {
			m := newMachine(t)
			m.before = func(call call) error {
				if call.op == op && (op != "set" || call.value == "1") {
					return c.errno
				}
				return nil
			}
			one := change(c.kind, map[host.Kind]string{host.IRQAffinity: "combined", host.XPSCPUs: "tx"}[c.kind], 0, "1")
			tx, err := m.engine().Apply(context.Background(), apply.Request{Changes: []advisor.Change{one}})
			if op == "check" {
				refusal(t, err, c.word, c.errno.Error())
				continue
			}
			if err != nil || tx.State != apply.RolledBack {
				t.Fatalf("%s %v: %+v %v", c.kind, c.errno, tx, err)
			}
			if got := tx.Changes[0].Error; got == nil || got.Code != c.code || got.Errno != unix.ErrnoName(c.errno) {
				t.Errorf("%s %v: %+v, want %s", c.kind, c.errno, got, c.code)
			}
		}
	}
}

// TestDeviceVanishes between the preflight and the write: what was written of
// other settings is undone, and what is gone is no failure of the undo.
func TestDeviceVanishes(t *testing.T) {
	m := newMachine(t)
	m.before = func(c call) error {
		if c.op == "set" && c.setting.Kind == host.RPSCPUs {
			return os.RemoveAll(m.path("sys/class/net/eth0"))
		}
		return nil
	}
	tx := mustApply(t, m.engine(), apply.Request{Changes: onePlan()})
	if tx.State != apply.RolledBack || results(tx) != "undone undone undone undone not_tried not_tried not_tried" {
		t.Errorf("%s: %s: %s", tx.State, results(tx), tx.Reason)
	}
	for i, says := range map[int]string{3: "eth0 is not there any more", 2: ""} {
		if err := tx.Changes[i].Error; (err == nil) != (says == "") || err != nil && (err.Code != apply.CodeGone || err.Detail != says) {
			t.Errorf("%d: %+v", i, err)
		}
	}
	if tx.Reason != "eth0 is not there any more" {
		t.Error(tx.Reason)
	}
	if text, _ := os.ReadFile(m.path("proc/sys/net/core/netdev_max_backlog")); string(text) != "1000\n" {
		t.Errorf("backlog %q", text)
	}
}

func TestCancelledContextUndoes(t *testing.T) {
	m := newMachine(t)
	before := m.files()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	m.before = func(c call) error {
		if c.op == "set" && c.setting.Kind == host.RPSCPUs {
			cancel()
		}
		return nil
	}
	e := m.engine()
	tx, err := e.Apply(ctx, apply.Request{Changes: onePlan()})
	if err != nil || tx.State != apply.RolledBack {
		t.Fatalf("%+v %v", tx, err)
	}
	allOrNothing(t, m, e, tx, err, before, nil)
}

// TestRandomPlansWithRandomFailures: any plan on a machine whose calls fail, or
// lie, at random ends as before or as planned, or says what is not.
func TestRandomPlansWithRandomFailures(t *testing.T) {
	const seeds = 120
	ends := map[apply.State]int{}
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 1))
		m := newMachine(t)
		plan := randomPlan(r)
		before := m.files()
		probability := []float64{0, 0.02, 0.1, 0.6}[r.IntN(4)]
		writing := false // the preflight's failures are TestAnyFailureAtAnyCall's
		m.before = func(c call) error {
			writing = writing || c.op == "set"
			if writing && r.Float64() < probability {
				// Not of a vanished device: TestDeviceVanishes.
				return []error{unix.EACCES, unix.EPERM, unix.EIO, unix.EINVAL, unix.EBUSY, syscall.ENOSPC}[r.IntN(6)]
			}
			return nil
		}
		m.store = func(s host.Setting, _ host.Value) (string, bool) { // accepted, and something else stored
			return "7", s.Kind == host.XPSCPUs && r.Float64() < probability/2
		}
		e := m.engine()
		tx, err := e.Apply(context.Background(), apply.Request{Changes: plan})
		if err == nil && tx.ID == "" { // nothing had to be written
			if d := differing(before, m.files()); len(d) > 0 {
				t.Errorf("seed %d: %v", seed, d)
			}
			continue
		}
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			allOrNothing(t, m, e, tx, err, before, wantFiles(m, before, plan))
			if tx == nil || tx.State != apply.Committed {
				return
			}
			m.before, m.store = nil, nil
			back, err := e.Rollback(context.Background(), apply.RollbackRequest{})
			if err != nil || back.State != apply.Committed {
				t.Fatalf("%+v %v", back, err)
			}
			if d := differing(before, m.files()); len(d) > 0 {
				t.Errorf("rollback leaves %v", d)
			}
		})
		if tx != nil {
			ends[tx.State]++
		}
	}
	for _, state := range []apply.State{apply.Committed, apply.RolledBack, apply.Failed} {
		if ends[state] == 0 {
			t.Errorf("no plan ended %s: %v", state, ends)
		}
	}
	t.Logf("ends: %v", ends)
}

func randomPlan(r *rand.Rand) []advisor.Change {
	set := func(empty bool) string {
		var text string
		for cpu := range cpus {
			if r.IntN(3) == 0 {
				text += fmt.Sprintf(",%d", cpu)
			}
		}
		if text == "" && !empty {
			return "0"
		}
		return text[min(len(text), 1):]
	}
	var plan []advisor.Change
	for q := range queues {
		all := []advisor.Change{
			change(host.IRQAffinity, "combined", q, set(false)),
			change(host.RPSCPUs, "rx", q, set(true)),
			change(host.RPSFlowCnt, "rx", q, fmt.Sprint(1<<r.IntN(12))),
			change(host.XPSCPUs, "tx", q, set(true)),
		}
		for _, c := range all {
			if r.IntN(2) == 0 {
				plan = append(plan, c)
			}
		}
	}
	if r.IntN(2) == 0 {
		plan = append(plan, hostWide(host.NetdevMaxBacklog, fmt.Sprint(1+r.IntN(5000))))
	}
	r.Shuffle(len(plan), func(i, j int) { plan[i], plan[j] = plan[j], plan[i] })
	return slices.Clip(plan)
}
