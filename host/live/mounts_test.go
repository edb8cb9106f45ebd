package live

import (
	"strings"
	"testing"
)

func TestMachineRefusesDirectoriesThatAreNoMounts(t *testing.T) {
	empty := t.TempDir()
	for _, c := range []struct{ procfs, sysfs, want string }{
		{empty, "/sys", "--path.procfs: " + empty + " has no stat: give the directory where /proc is mounted"},
		{"/proc", empty, "--path.sysfs: " + empty + " has no class/net: give the directory where /sys is mounted"},
	} {
		_, _, err := Machine(c.procfs, c.sysfs, false)
		if err == nil || strings.TrimSpace(err.Error()) != c.want {
			t.Errorf("%q; want %q", err, c.want)
		}
	}
	_, stop, err := Machine("/proc", "/sys", false)
	if err != nil {
		t.Fatal(err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}
