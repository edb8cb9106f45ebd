package scan_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/record"
	"github.com/netsteer/netsteer/host/scan"
	"github.com/netsteer/netsteer/internal/testenv"
)

// tree is a machine's files by name; a value "-> X" is a symbolic link.
type tree map[string]string

// base is a machine of 4 CPUs without devices.
func base() tree {
	t := tree{
		"proc/sys/kernel/osrelease":               "6.12.1\n",
		"proc/irq/default_smp_affinity":           "f\n",
		"proc/sys/net/core/netdev_budget":         "300\n",
		"sys/devices/system/cpu/online":           "0-3\n",
		"sys/devices/system/cpu/possible":         "0-3\n",
		"sys/devices/system/node/node0/cpulist":   "0-3\n",
		"sys/class/net/lo/ifindex":                "1\n",
		"sys/class/net/bonding_masters":           "bond0\n",
		"proc/softirqs":                           "                    CPU0       CPU1       CPU2       CPU3\n      NET_TX:          1          2          3          4\n      NET_RX:         10         20         30         40\n",
		"proc/net/softnet_stat":                   strings.Repeat("00000005 00000001 00000002 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n", 4),
		"proc/stat":                               "cpu  4 0 0 0 0 0 0 0 0 0\ncpu0 1 0 2 90 1 0 7 0 0 0\ncpu1 1 0 2 90 1 0 7 0 0 0\ncpu2 1 0 2 90 1 0 7 0 0 0\ncpu3 1 0 2 90 1 0 7 0 0 0\nintr 5 1 2\n",
		"proc/sys/net/core/rps_sock_flow_entries": "0\n",
	}
	for c := range 4 {
		dir := fmt.Sprintf("sys/devices/system/cpu/cpu%d/", c)
		t[dir+"topology/physical_package_id"] = "0\n"
		t[dir+"topology/core_cpus_list"] = fmt.Sprintf("%d-%d\n", c&^1, c|1)
		t[dir+"cache/index2/level"], t[dir+"cache/index2/shared_cpu_list"] = "2\n", fmt.Sprintf("%d-%d\n", c&^1, c|1)
		t[dir+"cache/index3/level"], t[dir+"cache/index3/shared_cpu_list"] = "3\n", "0-3\n"
	}
	return t
}

// row is one interrupt of 4 CPUs.
type row struct {
	irq    int
	counts [4]int
	tail   string
}

func (t tree) interrupts(rows ...row) {
	var b strings.Builder
	b.WriteString("           CPU0       CPU1       CPU2       CPU3\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "%3d: %10d %10d %10d %10d %s\n", r.irq, r.counts[0], r.counts[1], r.counts[2], r.counts[3], r.tail)
		dir := fmt.Sprintf("proc/irq/%d/", r.irq)
		t[dir+"smp_affinity_list"], t[dir+"effective_affinity_list"], t[dir+"node"] = "0-3\n", strconv.Itoa(r.irq%4)+"\n", "0\n"
		t[dir+"smp_affinity"] = "f\n"
	}
	t["proc/interrupts"] = b.String()
}

// nic adds a device of a PCI function, with queues and MSI vectors. parent is
// its place below the function ("" or "/virtio2").
func (t tree) nic(name, pci, driver, parent string, ifindex, rx, tx int, irqs ...int) {
	function := "sys/devices/pci0000:00/" + pci
	dir := function + parent + "/net/" + name
	t["sys/class/net/"+name] = "-> ../../" + strings.TrimPrefix(dir, "sys/")
	t[dir+"/ifindex"], t[dir+"/iflink"], t[dir+"/flags"] = strconv.Itoa(ifindex), strconv.Itoa(ifindex), "0x1003\n"
	t[dir+"/device"] = "-> ../../../" + filepath.Base(function+parent)
	t[function+parent+"/driver"] = "-> " + strings.Repeat("../", strings.Count(function+parent, "/")-0) + "bus/drivers/" + driver
	t[function+"/numa_node"] = "0\n"
	for _, irq := range irqs {
		t[fmt.Sprintf("%s/msi_irqs/%d", function, irq)] = "msix\n"
	}
	t.queues(dir, rx, tx)
	for _, s := range []string{"rx_packets", "tx_packets", "rx_missed_errors"} {
		t[dir+"/statistics/"+s] = "7\n"
	}
}

func (t tree) queues(dir string, rx, tx int) {
	for i := range rx {
		q := fmt.Sprintf("%s/queues/rx-%d/", dir, i)
		t[q+"rps_cpus"], t[q+"rps_flow_cnt"] = "0\n", "0\n"
	}
	for i := range tx {
		q := fmt.Sprintf("%s/queues/tx-%d/", dir, i)
		t[q+"traffic_class"], t[q+"xps_rxqs"] = "0\n", "0\n"
		if tx > 1 {
			t[q+"xps_cpus"] = "0\n"
		}
	}
}

// virtual adds a device without a parent.
func (t tree) virtual(name string, ifindex, rx, tx int, uevent string) {
	dir := "sys/devices/virtual/net/" + name
	t["sys/class/net/"+name] = "-> ../../devices/virtual/net/" + name
	t[dir+"/ifindex"], t[dir+"/iflink"], t[dir+"/flags"], t[dir+"/uevent"] = strconv.Itoa(ifindex), strconv.Itoa(ifindex), "0x1003\n", uevent
	t.queues(dir, rx, tx)
}

func (t tree) open(tb testing.TB) scan.Machine {
	tb.Helper()
	dir := tb.TempDir()
	for name, content := range t {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			tb.Fatal(err)
		}
		var err error
		if target, ok := strings.CutPrefix(content, "-> "); ok {
			err = os.Symlink(target, full)
		} else {
			err = os.WriteFile(full, []byte(content), 0o600)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	r, err := record.Open(dir)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { r.Close() })
	return r.Machine()
}

func (t tree) inventory(tb testing.TB, o scan.Options) *host.Inventory {
	return scan.New(t.open(tb), o).Inventory()
}

// vectorText says in one line what a vector serves.
func vectorText(v *host.Vector) string {
	return fmt.Sprintf("%d %s rx%v tx%v %s", v.IRQ, v.Role, v.RX, v.TX, v.Mapping)
}

func vectorsOf(t *testing.T, inv *host.Inventory, device string) []string {
	t.Helper()
	d := inv.Device(device)
	if d == nil {
		t.Fatalf("device %s is not reported", device)
	}
	var out []string
	for i := range d.Vectors {
		out = append(out, vectorText(&d.Vectors[i]))
	}
	return out
}

func degraded(inv *host.Inventory) []string {
	var out []string
	for _, d := range inv.Degraded {
		out = append(out, fmt.Sprintf("%s/%s/%s", d.Source, d.Device, d.Reason))
	}
	return out
}

func TestMapping(t *testing.T) {
	for _, c := range []struct {
		name   string
		build  func(t tree)
		device string
		want   []string
	}{
		{"igb: pairs, and link events on the plain name", func(t tree) {
			t.nic("eth1", "0000:00:03.0", "igb", "", 2, 2, 2, 24, 25, 26)
			t.interrupts(row{24, [4]int{1}, "PCI-MSIX-0000:00:03.0   0-edge      eth1"}, row{25, [4]int{}, "PCI-MSIX-0000:00:03.0   1-edge      eth1-TxRx-0"}, row{26, [4]int{}, "PCI-MSIX-0000:00:03.0   2-edge      eth1-TxRx-1"})
		}, "eth1", []string{"24 control rx[] tx[] none", "25 combined rx[0] tx[0] name", "26 combined rx[1] tx[1] name"}},
		{"igb with split vectors", func(t tree) {
			t.nic("eth1", "0000:00:03.0", "igb", "", 2, 1, 1, 25, 26)
			t.interrupts(row{25, [4]int{}, "PCI-MSI 524289-edge eth1-rx-0"}, row{26, [4]int{}, "PCI-MSI 524290-edge eth1-tx-0"})
		}, "eth1", []string{"25 rx rx[0] tx[] name", "26 tx rx[] tx[0] name"}},
		{"renamed while up: the old name stays in /proc/interrupts", func(t tree) {
			t.nic("lan0", "0000:00:03.0", "igb", "", 2, 1, 1, 24, 25)
			t.interrupts(row{24, [4]int{}, "PCI-MSI 1-edge lan0"}, row{25, [4]int{}, "PCI-MSI 2-edge eth1-TxRx-0"})
		}, "lan0", []string{"24 control rx[] tx[] none", "25 combined rx[0] tx[0] name"}},
		{"virtio: the function is one level up, vectors for more pairs than there are now", func(t tree) {
			t.nic("eth0", "0000:00:04.0", "virtio_net", "/virtio2", 2, 1, 1, 28, 29, 30, 31, 32)
			t.interrupts(row{28, [4]int{}, "PCI-MSIX-0000:00:04.0 0-edge virtio2-config"}, row{29, [4]int{}, "PCI-MSIX-0000:00:04.0 1-edge virtio2-input.0"},
				row{30, [4]int{}, "PCI-MSIX-0000:00:04.0 2-edge virtio2-output.0"}, row{31, [4]int{}, "PCI-MSIX-0000:00:04.0 3-edge virtio2-input.1"}, row{32, [4]int{}, "PCI-MSIX-0000:00:04.0 4-edge virtio2-output.1"})
		}, "eth0", []string{"28 control rx[] tx[] none", "29 rx rx[0] tx[] name", "30 tx rx[] tx[0] name", "31 rx rx[] tx[] name", "32 tx rx[] tx[] name"}},
		{"allocated vectors that nobody requested are not the device's", func(t tree) {
			t.nic("eth1", "0000:00:03.0", "igb", "", 2, 1, 1, 24, 25, 99)
			t.interrupts(row{24, [4]int{}, "PCI-MSI 1-edge eth1"}, row{25, [4]int{}, "PCI-MSI 2-edge eth1-TxRx-0"})
		}, "eth1", []string{"24 control rx[] tx[] none", "25 combined rx[0] tx[0] name"}},
		{"two ports of one function keep to their own names", func(t tree) {
			t.nic("p0", "0000:00:03.0", "igb", "", 2, 1, 1, 25, 26)
			t.nic("p1", "0000:00:03.0", "igb", "", 3, 1, 1)
			t.interrupts(row{25, [4]int{}, "PCI-MSI 1-edge p0-TxRx-0"}, row{26, [4]int{}, "PCI-MSI 2-edge p1-TxRx-0"})
		}, "p1", []string{"26 combined rx[0] tx[0] name"}},
		{"unknown driver: a name on which all drivers agree", func(t tree) {
			t.nic("eth1", "0000:00:03.0", "madeup", "", 2, 1, 1, 25, 26)
			t.interrupts(row{25, [4]int{}, "PCI-MSI 1-edge eth1-TxRx-0"}, row{26, [4]int{}, "PCI-MSI 2-edge eth1:mystery-3"})
		}, "eth1", []string{"25 combined rx[0] tx[0] name", "26 other rx[] tx[] none"}},
		{"shared line without MSI: the device's, and no queue is guessed", func(t tree) {
			t.nic("eth1", "0000:00:03.0", "madeup", "", 2, 1, 1)
			t["sys/devices/pci0000:00/0000:00:03.0/irq"] = "11\n"
			t.interrupts(row{11, [4]int{5}, "IO-APIC  11-fasteoi   ehci_hcd:usb1, snd"})
		}, "eth1", []string{"11 other rx[] tx[] none"}},
		{"masked /proc/interrupts: the kernel's own folder stands in", func(t tree) {
			t.nic("eth1", "0000:00:03.0", "igb", "", 2, 1, 1, 25)
			t["proc/interrupts"] = ""
			t["sys/kernel/irq/25/actions"], t["sys/kernel/irq/25/chip_name"], t["sys/kernel/irq/25/hwirq"] = "eth1-TxRx-0\n", "PCI-MSI\n", "3\n"
		}, "eth1", []string{"25 combined rx[0] tx[0] name"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := base()
			m.interrupts()
			c.build(m)
			inv := m.inventory(t, scan.Options{})
			if got := vectorsOf(t, inv, c.device); !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q\ndegraded %v", got, c.want, degraded(inv))
			}
			d := inv.Device(c.device)
			for _, list := range [][]host.Queue{d.RX, d.TX} {
				for i := range list {
					if v := list[i].Vector; v >= 0 && inv.Vectors[v].Device != d.ID {
						t.Errorf("queue %+v points to another device's vector", list[i])
					}
				}
			}
		})
	}
}

func TestUnmappedVectorSaysWhy(t *testing.T) {
	m := base()
	m.nic("eth1", "0000:00:03.0", "madeup", "", 2, 1, 1, 25)
	m.interrupts(row{25, [4]int{}, "PCI-MSI 1-edge eth1:mystery-3"})
	inv := m.inventory(t, scan.Options{})
	if v := inv.Device("eth1").Vectors[0]; v.Unmapped != host.ReasonUnknownDriver {
		t.Errorf("%+v", v)
	}
	for _, want := range []string{"driver/eth1/unknown-driver", "queue_mapping/eth1/unknown-driver"} {
		if !slices.Contains(degraded(inv), want) {
			t.Errorf("%v lacks %s", degraded(inv), want)
		}
	}
}

func TestTopology(t *testing.T) {
	m := base()
	m["sys/devices/system/cpu/online"] = "0-1,3\n"
	m["sys/devices/system/cpu/isolated"] = "1\n"
	m["sys/devices/system/cpu/nohz_full"] = "  (null)\n"
	m["sys/fs/cgroup/cpuset.cpus.isolated"] = "3\n"
	m["sys/devices/system/cpu/cpu3/cpu_capacity"] = "512\n"
	m.interrupts()
	c := m.inventory(t, scan.Options{}).CPUs
	if c.Online != cpuset.Of(0, 1, 3) || c.Possible != cpuset.Range(0, 3) || c.NumIDs() != 4 {
		t.Errorf("online %s, possible %s, ids %d", c.Online, c.Possible, c.NumIDs())
	}
	if c.Isolated() != cpuset.Of(1, 3) || !c.NohzFull.IsEmpty() {
		t.Errorf("isolated %s, nohz_full %s", c.Isolated(), c.NohzFull)
	}
	if got, want := c.ByID[3], (host.CPU{Node: 0, Package: 0, Core: 2, Cache: 0, Capacity: 512}); got != want {
		t.Errorf("CPU 3: %+v; want %+v", got, want)
	}
	if c.ByID[2].Core != -1 {
		t.Errorf("an offline CPU has a core: %+v", c.ByID[2])
	}
	if d := c.Distance(0, 1); d != host.SameCore {
		t.Errorf("distance of siblings is %d", d)
	}
	if d := c.Distance(0, 3); d != host.SameCache {
		t.Errorf("distance of CPUs 0 and 3 is %d", d)
	}
}

// Before 6.7 the root does not tell the isolated partitions; they are found by
// walking down partition roots only.
func TestIsolatedPartitionsOfOldKernels(t *testing.T) {
	m := base()
	m["sys/fs/cgroup/a/cpuset.cpus.partition"] = "root\n"
	m["sys/fs/cgroup/a/b/cpuset.cpus.partition"], m["sys/fs/cgroup/a/b/cpuset.cpus.effective"] = "isolated\n", "2-3\n"
	m["sys/fs/cgroup/c/cpuset.cpus.partition"] = "member\n"
	m["sys/fs/cgroup/c/d/cpuset.cpus.partition"], m["sys/fs/cgroup/c/d/cpuset.cpus.effective"] = "isolated\n", "0\n"
	m.interrupts()
	if got := m.inventory(t, scan.Options{}).CPUs.IsolatedCpuset; got != cpuset.Of(2, 3) {
		t.Errorf("isolated by cpuset: %q; want 2-3", got)
	}
}

func TestWithoutSysfs(t *testing.T) {
	m := tree{
		"proc/interrupts": "           CPU0       CPU2\n 25:          1          2  PCI-MSI 1-edge eth1-TxRx-0\n",
		"proc/softirqs":   "                    CPU0       CPU1       CPU2\n      NET_RX:         10         20         30\n",
	}
	inv := m.inventory(t, scan.Options{})
	if inv.CPUs.Online != cpuset.Of(0, 2) || inv.CPUs.NumIDs() != 3 {
		t.Errorf("online %s, ids %d; want 0,2 and 3", inv.CPUs.Online, inv.CPUs.NumIDs())
	}
	for _, want := range []string{"topology//missing", "sysfs//missing", "sysctl//missing"} {
		if !slices.Contains(degraded(inv), want) {
			t.Errorf("%v lacks %s", degraded(inv), want)
		}
	}
}

func TestWhichDevicesAreReported(t *testing.T) {
	build := func() tree {
		m := base()
		m.nic("eth10", "0000:00:03.0", "igb", "", 2, 1, 1)
		m.nic("eth2", "0000:00:04.0", "igb", "", 3, 2, 2)
		m.virtual("veth0", 4, 2, 2, "")
		m.virtual("dummy0", 5, 1, 1, "")
		m.virtual("bond0", 6, 16, 16, "DEVTYPE=bond\n")
		m["sys/devices/virtual/net/bond0/lower_eth2"] = "-> ../../../pci0000:00/0000:00:04.0/net/eth2"
		m.interrupts()
		return m
	}
	names := func(inv *host.Inventory) string {
		var list []string
		for i := range inv.Devices {
			list = append(list, inv.Devices[i].Name)
		}
		return strings.Join(list, " ")
	}
	for _, c := range []struct {
		name    string
		options scan.Options
		want    string
		ignored host.Ignored
	}{
		{"default", scan.Options{}, "bond0 eth2 eth10 veth0", host.Ignored{SingleQueueVirtual: 1}},
		{"include", scan.Options{Include: regexp.MustCompile("^(?:dummy.*)$")}, "bond0 dummy0 eth2 eth10 veth0", host.Ignored{}},
		{"exclude wins", scan.Options{Include: regexp.MustCompile("^(?:veth0)$"), Exclude: regexp.MustCompile("^(?:veth.*|bond0)$")}, "eth2 eth10", host.Ignored{SingleQueueVirtual: 1, Excluded: 2}},
		{"limit keeps hardware", scan.Options{Limit: 2}, "eth2 eth10", host.Ignored{SingleQueueVirtual: 1, OverLimit: 2}},
		{"named on the command line", scan.Options{Always: []string{"dummy0"}, Exclude: regexp.MustCompile("^(?:dummy0)$"), Limit: 1}, "dummy0", host.Ignored{OverLimit: 4}},
	} {
		inv := build().inventory(t, c.options)
		if names(inv) != c.want || inv.Ignored != c.ignored {
			t.Errorf("%s: %q, ignored %+v; want %q, %+v", c.name, names(inv), inv.Ignored, c.want, c.ignored)
		}
	}
	inv := build().inventory(t, scan.Options{})
	bond := inv.Device("bond0")
	if !bond.Stacked || !slices.Equal(bond.Lower, []string{"eth2"}) || len(bond.RX)+len(bond.TX) != 0 {
		t.Errorf("bond0: %+v", bond)
	}
	if inv.Device("eth2").Node != 0 || inv.Device("veth0").Node != -1 || inv.Device("veth0").Physical {
		t.Error("node or parent is wrong")
	}
}

func TestQueueSettings(t *testing.T) {
	m := base()
	m.nic("eth1", "0000:00:03.0", "igb", "", 2, 2, 2)
	q := "sys/devices/pci0000:00/0000:00:03.0/net/eth1/queues/"
	m[q+"rx-0/rps_cpus"], m[q+"rx-0/rps_flow_cnt"] = "6\n", "4096\n"
	m[q+"tx-1/xps_cpus"], m[q+"tx-1/xps_rxqs"], m[q+"tx-1/traffic_class"] = "c\n", "3\n", "1\n"
	delete(m, q+"rx-1/rps_cpus")
	m.nic("eth2", "0000:00:04.0", "igb", "", 3, 1, 1)
	m.interrupts()
	inv := m.inventory(t, scan.Options{})
	d := inv.Device("eth1")
	if d.RX[0].RPS != host.KnownMask(cpuset.Of(1, 2)) || d.RX[0].FlowEntries != host.Known(4096) || d.RX[1].RPS.OK {
		t.Errorf("rx: %+v", d.RX)
	}
	if d.TX[1].XPS != host.KnownMask(cpuset.Of(2, 3)) || !slices.Equal(d.TX[1].XPSRXQueues, []int{0, 1}) {
		t.Errorf("tx-1: %+v", d.TX[1])
	}
	if !d.TX[0].Usable || d.TX[1].Usable {
		t.Error("a TX queue of traffic class 1 is usable, or one of class 0 is not")
	}
	if x := inv.Device("eth2").TX[0].XPS; x.OK {
		t.Errorf("a device with one TX queue has XPS %+v", x)
	}
	if list := degraded(inv); !slices.Contains(list, "queues/eth1/missing") || slices.Contains(list, "queues/eth2/missing") {
		t.Errorf("degraded %v: a missing rps_cpus is degraded, a missing xps_cpus is not", list)
	}
}

// The shape stays while masks change, and changes with queues, vectors and CPUs.
func TestShape(t *testing.T) {
	m := base()
	m.nic("eth1", "0000:00:03.0", "igb", "", 2, 1, 1, 25)
	m.interrupts(row{25, [4]int{}, "PCI-MSI 1-edge eth1-TxRx-0"})
	machine := m.open(t)
	s := scan.New(machine, scan.Options{})
	first := s.Inventory()
	if again := s.Inventory(); again.Shape != first.Shape || again.Generation <= first.Generation {
		t.Errorf("unchanged: shape %d -> %d, generation %d -> %d", first.Shape, again.Shape, first.Generation, again.Generation)
	}
}

func TestRecordedGuests(t *testing.T) {
	for _, c := range []struct {
		guest          string
		kernel         int
		igb, virtio    string
		igbIRQ, virtRX int // IRQ of queue 0
		online         string
	}{
		{"deb-6.1-8cpu-2node", 61, "eth0", "eth1", 25, 38, "0-7"},
		{"deb-6.18-8cpu-2node", 618, "eth1", "eth0", 38, 29, "0-7"},
		{"deb-6.18-8cpu-cpu3offline", 618, "eth1", "eth0", 38, 29, "0-2,4-7"},
	} {
		r, err := record.Open(testenv.Shared(t, "recorded", c.guest+".tar.gz"))
		if err != nil {
			t.Fatal(err)
		}
		s := scan.New(r.Machine(), scan.Options{})
		inv := s.Inventory()
		if inv.CPUs.Online.String() != c.online || len(inv.Nodes) != 2 {
			t.Errorf("%s: online %s, %d nodes", c.guest, inv.CPUs.Online, len(inv.Nodes))
		}
		for _, want := range []struct {
			device string
			queues int
			irq    int
		}{{c.igb, 8, c.igbIRQ}, {c.virtio, 4, c.virtRX}} {
			d := inv.Device(want.device)
			if len(d.RX) != want.queues || len(d.TX) != want.queues {
				t.Fatalf("%s %s: %d rx, %d tx queues", c.guest, want.device, len(d.RX), len(d.TX))
			}
			for i := range d.RX {
				v := d.RX[i].Vector
				if v < 0 || inv.Vectors[v].Mapping != host.MappedName {
					t.Errorf("%s %s rx-%d: no vector by name", c.guest, want.device, i)
				}
			}
			if got := inv.Vectors[d.RX[0].Vector].IRQ; got != want.irq {
				t.Errorf("%s %s rx-0 is on IRQ %d; want %d", c.guest, want.device, got, want.irq)
			}
			if w := d.RX[0].RSSWeight; !d.RX[0].RSSWeightOK || w != 1/float64(want.queues) {
				t.Errorf("%s %s: weight of rx-0 is %v", c.guest, want.device, w)
			}
		}
		var sample host.Sample
		counters := s.Counters(inv, nil)
		if fits, notes := counters.Read(&sample); !fits || len(notes) > 0 {
			t.Errorf("%s: fits %v, degraded %v", c.guest, fits, notes)
		}
	}
}

// A child namespace has the folder, and not the host's settings in it: they do
// not apply, which is neither 0 nor degraded. A capture without the folder is.
func TestSysctlsOfAChildNamespace(t *testing.T) {
	m := base()
	m.interrupts()
	delete(m, "proc/sys/net/core/netdev_budget")
	delete(m, "proc/sys/net/core/rps_sock_flow_entries")
	m["proc/sys/net/core/somaxconn"] = "4096\n"
	inv := m.inventory(t, scan.Options{})
	if inv.Sysctls.NetdevBudget.OK || slices.Contains(degraded(inv), "sysctl//missing") {
		t.Errorf("budget %+v, degraded %v", inv.Sysctls.NetdevBudget, degraded(inv))
	}
}

func TestKernelReleaseOfOldCaptures(t *testing.T) {
	m := base()
	m.interrupts()
	delete(m, "proc/sys/kernel/osrelease")
	m["proc/version"] = "Linux version 5.14.0-70.el9.x86_64 (builder@host) (gcc) #1 SMP\n"
	if got := m.inventory(t, scan.Options{}).Kernel; got != "5.14.0-70.el9.x86_64" {
		t.Errorf("kernel %q", got)
	}
}

// A name that is no UTF-8 can be no label; it is said, not passed over.
func TestDeviceNameThatIsNoText(t *testing.T) {
	m := base()
	m.interrupts()
	m["sys/class/net/x\xff/ifindex"] = "7\n"
	if list := degraded(m.inventory(t, scan.Options{})); !slices.Contains(list, "sysfs//malformed") {
		t.Errorf("degraded %v", list)
	}
}
