package record

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/fstest"
)

// plant makes files, and links where a text begins with "->".
func plant(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil && len(text) > 2 && text[:2] == "->" {
			err = os.Symlink(text[2:], path)
		} else if err == nil {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A directory is a chroot: its links, absolute ones too, lead to its own files
// or nowhere.
func TestDirectory(t *testing.T) {
	outside := t.TempDir()
	plant(t, outside, map[string]string{"secret": "s"})
	dir := t.TempDir()
	plant(t, dir, map[string]string{
		"top/proc/interrupts": "x", "top/sys/devices/pci/net/eth0/ifindex": "2\n", "top/etc/passwd": "own",
		"top/sys/class/net/eth0": "->../../devices/pci/net/eth0", "top/sys/abs": "->/etc/passwd",
		"top/sys/absdir": "->/sys/devices/pci", "top/sys/up": "->../../../secret", "top/sys/out": "->" + outside + "/secret",
		"top/sys/loop": "->loop", "top/sys/class/net/eth0.err": "x",
		"top/sys/devices/pci/net/eth0/speed.err": "Invalid argument\n",
	})
	if err := syscall.Mkfifo(filepath.Join(dir, "top/proc/fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for name, want := range map[string]string{
		"proc/interrupts": "x", "sys/class/net/eth0/ifindex": "2\n", "sys/abs": "own", "sys/absdir/net/eth0/ifindex": "2\n",
	} {
		for range 2 { // the second time by the kept folder
			if got, err := r.tree.Read(nil, name); err != nil || string(got) != want {
				t.Errorf("%s: %q, %v", name, got, err)
			}
		}
	}
	for name, want := range map[string]error{
		"sys/up": errOutside, "sys/out": fs.ErrNotExist, "sys/loop": syscall.ELOOP, "sys/class/net/eth0/speed": syscall.EINVAL,
		"proc/fifo": errNotRegular, "proc": errNotRegular, "proc/interrupts/x": syscall.ENOTDIR,
	} {
		if got, err := r.tree.Read(nil, name); !errors.Is(err, want) {
			t.Errorf("%s: %q, %v; want %v", name, got, err, want)
		}
	}
	if target, err := r.tree.ReadLink("sys/class/net/eth0"); err != nil || target != "../../devices/pci/net/eth0" {
		t.Errorf("%q, %v", target, err)
	}
	if i, err := r.tree.Stat("sys/class/net/eth0"); err != nil || !i.IsDir() || i.Name() != "eth0" {
		t.Errorf("%v, %v", i, err)
	}
	if i, err := r.tree.Lstat("sys/class/net/eth0"); err != nil || i.Mode().Type() != fs.ModeSymlink {
		t.Errorf("%v, %v", i, err)
	}
}

func TestDirectoryFS(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, map[string]string{"proc/stat": "cpu 1\n", "sys/class/net/eth0": "->../../devices/eth0", "sys/devices/eth0/ifindex": "2\n"})
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := fstest.TestFS(r.tree, "proc/stat", "sys/devices/eth0/ifindex", "sys/class/net/eth0"); err != nil {
		t.Error(err)
	}
}

// A bare directory's files are /proc's.
func TestBareFiles(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, map[string]string{"interrupts": "i", "softnet_stat": "n", "uptime": "1.00 2.00", "notes": "x"})
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for name, want := range map[string]string{"proc/interrupts": "i", "proc/net/softnet_stat": "n", "proc/uptime": "1.00 2.00"} {
		if got, err := r.tree.Read(nil, name); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := r.tree.Read(nil, "notes"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("notes: %v", err)
	}
}
