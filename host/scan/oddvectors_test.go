package scan_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/record"
	"github.com/netsteer/netsteer/host/scan"
)

// netlink adds the answers of netlink to the recording.
func (t tree) netlink(tb testing.TB, n record.Netlink) {
	tb.Helper()
	n.Schema = record.NetlinkSchema
	text, err := json.Marshal(n)
	if err != nil {
		tb.Fatal(err)
	}
	t["netsteer/netlink.json"] = string(text)
}

// interruptRows is /proc/interrupts with one row for each name, from an IRQ on.
func interruptRows(irq int, names ...string) string {
	var b strings.Builder
	b.WriteString("           CPU0       CPU1       CPU2       CPU3\n")
	for i, name := range names {
		fmt.Fprintf(&b, "%3d: %10d %10d %10d %10d  PCI-MSIX-0000:00:03.0 %4d-edge      %s\n", irq+i, 1, 2, 3, 4, i, name)
	}
	return b.String()
}

// Vectors that names alone do not settle.
func TestOddVectors(t *testing.T) {
	for _, c := range []struct {
		name   string
		build  func(m tree)
		device string
		want   []string
	}{
		{"one MSI vector named by the device serves its one pair", func(m tree) {
			m.nic("eth0", "0000:00:03.0", "igb", "", 2, 1, 1, 30)
			m["proc/interrupts"] = interruptRows(30, "eth0")
		}, "eth0", []string{"30 combined rx[0] tx[0] name"}},
		{"but not several pairs", func(m tree) {
			m.nic("eth0", "0000:00:03.0", "igb", "", 2, 2, 2, 30)
			m["proc/interrupts"] = interruptRows(30, "eth0")
		}, "eth0", []string{"30 control rx[] tx[] none"}},
		{"nor where a mailbox is all that is requested: the device is down", func(m tree) {
			m.nic("eth0", "0000:00:03.0", "iavf", "", 2, 1, 1, 30)
			m["proc/interrupts"] = interruptRows(30, "iavf-0000:00:03.0:mbx")
		}, "eth0", []string{"30 control rx[] tx[] none"}},
		{"a line shared by two NICs serves both", func(m tree) {
			m.nic("eth1", "0000:00:03.0", "r8169", "", 2, 1, 1)
			m["sys/devices/pci0000:00/0000:00:03.0/irq"] = "17\n"
			m["proc/interrupts"] = interruptRows(17, "ehci_hcd:usb1, eth0, eth1")
		}, "eth1", []string{"17 combined rx[0] tx[0] name"}},
		{"a line that the device does not use", func(m tree) {
			m.nic("eth1", "0000:00:03.0", "r8169", "", 2, 1, 1)
			m["sys/devices/pci0000:00/0000:00:03.0/irq"] = "17\n"
			m["proc/interrupts"] = interruptRows(17, "ehci_hcd:usb1, snd")
		}, "eth1", []string{"17 control rx[] tx[] none"}},
		{"the only vector of an unknown driver, by the device's name", func(m tree) {
			m.nic("eth1", "0000:00:03.0", "madeup", "", 2, 1, 1, 30)
			m["proc/interrupts"] = interruptRows(30, "eth1")
		}, "eth1", []string{"30 combined rx[0] tx[0] name"}},
		{"names cut down to the device's: which is which is not known", func(m tree) {
			m.nic("enp0s31f6np", "0000:00:03.0", "e1000e", "", 2, 1, 1, 30, 31, 32)
			m["proc/interrupts"] = interruptRows(30, "enp0s31f6np", "enp0s31f6np", "enp0s31f6np")
		}, "enp0s31f6np", []string{"30 other rx[] tx[] none", "31 other rx[] tx[] none", "32 other rx[] tx[] none"}},
		{"a platform device of an unknown driver, found by its name", func(m tree) {
			m.nic("eth0", "fd580000.ethernet", "madeup", "", 2, 1, 1)
			m["proc/interrupts"] = interruptRows(30, "mmc0", "eth0")
		}, "eth0", []string{"31 combined rx[0] tx[0] name"}},
		{"two functions' netdevs of one name, without sysfs to tell them apart", func(m tree) {
			m.nic("net1", "0000:00:03.0", "iavf", "", 2, 2, 2)
			m["proc/interrupts"] = interruptRows(30, "iavf-net1-TxRx-0", "iavf-net1-TxRx-1", "iavf-net1-TxRx-0")
		}, "net1", []string{"30 other rx[] tx[] none", "31 combined rx[1] tx[1] name", "32 other rx[] tx[] none"}},
		{"sub-functions' vectors are not the function's", func(m tree) {
			m.nic("p0", "0000:00:03.0", "mlx5_core", "", 2, 1, 1, 30, 31, 32, 33)
			m["proc/interrupts"] = interruptRows(30, "mlx5_async0@pci:0000:00:03.0", "mlx5_comp0@pci:0000:00:03.0", "mlx5_sf_ctrl0@pci:0000:00:03.0", "mlx5_sf_comp0@pci:0000:00:03.0")
		}, "p0", []string{"30 control rx[] tx[] none", "31 combined rx[0] tx[0] name"}},
		{"and the function's are not the sub-function's", func(m tree) {
			m.nic("sf0", "0000:00:03.0", "mlx5_core", "/mlx5_core.sf.4", 2, 1, 1, 30, 31, 32)
			m["proc/interrupts"] = interruptRows(30, "mlx5_async0@pci:0000:00:03.0", "mlx5_comp0@pci:0000:00:03.0", "mlx5_sf_comp0@pci:0000:00:03.0")
		}, "sf0", nil},
		{"a sub-function whose NAPI tells its vector", func(m tree) {
			m.nic("sf0", "0000:00:03.0", "mlx5_core", "/mlx5_core.sf.4", 2, 1, 1, 30, 31, 32)
			m["proc/interrupts"] = interruptRows(30, "mlx5_async0@pci:0000:00:03.0", "mlx5_comp0@pci:0000:00:03.0", "mlx5_sf_comp0@pci:0000:00:03.0")
			m.napis(t, 2, 32)
		}, "sf0", []string{"32 combined rx[0] tx[0] netdev-genl"}},
		{"channels numbered from 1", func(m tree) {
			m.nic("p0", "0000:00:03.0", "mlx5_core", "", 2, 2, 2, 30, 31, 32)
			m["proc/interrupts"] = interruptRows(30, "mlx5_async0@pci:0000:00:03.0", "mlx5_comp1@pci:0000:00:03.0", "mlx5_comp2@pci:0000:00:03.0")
		}, "p0", []string{"30 control rx[] tx[] none", "31 combined rx[0] tx[0] name", "32 combined rx[1] tx[1] name"}},
		{"one netdev on two functions, in turn: only netdev-genl tells", func(m tree) {
			m.nic("p0", "0000:00:03.0", "mlx5_core", "", 2, 4, 4, 30, 31)
			m["proc/interrupts"] = interruptRows(30, "mlx5_comp0@pci:0000:00:03.0", "mlx5_comp1@pci:0000:00:03.0", "mlx5_comp0@pci:0000:00:04.0", "mlx5_comp1@pci:0000:00:04.0")
			m.napis(t, 2, 30, 32, 31, 33)
		}, "p0", []string{"30 combined rx[0] tx[0] netdev-genl", "31 combined rx[2] tx[2] netdev-genl", "32 combined rx[1] tx[1] netdev-genl", "33 combined rx[3] tx[3] netdev-genl"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := base()
			c.build(m)
			inv := m.inventory(t, scan.Options{})
			if got := vectorsOf(t, inv, c.device); !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q\ndegraded %v", got, c.want, degraded(inv))
			}
			d := inv.Device(c.device)
			for i := range d.Vectors {
				if v := &d.Vectors[i]; (v.Role == host.RoleOther) != (v.Unmapped == host.ReasonAmbiguous) {
					t.Errorf("IRQ %d: role %s, unmapped %q", v.IRQ, v.Role, v.Unmapped)
				}
			}
		})
	}
}

// napis adds a netdev-genl dump: queue pair i has the NAPI of irqs[i].
func (t tree) napis(tb testing.TB, ifindex int, irqs ...uint64) {
	tb.Helper()
	dump := &record.NetlinkNetdev{}
	for i := range irqs {
		id := uint64(500 + i)
		dump.NAPIs = append(dump.NAPIs, record.NetlinkNAPI{Ifindex: ifindex, ID: id, IRQ: &irqs[i]})
		for _, dir := range []string{"rx", "tx"} {
			dump.Queues = append(dump.Queues, record.NetlinkQueue{Ifindex: ifindex, Direction: dir, Queue: i, NAPI: &id})
		}
	}
	t.netlink(tb, record.Netlink{Netdev: dump})
}

// The kernel documentation's multi-PF netdev, from its own dump.
func TestSharedMultiPF(t *testing.T) {
	text := sample(t, "mlx5_core__multi_pf_netdev_netlink_queue_napi_irq.txt")
	part := func(from, to string) string {
		_, rest, _ := strings.Cut(text, from)
		list, _, _ := strings.Cut(rest, to)
		return strings.ReplaceAll(list, "'", `"`)
	}
	var queues []struct {
		ID, Ifindex int
		NAPI        uint64 `json:"napi-id"`
		Type        string
	}
	var napis []struct {
		ID      uint64
		Ifindex int
		IRQ     uint64
	}
	for list, into := range map[string]any{part("queue-get: ", "napi-get"): &queues, part("napi-get: ", "/proc"): &napis} {
		if err := json.Unmarshal([]byte(list), into); err != nil {
			t.Fatalf("%s: %v", list, err)
		}
	}
	m := base()
	m.nic("eth0", "0000:08:00.0", "mlx5_core", "", 13, 5, 5, 36, 40, 42)
	rows := "           CPU0       CPU1       CPU2       CPU3\n"
	for line := range strings.Lines(text) {
		var irq int
		var name string
		if n, _ := fmt.Sscanf(line, "/proc/irq/%d/%s", &irq, &name); n == 2 {
			rows += fmt.Sprintf("%3d: 1 2 3 4 PCI-MSIX 1-edge %s\n", irq, name)
		}
	}
	m["proc/interrupts"] = rows
	dump := &record.NetlinkNetdev{}
	for i := range queues {
		q := &queues[i]
		dump.Queues = append(dump.Queues, record.NetlinkQueue{Ifindex: q.Ifindex, Direction: q.Type, Queue: q.ID, NAPI: &q.NAPI})
	}
	for i := range napis {
		dump.NAPIs = append(dump.NAPIs, record.NetlinkNAPI{Ifindex: napis[i].Ifindex, ID: napis[i].ID, IRQ: &napis[i].IRQ})
	}
	m.netlink(t, record.Netlink{Netdev: dump})
	got := vectorsOf(t, m.inventory(t, scan.Options{}), "eth0")
	want := []string{"36 combined rx[0] tx[0] netdev-genl", "39 combined rx[1] tx[1] netdev-genl", "40 combined rx[2] tx[2] netdev-genl", "41 combined rx[3] tx[3] netdev-genl", "42 combined rx[4] tx[4] netdev-genl"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// mlx5 keeps every channel it ever had, and numbers TX queues by the most there
// were: with classes only class 0 agrees with sysfs.
func TestMLX5ClassesAndClosedChannels(t *testing.T) {
	m := base()
	m.nic("p0", "0000:00:03.0", "mlx5_core", "", 2, 2, 4)
	for _, q := range []string{"2", "3"} {
		m["sys/devices/pci0000:00/0000:00:03.0/net/p0/queues/tx-"+q+"/traffic_class"] = "1\n"
	}
	m.interrupts()
	stats := "NIC statistics:\n"
	for q := range 8 {
		if q < 4 {
			stats += fmt.Sprintf("     rx%d_packets: %d\n     rx%d_bytes: %d\n", q, 10+q, q, 100+q)
		}
		stats += fmt.Sprintf("     tx%d_packets: %d\n", q, 20+q)
	}
	m["sos_commands/networking/ethtool_-S_p0"] = stats
	s := scan.New(m.open(t), scan.Options{})
	inv := s.Inventory()
	queues := make([]host.QueueCounters, 6)
	var dc host.DeviceCounters
	if notes := s.Counters(inv, nil).Device(inv.Device("p0").ID, &dc, queues); len(notes) > 0 {
		t.Errorf("degraded %v", notes)
	}
	var got []string
	for _, q := range queues {
		got = append(got, counterText(q))
	}
	want := []string{"10/100/-", "11/101/-", "20/-/-", "21/-/-", "-/-/-", "-/-/-"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
