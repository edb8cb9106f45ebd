package live

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/netsteer/netsteer/internal/testenv"
)

// sysfs mounts the sysfs of a network namespace on a folder. A mount of sysfs
// shows, for good, the namespace of the thread that mounted it.
func sysfs(t testing.TB, ns *testenv.NS) string {
	t.Helper()
	dir := t.TempDir()
	ns.Do(t, func() {
		if err := unix.Mount("sysfs", dir, "sysfs", unix.MS_RDONLY, ""); err != nil {
			t.Fatalf("mount sysfs of %s: %v", ns.Name, err)
		}
	})
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
	return dir
}

func newTree(t testing.TB, procfs, sysfs string) *Tree {
	t.Helper()
	tree, err := NewTree(procfs, sysfs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tree.Close(); err != nil {
			t.Error(err)
		}
	})
	return tree
}

func read(t testing.TB, tree *Tree, name string) string {
	t.Helper()
	b, err := tree.Read(nil, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// openFiles counts this process's descriptors.
func openFiles(t testing.TB) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
