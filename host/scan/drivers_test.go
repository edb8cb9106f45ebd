package scan_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/driver"
	"github.com/netsteer/netsteer/host/scan"
	"github.com/netsteer/netsteer/internal/testenv"
)

// fixture is a device whose /proc/interrupts and ethtool -S are given, and what
// must be read from them.
type fixture struct {
	driver, device    string
	irqs              []int
	rx, tx            int
	interrupts, stats string
}

// machine makes the host around it.
func (f fixture) machine() tree {
	m := base()
	pci := "0000:00:03.0"
	// The function must be the one that names tell.
	for word := range strings.FieldsSeq(f.interrupts) {
		if _, unit, ok := strings.Cut(word, "@pci:"); ok && f.owns(word) {
			pci = unit
		}
	}
	parent := ""
	if f.driver == "virtio_net" {
		parent = "/virtio2"
	}
	m.nic(f.device, pci, f.driver, parent, 2, f.rx, f.tx, f.irqs...)
	m["proc/interrupts"] = f.interrupts
	if f.stats != "" {
		m["sos_commands/networking/ethtool_-S_"+f.device] = f.stats
	}
	return m
}

// owns reports whether a name stands in a row of one of the device's IRQs.
func (f fixture) owns(name string) bool {
	for line := range strings.Lines(f.interrupts) {
		label, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		irq, err := strconv.Atoi(label)
		if err == nil && slices.Contains(f.irqs, irq) && slices.Contains(strings.Fields(rest), name) {
			return true
		}
	}
	return false
}

// read is the device's vectors ("101=0,1/0,1"), its control vectors, and the
// counters of its queues, RX first.
func (f fixture) read(t *testing.T) (vectors, control []string, queues []host.QueueCounters, degraded []host.Degraded) {
	t.Helper()
	s := scan.New(f.machine().open(t), scan.Options{})
	inv := s.Inventory()
	d := inv.Device(f.device)
	if d == nil {
		t.Fatalf("%s is not reported: %v", f.device, inv.Degraded)
	}
	if d.Driver != f.driver || len(d.RX) != f.rx || len(d.TX) != f.tx {
		t.Fatalf("%s has driver %s, %d and %d queues", f.device, d.Driver, len(d.RX), len(d.TX))
	}
	for i := range d.Vectors {
		v := &d.Vectors[i]
		switch {
		case v.Carries():
			vectors = append(vectors, fmt.Sprintf("%d=%s/%s", v.IRQ, join(v.RX), join(v.TX)))
		case v.Role == host.RoleControl:
			control = append(control, strconv.Itoa(v.IRQ))
		case v.Role == host.RoleOther:
			t.Errorf("IRQ %d (%s) is not understood", v.IRQ, v.Actions)
		}
	}
	for _, list := range [][]host.Queue{d.RX, d.TX} {
		for i := range list {
			v := list[i].Vector
			if v >= 0 && inv.Vectors[v].Mapping != host.MappedName {
				t.Errorf("queue %d is mapped by %s", list[i].Index, inv.Vectors[v].Mapping)
			}
		}
	}
	queues = make([]host.QueueCounters, f.rx+f.tx)
	var dc host.DeviceCounters
	degraded = s.Counters(inv, nil).Device(d.ID, &dc, queues)
	return vectors, control, queues, degraded
}

func join(list []int) string {
	text := make([]string, len(list))
	for i, n := range list {
		text[i] = strconv.Itoa(n)
	}
	return strings.Join(text, ",")
}

// numbers reads "100-104,9", "" and "-".
func numbers(t *testing.T, text string) []int {
	t.Helper()
	var list []int
	if text == "" || text == "-" {
		return nil
	}
	for part := range strings.SplitSeq(text, ",") {
		from, to, ok := strings.Cut(part, "-")
		if !ok {
			to = from
		}
		a, err := strconv.Atoi(from)
		b, err2 := strconv.Atoi(to)
		if err != nil || err2 != nil {
			t.Fatalf("%q is no list of numbers", text)
		}
		for n := a; n <= b; n++ {
			list = append(list, n)
		}
	}
	return list
}

func counterText(q host.QueueCounters) string {
	text := make([]string, 3)
	for i, c := range []host.Count{q.Packets, q.Bytes, q.Drops} {
		text[i] = "-"
		if c.OK {
			text[i] = strconv.FormatUint(c.N, 10)
		}
	}
	return strings.Join(text, "/")
}

// Every driver's made fixture is read as testdata/samples.tsv says.
func TestDriverFixtures(t *testing.T) {
	dir := filepath.Join(testenv.ModuleRoot(t), "testdata")
	text := readFile(t, filepath.Join(dir, "samples.tsv"))
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		col := strings.Split(strings.TrimSpace(line), "\t")
		if len(col) != 10 {
			t.Fatalf("%q has %d columns", line, len(col))
		}
		seen[col[0]] = true
		t.Run(col[1], func(t *testing.T) {
			f := fixture{driver: col[0], device: col[2], irqs: numbers(t, col[3]), rx: numbers(t, col[4])[0], tx: numbers(t, col[5])[0],
				interrupts: readFile(t, filepath.Join(dir, "drivers", col[1], "interrupts")),
				stats:      readFile(t, filepath.Join(dir, "drivers", col[1], "ethtool-S"))}
			vectors, control, queues, degraded := f.read(t)
			if got := strings.Join(vectors, " "); got != col[6] {
				t.Errorf("vectors %s; want %s", got, col[6])
			}
			if got := strings.Join(control, ","); got != strings.TrimPrefix(col[7], "-") {
				t.Errorf("control vectors %s; want %s", got, col[7])
			}
			if got := counterText(queues[0]); got != col[8] {
				t.Errorf("rx-0 %s; want %s", got, col[8])
			}
			if got := counterText(queues[f.rx]); got != col[9] {
				t.Errorf("tx-0 %s; want %s", got, col[9])
			}
			counted := col[8] != "-/-/-"
			for i, q := range queues {
				if q.Packets.OK != counted || q.Bytes.OK != counted {
					t.Errorf("queue %d: %+v", i, q)
				}
			}
			if (len(degraded) == 0) != counted {
				t.Errorf("degraded %v", degraded)
			}
		})
	}
	for _, name := range driver.Names() {
		if !seen[name] && name != "veth" { // virtual: no vector and no such counters
			t.Errorf("%s has no line in samples.tsv", name)
		}
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// pairs is what n vectors from an IRQ on serve, one pair each.
func pairs(irq, n int) string {
	var list []string
	for q := range n {
		list = append(list, fmt.Sprintf("%d=%d/%d", irq+q, q, q))
	}
	return strings.Join(list, " ")
}

// The published samples of real machines: vectors.
func TestSharedInterrupts(t *testing.T) {
	for _, c := range []struct {
		file, driver, device, irqs string
		rx, tx                     int
		vectors, control           string
	}{
		{"ena__interrupts_8cpu_arm64_gicv3_its_no_space_after_IPI.txt", "ena", "eth0", "57-65", 8, 8, pairs(58, 8), "57"},
		{"i40e__interrupts_4cpu_fdir_vector.txt", "i40e", "eth0", "32-37", 4, 4, pairs(33, 4), "32,37"},
		{"i40e__interrupts_4cpu_fdir_vector.txt", "i40e", "eth1", "46,51", 4, 4, "", "46,51"}, // down
		{"i40e__interrupts_4cpu_fdir_vector.txt", "e1000e", "eth2", "60", 1, 1, "60=0/0", ""},
		{"i40e__interrupts_4cpu_fdir_vector.txt", "igb", "eth3", "61-65", 4, 4, pairs(62, 4), "61"},
		{"i40e_igb__interrupts_80cpu_trimmed.txt", "i40e", "eno1", "252-258,333", 6, 6, pairs(253, 6), "252,333"},
		{"i40e_igb__interrupts_80cpu_trimmed.txt", "i40e", "ens7f1", "523-529,604", 6, 6, pairs(524, 6), "523,604"},
		{"i40e_igb__interrupts_80cpu_trimmed.txt", "igb", "eno4", "243-249", 6, 6, pairs(244, 6), "243"},
		{"iavf__interrupts_6cpu_rhel7_two_vfs_same_netdev_name.txt", "iavf", "net1", "941-945", 4, 4, pairs(942, 4), "941"},
		{"iavf__interrupts_6cpu_rhel7_two_vfs_same_netdev_name.txt", "iavf", "net1", "961-965", 4, 4, pairs(962, 4), "961"},
		{"ice_i40e_tg3__interrupts_112cpu_trimmed.txt", "ice", "ens3f0", "1087-1091,1317", 3, 3, pairs(1089, 3), "1087,1088,1317"},
		{"ice_i40e_tg3__interrupts_112cpu_trimmed.txt", "ice", "ens6f1", "1783-1787,2013", 3, 3, pairs(1785, 3), "1783,1784,2013"},
		{"ice_i40e_tg3__interrupts_112cpu_trimmed.txt", "i40e", "eno12429", "965-968,1078", 3, 3, pairs(966, 3), "965,1078"},
		{"igb_e1000e__interrupts_16cpu.txt", "igb", "eth3", "68-76", 8, 8, pairs(69, 8), "68"},
		{"igb_e1000e__interrupts_16cpu.txt", "e1000e", "eth0", "77-79", 1, 1, "77=0/ 78=/0", "79"},
		{"igb_i211__interrupts_4cpu_split_rx_tx.txt", "igb", "eth0", "129-133", 2, 2, "130=0/ 131=1/ 132=/0 133=/1", "129"},
		{"igb_oot__interrupts_8cpu_lsc_vector.txt", "igb", "eth0", "54-62", 8, 8, pairs(54, 8), "62"},
		{"ixgbe__interrupts_4cpu_step1_of_2.txt", "ixgbe", "eth4", "34-38", 4, 4, pairs(34, 4), "38"},
		{"ixgbe__interrupts_4cpu_step2_of_2.txt", "ixgbe", "eth5", "39-43", 4, 4, pairs(39, 4), "43"},
		{"ixgbe__interrupts_8cpu_unusual_topology.txt", "ixgbe", "eth0", "52-59", 8, 8, pairs(52, 8), ""},
		{"ixgbe__interrupts_8cpu_unusual_topology.txt", "ixgbe", "eth1", "61-68", 8, 8, pairs(61, 8), ""},
		{"ixgbe_igb_i40e__interrupts_32cpu_6.x_pci_address_in_chip_name.txt", "ixgbe", "eno1", "179-211", 32, 32, pairs(179, 32), "211"},
		{"ixgbe_igb_i40e__interrupts_32cpu_6.x_pci_address_in_chip_name.txt", "i40e", "ens7f1", "137-170", 32, 32, pairs(138, 32), "137,170"},
		{"ixgbe_igb_i40e__interrupts_32cpu_6.x_pci_address_in_chip_name.txt", "igb", "eno3", "75-83", 8, 8, pairs(76, 8), "75"},
		{"mlx5_core__interrupts_12cpu_6.x_pci_msix_chip_names_partial.txt", "mlx5_core", "p0", "99,109-113", 6, 6, "99=0/0 109=1/1 110=2/2 111=3/3 112=4/4 113=5/5", ""},
		{"mlx5_core__interrupts_12cpu_6.x_pci_msix_chip_names_partial.txt", "mlx5_core", "p1", "101,102", 1, 1, "102=0/0", "101"},
		{"mlx5_core__interrupts_4cpu_old_eq_names_two_ports.txt", "mlx5_core", "p0", "27-33", 4, 4, pairs(30, 4), "27,28,29"},
		{"mlx5_core__interrupts_4cpu_old_eq_names_two_ports.txt", "mlx5_core", "p1", "34-40", 4, 4, pairs(37, 4), "34,35,36"},
		{"vmxnet3__interrupts_6cpu_four_pairs_and_event.txt", "vmxnet3", "eth0", "56-60", 4, 4, pairs(56, 4), "60"},
		{"e1000e__interrupts_8cpu_row_without_name.txt", "e1000e", "enp0s25", "29", 1, 1, "29=0/0", ""},
	} {
		t.Run(c.file+"/"+c.device, func(t *testing.T) {
			f := fixture{driver: c.driver, device: c.device, irqs: numbers(t, c.irqs), rx: c.rx, tx: c.tx, interrupts: sample(t, c.file)}
			vectors, control, _, _ := f.read(t)
			if got := strings.Join(vectors, " "); got != c.vectors {
				t.Errorf("vectors %s; want %s", got, c.vectors)
			}
			if got := strings.Join(control, ","); got != c.control {
				t.Errorf("control vectors %s; want %s", got, c.control)
			}
		})
	}
}

// sample is a published file without its line of source.
func sample(t *testing.T, name string) string {
	t.Helper()
	text := readFile(t, testenv.Shared(t, "samples", name))
	if strings.HasPrefix(text, "#") {
		_, text, _ = strings.Cut(text, "\n")
	}
	return text
}

// The published samples of real machines: counters of queues.
func TestSharedStatistics(t *testing.T) {
	for _, c := range []struct {
		file, driver string
		rx, tx       int
		want         map[string]string
	}{
		{"bnxt_en__ethtool-S.txt", "bnxt_en", 12, 12, map[string]string{
			"rx-0": "10326938311/8935296709791/11763190", "tx-0": "2811906835/1462856966524/0", "rx-11": "10182818044/8865963348427/9244693", "tx-11": "2820769676/1507044546359/0"}},
		{"ice__ethtool-S.txt", "ice", 4, 4, map[string]string{"rx-0": "487528/32176838/-", "tx-1": "15/16142/-", "rx-1": "0/0/-"}},
		{"mlx5_core__ethtool-S.txt", "mlx5_core", 16, 16, map[string]string{
			"rx-4": "57384015/147625729809/0", "tx-0": "101488959/335856818753/0", "tx-7": "96408152/297149746576/0"}},
		{"vmxnet3__ethtool-S.txt", "vmxnet3", 2, 2, map[string]string{
			"tx-0": "54162/9338077/0", "tx-1": "64815/9360069/0", "rx-0": "232295/124008205/0", "rx-1": "243408/50320182/0"}},
		{"e1000e__ethtool-S.txt", "e1000e", 2, 2, map[string]string{"rx-0": "-/-/-", "tx-1": "-/-/-"}},
		{"r8169__ethtool-S.txt", "r8169", 2, 2, map[string]string{"rx-0": "-/-/-", "tx-1": "-/-/-"}},
	} {
		t.Run(c.driver, func(t *testing.T) {
			f := fixture{driver: c.driver, device: "eth0", rx: c.rx, tx: c.tx, interrupts: "           CPU0       CPU1       CPU2       CPU3\n", stats: sample(t, c.file)}
			_, _, queues, _ := f.read(t)
			for name, want := range c.want {
				dir, index, _ := strings.Cut(name, "-")
				at, err := strconv.Atoi(index)
				if err != nil {
					t.Fatal(err)
				}
				if dir == "tx" {
					at += c.rx
				}
				if got := counterText(queues[at]); got != want {
					t.Errorf("%s %s; want %s", name, got, want)
				}
			}
			for i, q := range queues {
				if q.Packets.OK != (c.driver != "e1000e" && c.driver != "r8169") {
					t.Errorf("queue %d: %+v", i, q)
				}
			}
		})
	}
}

// The published samples of ethtool -x and -l.
func TestSharedRSSAndChannels(t *testing.T) {
	m := base()
	m.nic("p1p1", "0000:00:03.0", "i40e", "", 2, 8, 8)
	m.nic("eno5", "0000:00:04.0", "ixgbe", "", 3, 63, 63)
	m.nic("eth4", "0000:00:05.0", "ixgbe", "", 4, 32, 32)
	m.interrupts()
	m["sos_commands/networking/ethtool_-x_p1p1"] = sample(t, "i40e__ethtool-x_8_rings_block_layout.txt")
	m["sos_commands/networking/ethtool_-x_eno5"] = sample(t, "ixgbe__ethtool-x_63_rings_only_16_used.txt")
	m["sos_commands/networking/ethtool_-l_eth4"] = sample(t, "ixgbe__ethtool-l_63_max_32_current.txt")
	inv := m.inventory(t, scan.Options{})
	if d := inv.Device("p1p1"); len(d.RSS.Table) != 96 || d.RSS.Table[16] != 1 || math.Abs(d.RX[5].RSSWeight-1.0/6) > 1e-9 || d.RX[6].RSSWeight != 0 {
		t.Errorf("p1p1: %d entries %v, weights %v and %v", len(d.RSS.Table), d.RSS.Table, d.RX[5].RSSWeight, d.RX[6].RSSWeight)
	}
	reached := 0
	for _, q := range inv.Device("eno5").RX {
		if q.RSSWeight > 0 {
			reached++
		}
	}
	if reached != 16 {
		t.Errorf("eno5: the table reaches %d queues; want 16", reached)
	}
	if c := inv.Device("eth4").Channels; c.Combined.Current != host.Known(32) || c.Combined.Max != host.Known(63) || c.Other.Current != host.Known(1) {
		t.Errorf("eth4: %+v", c)
	}
}

// Names of the out-of-tree ice driver: ranges.
func TestSharedRangeNames(t *testing.T) {
	n := 0
	for line := range strings.Lines(sample(t, "ice_oot__names_two_queues_per_vector.txt")) {
		v, ok := driver.Lookup("ice").Vector(strings.TrimSpace(line))
		if !ok || v.Device != "ens2f1" || v.Queue != 2*n || v.Last != 2*n+1 {
			t.Errorf("%q: %+v, %v", line, v, ok)
		}
		n++
	}
	if n != 2 {
		t.Errorf("%d names", n)
	}
}
