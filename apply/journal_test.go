package apply_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/netsteer/netsteer/apply"
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/internal/testenv"
)

// TestSecondTransactionIsBusy: two engines, as daemon and command are, and one
// engine twice; the first is seen at work meanwhile.
func TestSecondTransactionIsBusy(t *testing.T) {
	m := newMachine(t)
	inside, release := make(chan struct{}), make(chan struct{})
	blocked := false
	m.before = func(c call) error {
		if c.op == "set" && !blocked {
			blocked = true
			close(inside)
			<-release
		}
		return nil
	}
	first, second := m.engine(), m.engine()
	done := make(chan *apply.Transaction)
	go func() {
		tx, _ := first.Apply(context.Background(), apply.Request{Changes: onePlan()})
		done <- tx
	}()
	<-inside
	for _, e := range []*apply.Engine{first, second} {
		_, err := e.Apply(context.Background(), apply.Request{Changes: rps(0, "1")})
		refusal(t, err, apply.WordBusy)
		_, err = e.Rollback(context.Background(), apply.RollbackRequest{})
		refusal(t, err, apply.WordBusy)
		_, err = e.Recover(context.Background())
		refusal(t, err, apply.WordBusy)
		all, err := e.List()
		if err != nil || len(all) != 1 || all[0].State != apply.Applying {
			t.Errorf("while the first is at work: %+v %v", all, err)
		}
	}
	close(release)
	if tx := <-done; tx.State != apply.Committed {
		t.Errorf("the first: %+v", tx)
	}
	if tx := mustApply(t, second, apply.Request{Changes: rps(0, "1")}); tx.State != apply.Committed {
		t.Errorf("afterwards: %+v", tx)
	}
}

func TestProgressIsSeen(t *testing.T) {
	m := newMachine(t)
	e := m.engine()
	seen := ""
	m.before = func(c call) error {
		if c.op == "set" && c.setting.Kind == host.XPSCPUs {
			all, err := e.List()
			if err != nil || len(all) != 1 {
				return errors.New("not listed")
			}
			one, err := e.Get(all[0].ID)
			if err != nil {
				return err
			}
			seen = results(one)
		}
		return nil
	}
	mustApply(t, e, apply.Request{Changes: onePlan()})
	if seen != "pending pending applied applied applied applied not_tried" {
		t.Error(seen)
	}
}

// tinyDisk is a file system of 64 KiB.
func tinyDisk(t *testing.T) string {
	t.Helper()
	testenv.Root(t)
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k,mode=755"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func fill(dir string) error {
	f, err := os.Create(filepath.Join(dir, "full"))
	if err != nil {
		return err
	}
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if !errors.Is(err, unix.ENOSPC) {
		return err
	}
	return nil
}

func TestFullDiskIsRefusedBeforeAnyWrite(t *testing.T) {
	dir := tinyDisk(t)
	m := newMachine(t)
	before := m.files()
	e := m.engine(func(o *apply.Options) { o.Dir = filepath.Join(dir, "state") })
	if err := os.MkdirAll(filepath.Join(dir, "state/transactions"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := fill(dir); err != nil {
		t.Fatal(err)
	}
	_, err := e.Apply(context.Background(), apply.Request{Changes: onePlan()})
	refusal(t, err, apply.WordRefused, "no space left on device", "nothing was changed", "--state.dir")
	if d := differing(before, m.files()); len(d) > 0 {
		t.Errorf("written: %v", d)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "state/transactions/.*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if all, err := e.List(); err != nil || len(all) > 0 {
		t.Errorf("recorded: %v %v", all, err)
	}
}

func TestReadOnlyStateIsNotPrivileged(t *testing.T) {
	dir := tinyDisk(t)
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	e := newMachine(t).engine(func(o *apply.Options) { o.Dir = dir })
	_, err := e.Apply(context.Background(), apply.Request{Changes: onePlan()})
	refusal(t, err, apply.WordNotPrivileged, "read-only file system", "--state.dir")
}

func TestDiskFullAtTheEndUndoes(t *testing.T) {
	dir := tinyDisk(t)
	m := newMachine(t)
	before := m.files()
	var log bytes.Buffer
	e := m.engine(func(o *apply.Options) { o.Dir, o.Logger = dir, slog.New(slog.NewTextHandler(&log, nil)) })
	filled := false
	m.before = func(c call) error {
		if c.op == "set" && !filled {
			filled = true
			return fill(dir)
		}
		return nil
	}
	tx := mustApply(t, e, apply.Request{Changes: onePlan()})
	want := "the apply could not be recorded: no space left: make room in " + dir + ", or choose a folder with --state.dir"
	if tx.State != apply.RolledBack || tx.Reason != want {
		t.Errorf("%s: %s", tx.State, tx.Reason)
	}
	if log.Len() > 0 {
		t.Errorf("the reason says it, and so does the log: %s", &log)
	}
	left, err := e.Get(tx.ID)
	if err != nil || left.State != apply.Applying || !e.Interrupted(left) {
		t.Errorf("%+v %v", left, err)
	}
	if d := differing(before, m.files()); len(d) > 0 {
		t.Errorf("not undone: %v", d)
	}
	// The record could not be ended either; with room again it is.
	if err := os.Remove(filepath.Join(dir, "full")); err != nil {
		t.Fatal(err)
	}
	if ended, err := e.Recover(context.Background()); err != nil || len(ended) != 1 || ended[0].State != apply.RolledBack {
		t.Errorf("%+v %v", ended, err)
	}
}

func TestStateDirectoryThatCannotBe(t *testing.T) {
	m := newMachine(t)
	plain := m.path("plain")
	m.file("plain", "")
	for dir, says := range map[string]string{"": "--state.dir", plain: "not a directory", plain + "/below": "not a directory"} {
		e := m.engine(func(o *apply.Options) { o.Dir = dir })
		_, err := e.Apply(context.Background(), apply.Request{Changes: onePlan()})
		refusal(t, err, apply.WordRefused, says)
	}
}

func TestBadRecordsAreSkippedWithAWarning(t *testing.T) {
	m := newMachine(t)
	var log bytes.Buffer
	var dir string
	e := m.engine(func(o *apply.Options) { dir = o.Dir; o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	good := mustApply(t, e, apply.Request{Changes: rps(0, "1")})
	folder := filepath.Join(dir, "transactions")
	bad := map[string]string{
		"20200101T000000Z-0001": "",
		"20200101T000000Z-0002": `{"schema":"netsteer.transaction/v2","id":"20200101T000000Z-0002"}`,
		"20200101T000000Z-0003": `{"schema":"netsteer.transaction/v1","id":"20200101T000000Z-0003","changes":[{"queue":`,
		"20200101T000000Z-0004": `{"schema":"netsteer.transaction/v1","id":"` + good.ID + `","started":"2020-01-01T00:00:00Z"}`,
		"20200101T000000Z-0005": `{"schema":"netsteer.transaction/v1","id":"20200101T000000Z-0005","started":"yesterday"}`,
		"20200101T000000Z-0006": "\xff\xfe\x00",
	}
	for id, text := range bad {
		if err := os.WriteFile(filepath.Join(folder, id+".json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mkfifo(filepath.Join(folder, "20200101T000000Z-0007.json"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(folder, "20200101T000000Z-0008.json")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "notes.json"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	all, err := e.List()
	if err != nil || len(all) != 1 || all[0].ID != good.ID {
		t.Fatalf("%+v %v", all, err)
	}
	if n := strings.Count(log.String(), "a record is skipped"); n != len(bad)+2 {
		t.Errorf("%d warnings of %d:\n%s", n, len(bad)+2, log.String())
	}
	if _, err := e.Counts(); err != nil {
		t.Error(err)
	}
	if tx := mustApply(t, e, apply.Request{Changes: rps(1, "1")}); tx.State != apply.Committed {
		t.Errorf("%+v", tx)
	}
}

func TestGetTakesNoPath(t *testing.T) {
	m := newMachine(t)
	e := m.engine()
	m.file("proc/x.json", "{}")
	for _, id := range []string{"", "x", "../root/proc/x", "20261130T142530Z-7f3a", "20261130T142530Z-7F3A", "20261130T142530Z-7f3a/../x"} {
		if _, err := e.Get(id); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

func TestEmptyStateDirectoryListsNothing(t *testing.T) {
	e := newMachine(t).engine()
	all, err := e.List()
	counts, countErr := e.Counts()
	if err != nil || countErr != nil || len(all) != 0 || len(counts) != len(apply.CountResults) {
		t.Errorf("%v %v %v %v", all, err, counts, countErr)
	}
}

// TestOldRecordsAreDroppedAndStillCounted: the last 100 stay, and no counter
// falls with those that go.
func TestOldRecordsAreDroppedAndStillCounted(t *testing.T) {
	m := newMachine(t)
	var dir string
	now := clock(time.Date(2026, 11, 30, 14, 0, 0, 0, time.UTC))
	e := m.engine(func(o *apply.Options) { dir = o.Dir; o.Now = now })
	applied, failed := uint64(0), uint64(0)
	for i := range 110 {
		m.before = nil
		if i%10 == 9 {
			m.before = func(c call) error {
				if c.op == "set" && c.value != "" {
					return unix.EIO
				}
				return nil
			}
			failed++
		} else {
			applied++
		}
		mustApply(t, e, apply.Request{Changes: rps(0, fmt.Sprint(i%7))})
		m.before = nil
		m.file(m.queueFile("rx", 0, "rps_cpus"), "80\n")
		counts, err := e.Counts()
		if err != nil || counts["applied"].N != applied || counts["rolled_back"].N != failed {
			t.Fatalf("after %d: %v %v, want %d and %d", i+1, counts, err, applied, failed)
		}
	}
	all, err := e.List()
	if err != nil || len(all) != 100 {
		t.Fatalf("%d records, %v", len(all), err)
	}
	if !slices.IsSortedFunc(all, func(a, b apply.Transaction) int { return strings.Compare(b.Started, a.Started) }) {
		t.Error("not newest first")
	}
	// The next process counts the same.
	next := m.engine(func(o *apply.Options) { o.Now = now })
	counts, err := next.Counts()
	if err != nil || counts["applied"].N != applied || counts["rolled_back"].N != failed || counts["applied"].Last.IsZero() {
		t.Errorf("%v %v", counts, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "counts.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if counts, err := next.Counts(); err != nil || counts["applied"].N+counts["rolled_back"].N != 100 {
		t.Errorf("counts of a damaged file: %v %v", counts, err)
	}
}

// TestClockThatStepsBack: the last transaction is the last made.
func TestClockThatStepsBack(t *testing.T) {
	m := newMachine(t)
	at := time.Date(2026, 11, 30, 14, 25, 30, 0, time.UTC)
	e := m.engine(func(o *apply.Options) { o.Now = func() time.Time { return at } })
	mustApply(t, e, apply.Request{Changes: rps(0, "1")})
	at = at.Add(-time.Hour)
	last := mustApply(t, e, apply.Request{Changes: rps(1, "1")})
	if all, _ := e.List(); all[0].ID != last.ID || !strings.HasPrefix(last.ID, "20261130T142530Z-") {
		t.Errorf("%s is not first in %s %s", last.ID, all[0].ID, all[1].ID)
	}
	if back := rollback(t, e, apply.RollbackRequest{}); back.Undoes != last.ID {
		t.Errorf("rolled back %s", back.Undoes)
	}
}

func TestRecordIsOfTheContractsForm(t *testing.T) {
	m := newMachine(t)
	var dir string
	e := m.engine(func(o *apply.Options) {
		dir = o.Dir
		o.Now = func() time.Time { return time.Date(2026, 11, 30, 14, 25, 30, 0, time.UTC) }
	})
	one := change(host.IRQAffinity, "combined", 0, "1")
	one.ID, one.Stage, one.Target, one.CPUs = "c1", "steering", "/proc/irq/40/smp_affinity_list", []int{1}
	tx := mustApply(t, e, apply.Request{Changes: append(rps(0, "3"), one), Left: []string{"c7"}, Actor: "http:alice@192.0.2.7"})
	text, err := os.ReadFile(filepath.Join(dir, "transactions", tx.ID+".json"))
	if err != nil {
		t.Fatal(err)
	}
	// The last part of the id is drawn by chance.
	testenv.Golden(t, "transaction.json", strings.ReplaceAll(string(text), tx.ID, "20261130T142530Z-7f3a"))
}

// A record that is not final is interrupted once nobody is at work, and not
// before; looking takes no lock away.
func TestInterruptedIsWithoutAProcess(t *testing.T) {
	m := newMachine(t)
	e := m.engine()
	looked := 0
	m.before = func(c call) error {
		if c.op != "set" {
			return nil
		}
		all, err := e.List()
		if err != nil || len(all) != 1 || all[0].State != apply.Applying || e.Interrupted(&all[0]) {
			t.Errorf("at work: %+v %v", all, err)
		}
		looked++
		return nil
	}
	tx := mustApply(t, e, apply.Request{Changes: onePlan()})
	if looked == 0 || tx.State != apply.Committed || e.Interrupted(tx) {
		t.Errorf("%d %+v", looked, tx)
	}
	stale := *tx
	stale.State = apply.Applying // as it was listed before it ended
	if e.Interrupted(&stale) {
		t.Error("it has ended meanwhile")
	}
}
