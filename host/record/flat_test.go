package record

import (
	"os"
	"path/filepath"
	"testing"
)

// A copy of /proc holds sysctl's sys beside interrupts; that is not the sys of a
// whole machine's copy.
func TestFlatCopyOfProc(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"interrupts":                 "           CPU0\nNMI:          7   Non-maskable interrupts\n",
		"softirqs":                   "                    CPU0\n      NET_RX:          3\n",
		"sys/net/core/netdev_budget": "300\n",
	} {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if text, err := r.Machine().Tree.Read(nil, "proc/softirqs"); err != nil || len(text) == 0 {
		t.Errorf("proc/softirqs: %q, %v", text, err)
	}
}
