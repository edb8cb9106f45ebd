package live

import (
	"strings"
	"testing"
)

func TestMachine(t *testing.T) {
	for _, netlink := range []bool{true, false} {
		before := openFiles(t)
		m, end, err := Machine("/proc", "/sys", netlink)
		if err != nil {
			t.Fatal(err)
		}
		if (m.NICs != nil) != netlink || m.Tree == nil || m.Threads == nil {
			t.Errorf("netlink %v: %+v", netlink, m)
		}
		if _, err := m.Tree.Read(nil, "proc/interrupts"); err != nil {
			t.Error(err)
		}
		if err := end(); err != nil {
			t.Error(err)
		}
		if after := openFiles(t); after != before {
			t.Errorf("netlink %v: %d descriptors before, %d after close", netlink, before, after)
		}
	}
	dir := t.TempDir()
	if _, _, err := Machine("/proc", dir+"/none", true); err == nil || !strings.HasPrefix(err.Error(), "--path.sysfs: ") {
		t.Errorf("no sysfs: %v", err)
	}
}
