package live

import (
	"fmt"
	"io/fs"
	"path"
)

// mounted refuses a directory that is no procfs or sysfs: a mistyped mount of a
// container would else look like a machine without devices.
func (t *Tree) mounted() error {
	for _, m := range []struct {
		flag, path, dir, what string
		has                   []string // one of them is always there
	}{
		{"--path.procfs", t.proc, "proc", "/proc", []string{"stat", "interrupts", "softirqs"}},
		{"--path.sysfs", t.sys, "sys", "/sys", []string{"class/net", "devices/system/cpu"}},
	} {
		found := false
		for _, name := range m.has {
			_, err := fs.Stat(t, path.Join(m.dir, name))
			found = found || err == nil
		}
		if !found {
			return fmt.Errorf("%s: %s has no %s: give the directory where %s is mounted", m.flag, m.path, m.has[0], m.what)
		}
	}
	return nil
}
