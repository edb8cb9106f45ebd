package apply_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/netsteer/netsteer/advisor"
	"github.com/netsteer/netsteer/apply"
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/live"
	"github.com/netsteer/netsteer/host/scan"
	"github.com/netsteer/netsteer/internal/testenv"
)

// TestRealKernel applies to a veth of 8 queue pairs in a namespace of its own,
// with the real Setter, scan and kernel.
func TestRealKernel(t *testing.T) {
	ns := testenv.Netns(t)
	ns.Run(t, "ip", "link", "add", "va", "numtxqueues", "8", "numrxqueues", "8", "type", "veth", "peer", "name", "vb", "numtxqueues", "8", "numrxqueues", "8")
	sysfs := mountSysfs(t, ns)
	tree, err := live.NewTree("/proc", sysfs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tree.Close() })
	inv := scan.New(scan.Machine{Tree: tree}, scan.Options{Always: []string{"va"}, NetlinkOff: true}).Inventory()
	if d := inv.Device("va"); d == nil || len(d.RX) != 8 || len(d.TX) != 8 {
		t.Fatalf("%+v", d)
	}
	setter := live.NewSetter("/proc", sysfs, func() *host.Inventory { return inv })
	dir := t.TempDir()
	engine := func() *apply.Engine {
		return apply.New(apply.Options{
			Dir: dir, Setter: setter, BootID: inv.BootID,
			Inventory: func() (*host.Inventory, error) { return inv, nil },
		})
	}
	plan := []advisor.Change{onVeth(host.RPSCPUs, "rx", "0"), onVeth(host.XPSCPUs, "tx", inv.CPUs.Online.String())}
	before := queueFiles(t, sysfs)

	tx := mustApply(t, engine(), apply.Request{Changes: plan, Actor: "cli:root"})
	if tx.State != apply.Committed || results(tx) != "applied applied" {
		t.Fatalf("%s %s: %s", tx.State, results(tx), tx.Reason)
	}
	changed := differing(before, queueFiles(t, sysfs))
	if want := []string{"va/queues/rx-1/rps_cpus", "va/queues/tx-1/xps_cpus"}; !slices.Equal(changed, want) {
		t.Errorf("changed %v, want %v", changed, want)
	}

	if back := rollback(t, engine(), apply.RollbackRequest{Actor: "cli:root"}); back.State != apply.Committed {
		t.Fatalf("%s: %s", back.State, back.Reason)
	}
	if d := differing(before, queueFiles(t, sysfs)); len(d) > 0 {
		t.Errorf("not restored: %v", d)
	}

	t.Run("the kernel rounds up", func(t *testing.T) {
		tx := mustApply(t, engine(), apply.Request{Changes: []advisor.Change{onVeth(host.RPSFlowCnt, "rx", "1000")}})
		if tx.State != apply.Committed || *tx.Changes[0].Stored != "1024" {
			t.Errorf("%s: %+v", tx.State, tx.Changes[0])
		}
		rollback(t, engine(), apply.RollbackRequest{})
		if d := differing(before, queueFiles(t, sysfs)); len(d) > 0 {
			t.Errorf("not restored: %v", d)
		}
	})
	t.Run("without CAP_NET_ADMIN", func(t *testing.T) {
		var err error
		withoutNetAdmin(t, func() { _, err = engine().Apply(context.Background(), apply.Request{Changes: plan}) })
		refusal(t, err, apply.WordNotPrivileged, "CAP_NET_ADMIN")
		if d := differing(before, queueFiles(t, sysfs)); len(d) > 0 {
			t.Errorf("written: %v", d)
		}
	})
	t.Run("the device vanishes", func(t *testing.T) {
		gone := false
		all := append(slices.Clone(plan), onVeth(host.RPSFlowCnt, "rx", "512"))
		vanishing := apply.New(apply.Options{
			Dir: dir, BootID: inv.BootID,
			Inventory: func() (*host.Inventory, error) { return inv, nil },
			Setter: &beforeWrite{setter, func(s host.Setting) {
				if s.Kind == host.XPSCPUs && !gone {
					gone = true
					ns.Run(t, "ip", "link", "del", "va")
				}
			}},
		})
		tx := mustApply(t, vanishing, apply.Request{Changes: all})
		if tx.State != apply.RolledBack || tx.Changes[2].Error == nil || tx.Changes[2].Error.Code != apply.CodeGone {
			t.Errorf("%s: %s: %+v", tx.State, tx.Reason, tx.Changes[2])
		}
		_, err := engine().Apply(context.Background(), apply.Request{Changes: plan})
		refusal(t, err, apply.WordRefused, "not there")
	})
}

// withoutNetAdmin runs f on a thread of uid 0 that lacks the capability.
func withoutNetAdmin(t *testing.T, f func()) {
	t.Helper()
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with its goroutine
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var sets [2]unix.CapUserData
		err := unix.Capget(&header, &sets[0])
		if err == nil {
			sets[0].Effective &^= 1 << unix.CAP_NET_ADMIN
			err = unix.Capset(&header, &sets[0])
		}
		if err == nil {
			f()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// beforeWrite does something before each write.
type beforeWrite struct {
	*live.Setter
	do func(host.Setting)
}

func (b *beforeWrite) Set(s host.Setting, v host.Value) error {
	b.do(s)
	return b.Setter.Set(s, v)
}

func onVeth(kind host.Kind, direction, proposed string) advisor.Change {
	c := change(kind, direction, 1, proposed)
	c.Device = "va"
	return c
}

// mountSysfs shows the namespace's devices: a mount of sysfs keeps the namespace
// it was made in.
func mountSysfs(t *testing.T, ns *testenv.NS) string {
	t.Helper()
	dir := t.TempDir()
	ns.Do(t, func() {
		if err := unix.Mount("sysfs", dir, "sysfs", 0, ""); err != nil {
			t.Fatalf("mount sysfs: %v", err)
		}
	})
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// queueFiles is what the kernel shows in every queue's file of every device.
func queueFiles(t *testing.T, sysfs string) map[string]string {
	t.Helper()
	all := map[string]string{}
	paths, err := filepath.Glob(filepath.Join(sysfs, "class/net/*/queues/*/*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		name := strings.TrimPrefix(path, filepath.Join(sysfs, "class/net")+"/")
		text, err := os.ReadFile(path)
		if err != nil && !unreadable(err) {
			t.Fatal(err)
		}
		all[name] = fmt.Sprint(string(text), err)
	}
	if len(all) < 2*8*2 || !slices.Contains(slices.Collect(maps.Keys(all)), "va/queues/rx-7/rps_cpus") {
		t.Fatalf("%d queue files", len(all))
	}
	return all
}

// unreadable: a folder, or xps_cpus of a device with one TX queue.
func unreadable(err error) bool {
	return errors.Is(err, unix.EISDIR) || errors.Is(err, fs.ErrNotExist)
}
