package live

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func process(t *testing.T, procfs string, pid int, name string, args ...string) {
	t.Helper()
	dir := filepath.Join(procfs, fmt.Sprint(pid))
	err := errors.Join(os.MkdirAll(dir, 0o755),
		os.WriteFile(filepath.Join(dir, "comm"), []byte(name+"\n"), 0o644),
		os.WriteFile(filepath.Join(dir, "cmdline"), []byte(strings.Join(append([]string{name}, args...), "\x00")+"\x00"), 0o644))
	if err != nil {
		t.Fatal(err)
	}
}

func TestRivals(t *testing.T) {
	procfs := t.TempDir()
	process(t, procfs, 2, "kthreadd")
	process(t, procfs, 812, "irqbalance", "--foreground", "--banirq=41", "-i", "42", "-i43", "--banirq", "44", "--banirq=x", "-m", "igb", "--banmod=ice", "--interval=10")
	process(t, procfs, 900, "irqbalance-ui")
	process(t, procfs, 902, "tuned")
	if err := os.MkdirAll(filepath.Join(procfs, "901"), 0o755); err != nil { // has just ended
		t.Fatal(err)
	}
	found, err := Rivals(procfs)()
	if err != nil || len(found) != len(rivals) {
		t.Fatalf("%+v %v", found, err)
	}
	for _, r := range found {
		if r.Active != (r.Name == "irqbalance" || r.Name == "tuned") || r.Once != (r.Name == "tuned") {
			t.Errorf("%s: active %v, once %v", r.Name, r.Active, r.Once)
		}
	}
	got := found[0]
	if fmt.Sprint(got.BannedIRQs, got.BannedModules) != "[41 42 43 44] [igb ice]" {
		t.Errorf("%+v", got)
	}
}

// TestHiddenProcessesAreUnknown: hidepid and a container's own /proc look as if
// nothing ran.
func TestHiddenProcessesAreUnknown(t *testing.T) {
	for name, make := range map[string]func(procfs string){
		"hidepid":           func(procfs string) { process(t, procfs, 77, "netsteer") },
		"container's /proc": func(procfs string) { process(t, procfs, 2, "sh") },
	} {
		procfs := t.TempDir()
		make(procfs)
		if found, err := Rivals(procfs)(); !errors.Is(err, fs.ErrPermission) || found != nil {
			t.Errorf("%s: %+v %v", name, found, err)
		}
	}
}

func TestRivalsOfThisMachine(t *testing.T) {
	found, err := Rivals("/proc")()
	if errors.Is(err, fs.ErrPermission) {
		t.Skip(err)
	}
	if err != nil || len(found) != len(rivals) {
		t.Errorf("%+v %v", found, err)
	}
}
