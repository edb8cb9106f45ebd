package live

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/scan"
)

// nic is the files of one NIC with a queue pair more than one, and the Inventory
// that was made of them, on a host of 36 CPUs.
func nic(t *testing.T) (*Setter, *host.Inventory, string) {
	t.Helper()
	files := map[string]string{
		"sys/class/net/eth0/ifindex":                   "7\n",
		"sys/class/net/eth0/queues/rx-1/rps_cpus":      "f,00000003\n",
		"sys/class/net/eth0/queues/rx-1/rps_flow_cnt":  "1024\n",
		"sys/class/net/eth0/queues/tx-1/xps_cpus":      "0,00000000\n",
		"sys/kernel/irq/41/actions":                    "eth0-TxRx-1\n",
		"proc/irq/41/smp_affinity_list":                "0-31,35\n",
		"proc/irq/41/effective_affinity_list":          "4\n",
		"proc/sys/net/core/netdev_max_backlog":         "-1\n",
		"proc/sys/net/core/rps_sock_flow_entries":      "32768\n",
		"proc/irq/41/eth0-TxRx-1/spurious":             "",
		"sys/class/net/eth0/queues/rx-1/no_such_thing": "",
	}
	_, root := fixture(t, files)
	inv := &host.Inventory{Devices: []host.Device{{
		Name: "eth0", Ifindex: 7,
		RX:      []host.Queue{{Index: 1}},
		TX:      []host.Queue{{Direction: host.TX, Index: 0}, {Direction: host.TX, Index: 1}},
		Vectors: []host.Vector{{IRQ: 41, Role: host.RoleCombined, Queue: 1, Actions: []string{"eth0-TxRx-1"}}},
	}}}
	inv.CPUs.ByID = make([]host.CPU, 36)
	s := NewSetter(filepath.Join(root, "proc"), filepath.Join(root, "sys"), func() *host.Inventory { return inv })
	return s, inv, root
}

var (
	irq1  = host.Setting{Kind: host.IRQAffinity, Device: "eth0", Direction: host.Combined, Queue: 1}
	rps1  = host.Setting{Kind: host.RPSCPUs, Device: "eth0", Direction: host.RX, Queue: 1}
	flow1 = host.Setting{Kind: host.RPSFlowCnt, Device: "eth0", Direction: host.RX, Queue: 1}
	xps1  = host.Setting{Kind: host.XPSCPUs, Device: "eth0", Direction: host.TX, Queue: 1}
)

func TestValuesAreCanonical(t *testing.T) {
	s, _, _ := nic(t)
	for setting, want := range map[host.Setting]host.Value{
		irq1: "0-31,35", rps1: "0-1,32-35", xps1: "", flow1: "1024",
		{Kind: host.NetdevMaxBacklog}:   "-1",
		{Kind: host.RPSSockFlowEntries}: "32768",
	} {
		if got, err := s.Get(setting); err != nil || got != want {
			t.Errorf("%s: %q %v, want %q", setting, got, err, want)
		}
	}
	if at, ok := s.Effective(irq1); !ok || at != "4" {
		t.Errorf("effective %q %v", at, ok)
	}
	if _, ok := s.Effective(rps1); ok {
		t.Error("RPS has an effective affinity")
	}
}

func TestWrittenTextIsTheKernels(t *testing.T) {
	s, _, root := nic(t)
	for _, c := range []struct {
		setting host.Setting
		value   host.Value
		file    string
		want    string
	}{
		// Two words, the first of one digit: a kernel of 36 CPUs refuses more.
		{rps1, "32", "sys/class/net/eth0/queues/rx-1/rps_cpus", "1,00000000\n"},
		{xps1, "0,35", "sys/class/net/eth0/queues/tx-1/xps_cpus", "8,00000001\n"},
		{xps1, "", "sys/class/net/eth0/queues/tx-1/xps_cpus", "0,00000000\n"},
		{irq1, "33-34", "proc/irq/41/smp_affinity_list", "33-34\n"},
		{flow1, "2048", "sys/class/net/eth0/queues/rx-1/rps_flow_cnt", "2048\n"},
		{host.Setting{Kind: host.NetdevMaxBacklog}, "2000", "proc/sys/net/core/netdev_max_backlog", "2000\n"},
	} {
		path := filepath.Join(root, c.file)
		if err := errors.Join(s.Check(c.setting, c.value), os.Truncate(path, 0), s.Set(c.setting, c.value)); err != nil {
			t.Fatalf("%s: %v", c.setting, err)
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != c.want {
			t.Errorf("%s %q: wrote %q %v, want %q", c.setting, c.value, text, err, c.want)
		}
	}
}

// TestNothingIsMadeOrEmptied: a file that is not there stays so, and a value that
// cannot be is not half written.
func TestNothingIsMadeOrEmptied(t *testing.T) {
	s, _, root := nic(t)
	path := filepath.Join(root, "sys/class/net/eth0/queues/rx-1/rps_cpus")
	for _, v := range []host.Value{"36", "0x3", "1-", "-1"} {
		if s.Set(rps1, v) == nil || s.Check(rps1, v) == nil {
			t.Errorf("%q was accepted", v)
		}
	}
	if s.Set(irq1, "") == nil {
		t.Error("a vector without a CPU was accepted")
	}
	if text, _ := os.ReadFile(path); string(text) != "f,00000003\n" {
		t.Errorf("now %q", text)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{s.Check(rps1, "1"), s.Set(rps1, "1")} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("file not there: %v", err)
		}
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the file was made")
	}
	// Nor is a link followed to another file.
	target := filepath.Join(root, "target")
	if err := errors.Join(os.WriteFile(target, []byte("before"), 0o644), os.Symlink(target, path)); err != nil {
		t.Fatal(err)
	}
	if err := s.Set(rps1, "1"); !errors.Is(err, unix.ELOOP) {
		t.Errorf("a link: %v", err)
	}
	if text, _ := os.ReadFile(target); string(text) != "before" {
		t.Errorf("written through a link: %q", text)
	}
}

// TestAnotherThingOfTheSameNameIsNotWritten: numbers and names are given anew
// between the reading and the write.
func TestAnotherThingOfTheSameNameIsNotWritten(t *testing.T) {
	for _, c := range []struct {
		name    string
		setting host.Setting
		change  func(root string, inv *host.Inventory) error
		says    string
	}{
		{"device of another index", rps1, func(root string, _ *host.Inventory) error {
			return os.WriteFile(filepath.Join(root, "sys/class/net/eth0/ifindex"), []byte("9\n"), 0o644)
		}, "ifindex 9, was 7"},
		{"no device", xps1, func(root string, _ *host.Inventory) error {
			return os.RemoveAll(filepath.Join(root, "sys/class/net/eth0"))
		}, "ifindex"},
		{"vector of another device", irq1, func(root string, _ *host.Inventory) error {
			return os.WriteFile(filepath.Join(root, "sys/kernel/irq/41/actions"), []byte("nvme0q3\n"), 0o644)
		}, `IRQ 41 is "nvme0q3" now, was "eth0-TxRx-1"`},
		{"vector shared since", irq1, func(root string, _ *host.Inventory) error {
			return os.WriteFile(filepath.Join(root, "sys/kernel/irq/41/actions"), []byte("eth0-TxRx-1,ahci\n"), 0o644)
		}, "ahci"},
		{"freed vector, told by /proc alone", irq1, func(root string, _ *host.Inventory) error {
			return errors.Join(os.RemoveAll(filepath.Join(root, "sys/kernel/irq")), os.RemoveAll(filepath.Join(root, "proc/irq/41/eth0-TxRx-1")))
		}, "IRQ 41"},
		{"queue that is not there", host.Setting{Kind: host.RPSCPUs, Device: "eth0", Queue: 0}, nil, "no queue rx-0"},
		{"one TX queue", xps1, func(_ string, inv *host.Inventory) error {
			inv.Devices[0].TX = inv.Devices[0].TX[1:]
			return nil
		}, "with one TX queue there is no XPS"},
		{"device that is a path", host.Setting{Kind: host.RPSCPUs, Device: "../net/eth0", Queue: 1}, nil, "no such device"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, inv, root := nic(t)
			if c.change != nil {
				if err := c.change(root, inv); err != nil {
					t.Fatal(err)
				}
			}
			_, get := s.Get(c.setting)
			for op, err := range map[string]error{"get": get, "check": s.Check(c.setting, "1"), "set": s.Set(c.setting, "1")} {
				if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%s: %v, want %q", op, err, c.says)
				}
			}
		})
	}
}

func TestOldKernelWithoutSysKernelIRQ(t *testing.T) {
	s, _, root := nic(t)
	if err := os.RemoveAll(filepath.Join(root, "sys/kernel/irq")); err != nil {
		t.Fatal(err)
	}
	if v, err := s.Get(irq1); err != nil || v != "0-31,35" {
		t.Errorf("%q %v", v, err)
	}
}

func TestReadOnlyVectorIsUnmovable(t *testing.T) {
	s, _, root := nic(t)
	if err := os.Chmod(filepath.Join(root, "proc/irq/41/smp_affinity_list"), 0o444); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(irq1, "1"); !errors.Is(err, unix.EPERM) || !strings.Contains(err.Error(), "read-only") {
		t.Error(err)
	}
}

func TestKindsThatAreNoFiles(t *testing.T) {
	s, _, _ := nic(t)
	for _, setting := range []host.Setting{
		{Kind: host.KindChannels, Device: "eth0"}, {Kind: host.RSSIndirection, Device: "eth0"}, {Kind: "../../etc"},
		{Kind: host.NetdevMaxBacklog, Device: "eth0"},
	} {
		if _, err := s.Get(setting); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: %v", setting, err)
		}
	}
}

// TestVectorsOfThisMachine reads every NIC vector of this machine, and as root
// writes each its own value again.
func TestVectorsOfThisMachine(t *testing.T) {
	tree := newTree(t, "/proc", "/sys")
	inv := scan.New(scan.Machine{Tree: tree}, scan.Options{NetlinkOff: true}).Inventory()
	s := NewSetter("/proc", "/sys", func() *host.Inventory { return inv })
	seen := 0
	for i := range inv.Vectors {
		v := &inv.Vectors[i]
		setting := host.Setting{Kind: host.IRQAffinity, Device: inv.Devices[v.Device].Name, Queue: v.Queue}
		switch v.Role {
		case host.RoleTX:
			setting.Direction = host.TX
		case host.RoleCombined:
			setting.Direction = host.Combined
		case host.RoleRX:
		default:
			continue
		}
		seen++
		value, err := s.Get(setting)
		if err != nil || string(value) != v.Affinity.Set.String() {
			t.Errorf("%s: %q %v, want %q", setting, value, err, v.Affinity.Set)
		}
		if os.Geteuid() != 0 || v.ReadOnly {
			continue
		}
		if err := errors.Join(s.Check(setting, value), s.Set(setting, value)); err != nil {
			t.Error(err)
		}
		if now, err := s.Get(setting); err != nil || now != value {
			t.Errorf("%s: now %q %v", setting, now, err)
		}
	}
	if seen == 0 {
		t.Skip("no NIC vector on this machine")
	}
	t.Logf("%d vectors", seen)
}

func TestNoInventoryYet(t *testing.T) {
	s := NewSetter("/proc", "/sys", func() *host.Inventory { return nil })
	if _, err := s.Get(rps1); !errors.Is(err, errNoInventory) {
		t.Error(err)
	}
}

func TestWordsAreComparedAsABag(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"a,b", "b, a", true}, {"a", "a,a", false}, {"a,a", "a,b", false}, {"", "", true}, {"", "a", false},
	} {
		if sameWords(c.a, c.b) != c.same || sameWords(c.b, c.a) != c.same {
			t.Errorf("%q and %q: want %v", c.a, c.b, c.same)
		}
	}
}
