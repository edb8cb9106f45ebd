package live

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/netsteer/netsteer/internal/testenv"
)

// fixture is a tree of plain files, for what needs no kernel.
func fixture(t testing.TB, files map[string]string) (*Tree, string) {
	t.Helper()
	root := t.TempDir()
	for _, d := range []string{"proc", "sys"} {
		if err := os.Mkdir(filepath.Join(root, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return newTree(t, filepath.Join(root, "proc"), filepath.Join(root, "sys")), root
}

func TestMissingMountNamesItsFlag(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "file")
	if err := os.WriteFile(plain, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ procfs, sysfs, want string }{
		{filepath.Join(dir, "none"), dir, "--path.procfs: stat " + dir + "/none: no such file or directory: give the directory where /proc is mounted"},
		{plain, dir, "--path.procfs: stat " + plain + ": not a directory: give the directory where /proc is mounted"},
		{dir, filepath.Join(dir, "none"), "--path.sysfs: stat " + dir + "/none: no such file or directory: give the directory where /sys is mounted"},
	} {
		_, err := NewTree(c.procfs, c.sysfs)
		if err == nil || err.Error() != c.want {
			t.Errorf("NewTree(%q, %q): got %v, want %s", c.procfs, c.sysfs, err, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	tree, root := fixture(t, map[string]string{"proc/stat": "p", "sys/kernel/irq": "s", "outside": "o"})
	for _, c := range []struct {
		name string
		want string // content, or part of the error
		err  error
	}{
		{"proc/stat", "p", nil},
		{"sys/kernel/irq", "s", nil},
		{"proc/none", root + "/proc/none", fs.ErrNotExist},
		{"proc/../outside", "without \".\" and \"..\"", fs.ErrInvalid},
		{"/proc/stat", "slash-separated, relative", fs.ErrInvalid},
		{"proc//stat", "slash-separated, relative", fs.ErrInvalid},
		{"", "slash-separated, relative", fs.ErrInvalid},
		{"outside", "begins with \"proc/\" or \"sys/\"", fs.ErrInvalid},
		{"process/stat", "begins with \"proc/\" or \"sys/\"", fs.ErrInvalid},
		{".", "begins with \"proc/\" or \"sys/\"", fs.ErrInvalid},
	} {
		got, err := tree.Read([]byte("before "), c.name)
		if c.err == nil {
			if err != nil || string(got) != "before "+c.want {
				t.Errorf("Read(%q): %q, %v", c.name, got, err)
			}
			continue
		}
		if !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Read(%q): error %v, want %v with %q", c.name, err, c.err, c.want)
		}
		if string(got) != "before " {
			t.Errorf("Read(%q): %q is left in dst after an error", c.name, got)
		}
		for op, f := range map[string]func(string) error{
			"Open":     func(n string) error { f, err := tree.Open(n); _ = f; return err },
			"Stat":     func(n string) error { _, err := tree.Stat(n); return err },
			"Lstat":    func(n string) error { _, err := tree.Lstat(n); return err },
			"ReadDir":  func(n string) error { _, err := tree.ReadDir(n); return err },
			"ReadLink": func(n string) error { _, err := tree.ReadLink(n); return err },
		} {
			if err := f(c.name); !errors.Is(err, c.err) {
				t.Errorf("%s(%q): error %v, want %v", op, c.name, err, c.err)
			}
		}
	}
	if entries, err := tree.ReadDir("proc"); err != nil || len(entries) != 1 || entries[0].Name() != "stat" {
		t.Errorf("ReadDir(proc): %v, %v", entries, err)
	}
}

// The kernel's own links: a device's folder, its parent above it.
func TestLinksOfSysfs(t *testing.T) {
	tree := newTree(t, "/proc", "/sys")
	info, err := tree.Lstat("sys/class/net/lo")
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Fatalf("Lstat(sys/class/net/lo): %v, %v, want a link", info, err)
	}
	if link, err := tree.ReadLink("sys/class/net/lo"); err != nil || link != "../../devices/virtual/net/lo" {
		t.Errorf("ReadLink: %q, %v", link, err)
	}
	if info, err := tree.Stat("sys/class/net/lo"); err != nil || !info.IsDir() {
		t.Errorf("Stat: %v, %v, want a folder", info, err)
	}
	through := read(t, tree, "sys/class/net/lo/ifindex")
	if direct := read(t, tree, "sys/devices/virtual/net/lo/ifindex"); through != "1\n" || direct != through {
		t.Errorf("ifindex through the link %q, without %q, want \"1\\n\"", through, direct)
	}
	entries, err := tree.ReadDir("sys/class/net/lo/queues")
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 2 || entries[0].Name() != "rx-0" || entries[1].Name() != "tx-0" {
		t.Errorf("ReadDir through a link: %v", entries)
	}
	if _, err := fs.ReadFile(tree, "sys/class/net/lo/ifindex"); err != nil {
		t.Errorf("fs.ReadFile: %v", err)
	}
}

// A file larger than a page comes in pieces; every buffer size must give the
// whole. These are the largest that do not change: a text of procfs, and a
// binary attribute of sysfs, as long CPU lists are.
func TestLargeFileInAnyBuffer(t *testing.T) {
	tree := newTree(t, "/proc", "/sys")
	for _, name := range []string{"proc/kallsyms", "sys/kernel/btf/vmlinux"} {
		want, err := os.ReadFile("/" + name)
		if err != nil || len(want) < 1<<20 {
			t.Skipf("%s: %d bytes, %v", name, len(want), err)
		}
		for _, room := range []int{0, 1, 4095, 4096, 4097, len(want) - 1, len(want), len(want) + 1} {
			got, err := tree.Read(make([]byte, 0, room), name)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s in a buffer of %d: %d bytes, want %d", name, room, len(got), len(want))
			}
		}
	}
}

func TestWarmReadAllocatesNothing(t *testing.T) {
	tree := newTree(t, "/proc", "/sys")
	for _, name := range []string{"proc/interrupts", "proc/softirqs", "proc/net/softnet_stat", "proc/stat", "sys/class/net/lo/queues/rx-0/rps_cpus"} {
		first, err := tree.Read(nil, name)
		if err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 0, 2*len(first)+4096)
		if n := testing.AllocsPerRun(20, func() {
			if _, err := tree.Read(buf, name); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations per warm read", name, n)
		}
	}
}

// Every read is of now: this file's content is another one at each reading.
func TestKeptDescriptorReadsAnew(t *testing.T) {
	tree := newTree(t, "/proc", "/sys")
	const name = "proc/sys/kernel/random/uuid"
	if first, second := read(t, tree, name), read(t, tree, name); first == second || len(first) != len(second) {
		t.Errorf("%q, then %q", first, second)
	}
}

func TestDeviceMadeAnew(t *testing.T) {
	ns := testenv.Netns(t)
	tree := newTree(t, "/proc", sysfs(t, ns))
	const name = "sys/class/net/va/ifindex"
	for _, c := range []struct {
		how   string
		after func()
	}{
		{"by itself", func() {}},
		{"after Forget", func() { tree.Forget("sys/class/net/va") }},
	} {
		ns.Run(t, "ip", "link", "add", "va", "type", "veth", "peer", "name", "vb")
		before := read(t, tree, name)
		ns.Run(t, "ip", "link", "del", "va")
		if _, err := tree.Read(nil, name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: a device that is gone: error %v, want fs.ErrNotExist", c.how, err)
		}
		ns.Run(t, "ip", "link", "add", "va", "type", "veth", "peer", "name", "vb")
		between := read(t, tree, name)
		ns.Run(t, "ip", "link", "del", "va")
		ns.Run(t, "ip", "link", "add", "va", "type", "veth", "peer", "name", "vb")
		c.after()
		after := read(t, tree, name)
		if before == between || between == after {
			t.Errorf("%s: ifindex %q, then %q, then %q", c.how, before, between, after)
		}
		ns.Run(t, "ip", "link", "del", "va")
	}
}

// A rename is the one change a descriptor cannot see: it says here what Forget
// is for.
func TestRenamedDevice(t *testing.T) {
	ns := testenv.Netns(t)
	tree := newTree(t, "/proc", sysfs(t, ns))
	const name = "sys/class/net/va/ifindex"
	ns.Run(t, "ip", "link", "add", "va", "type", "veth", "peer", "name", "vb")
	first := read(t, tree, name)

	ns.Run(t, "ip", "link", "set", "va", "name", "vz")
	if got := read(t, tree, name); got != first {
		t.Errorf("after the rename: %q, want %q of the same device", got, first)
	}
	ns.Run(t, "ip", "link", "add", "va", "type", "veth", "peer", "name", "vc")
	if got := read(t, tree, name); got != first {
		t.Errorf("before Forget: %q, want %q of the renamed device", got, first)
	}
	tree.Forget("sys/class/net/v") // no folder: it must not match va
	if got := read(t, tree, name); got != first {
		t.Errorf("after Forget of another folder: %q, want %q", got, first)
	}
	tree.Forget("sys/class/net/va")
	if got := read(t, tree, name); got == first {
		t.Errorf("after Forget: still %q of the renamed device", got)
	}
}

// A file that always fails must not stay open, nor lose dst.
func TestFailingFileIsNotKept(t *testing.T) {
	ns := testenv.Netns(t)
	tree := newTree(t, "/proc", sysfs(t, ns))
	before := openFiles(t)
	for range 3 {
		got, err := tree.Read([]byte("x"), "sys/class/net/lo/queues/tx-0/xps_cpus")
		if !errors.Is(err, fs.ErrNotExist) || string(got) != "x" {
			t.Errorf("xps_cpus of a device with one queue: %q, %v, want fs.ErrNotExist", got, err)
		}
	}
	if after := openFiles(t); after != before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

func TestDescriptorsAreBounded(t *testing.T) {
	files := map[string]string{}
	for i := range 50 {
		files[fmt.Sprintf("sys/a/%d", i)] = strconv.Itoa(i)
	}
	for _, limit := range []int{0, 1, 20, 50, 100} {
		tree, _ := fixture(t, files)
		tree.kept.limit = limit
		before := openFiles(t)
		for range 3 {
			for name, want := range files {
				if got := read(t, tree, name); got != want {
					t.Fatalf("limit %d: %s is %q, want %q", limit, name, got, want)
				}
			}
		}
		if n, want := openFiles(t)-before, min(limit, len(files)); n != want {
			t.Errorf("limit %d: %d descriptors kept, want %d", limit, n, want)
		}
		tree.Forget("sys/a")
		if n := openFiles(t) - before; n != 0 {
			t.Errorf("limit %d: %d descriptors left after Forget", limit, n)
		}
	}
	if l := keepLimit(); l <= 0 || l > maxKept {
		t.Errorf("default limit %d", l)
	}
}

// Readers and Forget at once: no read may see another file's content, which is
// what a descriptor number used again would give.
func TestConcurrentReadersAndForget(t *testing.T) {
	files := map[string]string{}
	for i := range 16 {
		files[fmt.Sprintf("sys/d%d/value", i)] = strings.Repeat(strconv.Itoa(i)+" ", 300)
	}
	tree, _ := fixture(t, files)
	tree.kept.limit = 8
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			var buf []byte
			for range 50 {
				for name, want := range files {
					var err error
					if buf, err = tree.Read(buf[:0], name); err != nil || string(buf) != want {
						t.Errorf("%s: %.20q, %v, want %.20q", name, buf, err, want)
						return
					}
				}
			}
		})
	}
	wg.Go(func() {
		for i := range 200 {
			tree.Forget(fmt.Sprintf("sys/d%d", i%16))
		}
	})
	wg.Wait()
}

// queueFiles makes a veth pair of 512 + 512 queues and names the 2,048 files
// that hold the settings of one end.
func queueFiles(t testing.TB) (*Tree, []string) {
	t.Helper()
	ns := testenv.Netns(t)
	ns.Run(t, "ip", "link", "add", "va", "numrxqueues", "512", "numtxqueues", "512",
		"type", "veth", "peer", "name", "vb", "numrxqueues", "512", "numtxqueues", "512")
	tree := newTree(t, "/proc", sysfs(t, ns))
	var names []string
	for i := range 512 {
		names = append(names,
			fmt.Sprintf("sys/class/net/va/queues/rx-%d/rps_cpus", i),
			fmt.Sprintf("sys/class/net/va/queues/rx-%d/rps_flow_cnt", i),
			fmt.Sprintf("sys/class/net/va/queues/tx-%d/xps_cpus", i),
			fmt.Sprintf("sys/class/net/va/queues/tx-%d/xps_rxqs", i))
	}
	return tree, names
}

func TestQueueFilesAreKeptAndRight(t *testing.T) {
	tree, names := queueFiles(t)
	before := openFiles(t)
	for _, name := range names {
		path, err := tree.path("read", name)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got := read(t, tree, name); got != string(want) {
				t.Fatalf("%s: %q, want %q", name, got, want)
			}
		}
	}
	if n := openFiles(t) - before; n != len(names) {
		t.Errorf("%d descriptors kept for %d files", n, len(names))
	}
	if !slices.ContainsFunc(names, func(n string) bool { return strings.HasSuffix(n, "tx-511/xps_rxqs") }) {
		t.Error("the last queue is not among the files")
	}
}

// BenchmarkQueueFiles reads all 2,048 files once per iteration.
func BenchmarkQueueFiles(b *testing.B) {
	tree, names := queueFiles(b)
	buf := make([]byte, 0, 4096)
	b.Run("kept", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, name := range names {
				if _, err := tree.Read(buf, name); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("os.ReadFile", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, name := range names {
				path, err := tree.path("read", name)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := os.ReadFile(path); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
