package driver

import (
	"slices"
	"testing"
)

func TestVectorNames(t *testing.T) {
	for _, c := range []struct {
		driver, action string
		want           Vector
		ok             bool
	}{
		{"igb", "eth1-TxRx-7", Vector{Role: Combined, Device: "eth1", Queue: 7, Last: 7}, true},
		{"igb", "eth1-rx-0", Vector{Role: RX, Device: "eth1"}, true},
		{"igb", "eth1-tx-3", Vector{Role: TX, Device: "eth1", Queue: 3, Last: 3}, true},
		{"igb", "eth1", Vector{Role: Control, Device: "eth1", Queue: -1, Last: -1}, true},
		{"igb", "eth1:lsc", Vector{Role: Control, Device: "eth1", Queue: -1, Last: -1}, true},
		{"igb", "br-lan-TxRx-1", Vector{Role: Combined, Device: "br-lan", Queue: 1, Last: 1}, true},
		{"igb", "a-TxRx-1-TxRx-2", Vector{Role: Combined, Device: "a-TxRx-1", Queue: 2, Last: 2}, true},
		{"igb", "enp65s0f0np0verylong-TxRx-0", Vector{}, false},
		{"igc", "enp3s0-TxRx-3", Vector{Role: Combined, Device: "enp3s0", Queue: 3, Last: 3}, true},
		{"virtio_net", "virtio3-input.0", Vector{Role: RX, Unit: "virtio3"}, true},
		{"virtio_net", "virtio3-output.11", Vector{Role: TX, Unit: "virtio3", Queue: 11, Last: 11}, true},
		{"virtio_net", "virtio3-config", Vector{Role: Control, Unit: "virtio3", Queue: -1, Last: -1}, true},
		{"virtio_net", "virtio3-req.0", Vector{}, false}, // virtio-blk
		{"virtio_net", "virtio4-input", Vector{}, false}, // virtio-rng
		{"veth", "eth0-TxRx-0", Vector{}, false},
		{"i40e", "i40e-a-rx-1-TxRx-2", Vector{Role: Combined, Device: "a-rx-1", Queue: 2, Last: 2}, true},
		{"i40e", "i40e-0000:3d:00.0:misc", Vector{Role: Control, Unit: "0000:3d:00.0", Queue: -1, Last: -1}, true},
		{"i40e", "i40e-0000:3d:00.0:fdir-TxRx-0", Vector{Role: Control, Unit: "0000:3d:00.0", Queue: -1, Last: -1}, true},
		{"i40e", "eth0-TxRx-0", Vector{}, false},
		{"iavf", "i40evf-eth0-TxRx-1", Vector{Role: Combined, Device: "eth0", Queue: 1, Last: 1}, true},
		{"ice", "ice-ens2f1-TxRx-2-3", Vector{Role: Combined, Device: "ens2f1", Queue: 2, Last: 3}, true},
		{"ice", "ice-ens2f1-TxRx-3-2", Vector{}, false},
		{"ice", "ice-0000:51:00.0:ctrl-TxRx-0", Vector{Role: Control, Unit: "0000:51:00.0", Queue: -1, Last: -1}, true},
		{"mlx5_core", "mlx5_comp12@pci:0000:3b:00.1", Vector{Role: Combined, Unit: "0000:3b:00.1", Queue: 12, Last: 12, CountsOn: true}, true},
		{"mlx5_core", "mlx5_sf_comp3@pci:0000:3b:00.1", Vector{Role: Combined, Unit: "0000:3b:00.1", Queue: 3, Last: 3, Pool: true}, true},
		{"mlx5_core", "mlx5_pages_eq@pci:a2e5:00:02.0", Vector{Role: Control, Unit: "a2e5:00:02.0", Queue: -1, Last: -1}, true},
		{"ena", "br-a-Tx-Rx-3", Vector{Role: Combined, Device: "br-a", Queue: 3, Last: 3}, true},
		{"bnxt_en", "eth0-tx-8", Vector{Role: TX, Device: "eth0", Queue: 8, Last: 8, CountsOn: true}, true},
		{"vmxnet3", "eth0-event-4", Vector{Role: Control, Device: "eth0", Queue: -1, Last: -1}, true},
		{"vmxnet3", "eth0:v1-Rx", Vector{Role: RX, Device: "eth0", Queue: 1, Last: 1, CountsOn: true}, true},
		{"r8169", "enp2s0", Vector{Role: Control, Device: "enp2s0", Queue: -1, Last: -1}, true},
		{"r8169", "ehci_hcd:usb1", Vector{}, false},
	} {
		got, ok := Lookup(c.driver).Vector(c.action)
		if got != c.want || ok != c.ok {
			t.Errorf("%s: Vector(%q) = %+v, %v; want %+v, %v", c.driver, c.action, got, ok, c.want, c.ok)
		}
	}
}

func TestStatNames(t *testing.T) {
	for _, c := range []struct {
		driver, name string
		want         Stat
		ok           bool
	}{
		{"igb", "rx_queue_1_packets", Stat{RX, 1, Packets, false}, true},
		{"igb", "tx_queue_0_bytes", Stat{TX, 0, Bytes, false}, true},
		{"igb", "rx_queue_7_drops", Stat{RX, 7, Drops, false}, true},
		{"igb", "rx_queue_1_csum_err", Stat{}, false},
		{"virtio_net", "rx_queue_0_packets", Stat{RX, 0, Packets, false}, true},
		{"virtio_net", "rx3_drops", Stat{RX, 3, Drops, false}, true},
		{"virtio_net", "tx3_drops", Stat{}, false},
		{"veth", "rx_queue_0_xdp_packets", Stat{}, false},
		{"i40e", "tx-0.packets", Stat{TX, 0, Packets, false}, true},
		{"i40e", "rx-0.rx_bytes", Stat{RX, 0, Bytes, false}, true},
		{"i40e", "rx-0.tx_bytes", Stat{}, false},
		{"mlx5_core", "tx17_bytes", Stat{TX, 17, Bytes, true}, true},
		{"mlx5_core", "rx2_wqe_err", Stat{RX, 2, Drops, false}, true},
		{"mlx5_core", "tx3_0_packets", Stat{TX, 3, Packets, true}, true},
		{"ena", "queue_0_tx_cnt", Stat{TX, 0, Packets, false}, true},
		{"ena", "queue_31_rx_bytes", Stat{RX, 31, Bytes, false}, true},
		{"bnxt_en", "[9]: tx_mcast_bytes", Stat{TX, 9, Bytes, false}, true},
		{"bnxt_en", "[0]: rx_drops", Stat{RX, 0, Drops, false}, true},
		{"vmxnet3", "  ucast pkts rx", Stat{RX, -1, Packets, false}, true},
		{"vmxnet3", "ucast pkts rx", Stat{}, false},
	} {
		got, ok := Lookup(c.driver).Stat(c.name)
		if got != c.want || ok != c.ok {
			t.Errorf("%s: Stat(%q) = %+v, %v; want %+v, %v", c.driver, c.name, got, ok, c.want, c.ok)
		}
	}
}

// Names that look like a queue's and are not: no driver takes one for a queue's
// counter, whatever its value.
func TestFalseQueues(t *testing.T) {
	names := []string{
		"rx_64_bytes_phy", "rx_65_to_127_bytes_phy", "port_rx_64", "tx_64", "rx_64_bytes", "rx_prio0_packets", "tx_prio3_bytes",
		"tx_priority_0_xon.nic", "rx_prio_0_packets", "rx_bytes_cos0", "rx_packets_pri0", "rx_bytes_pri0", "tx_pb_0_pxon", "rx_pb_0_pxoff",
		"veb.tc_0_tx_packets", "veb.tc_0_rx_bytes", "port.tx_priority_0_xon", "port.rx_size_64", "mac_tx_pfc_pri0_pkt_num", "rxb_fifo0_drop",
		"adminq_create_tx_queue_cnt", "tx_collide_2times", "os2bmc_rx_by_bmc", "cpu0_rx_packets",
		"queue_0_tx_tx_poll", "queue_3_rx_rx_copybreak_pkt", "queue_8_xdp_tx_cnt", "queue_8_xdp_tx_bytes", "queue_0_tx_linearize",
		"ch3_poll", "ptp_tx0_packets", "ptp_rq0_packets", "qos_tx0_packets", "rx0_xdp_drop", "rx0_xdp_tx_cqes", "tx3_xdp_xmit", "rx2_xsk_packets",
		"rx0_lro_packets", "rx0_removed_vlan_packets", "tx0_tso_packets", "rx0_csum_none", "rx0_arfs_add", "rx_xdp_drop",
		"[0]: tpa_packets", "[0]: tpa_bytes", "[0]: rx_errors", "[0]: missed_irqs", "[12]: rx_l4_csum_errors",
		"rx0_hw_drops", "rx0_xdp_packets", "rx_drops", "rx_queue_0_xdp_packets", "rx_queue_0_csum_err",
		"  LRO pkts rx", "     giant hdr", "  giant hdr", "  pkts rx err", "  rx buf alloc fail", "  ring full", "  TSO pkts tx",
		"rx_packets", "tx_bytes", "rx_missed", "unicast", "port.rx_dropped", "lan_rx_missed", "rx_queue_0_packets_total", "tx-0.packets2", "rx-.packets", "rx_queue_-1_packets", "rx_queue_123456_packets",
	}
	values := make([]uint64, len(names))
	for _, driver := range Names() {
		for i, s := range Lookup(driver).Place(names, values) {
			if s.Queue >= 0 {
				t.Errorf("%s: %q is %+v", driver, names[i], s)
			}
		}
	}
}

// The section's value is the queue; order and leading blanks matter.
func TestVMXNET3Sections(t *testing.T) {
	names := []string{"Tx Queue#", "  ucast pkts tx", "  giant hdr", "Tx Queue#", "  ucast pkts tx", "  ucast pkts rx",
		"Rx Queue#", "  mcast bytes rx", "  drv dropped rx total", "tx timeout count", "  ucast pkts rx", "Rx Queue#", "  ucast pkts rx"}
	values := []uint64{1, 5, 5, 0, 6, 6, 2, 7, 8, 0, 9, 1 << 40, 9}
	none := Stat{Queue: -1}
	want := []Stat{none, {TX, 1, Packets, false}, none, none, {TX, 0, Packets, false}, none,
		none, {RX, 2, Bytes, false}, {RX, 2, Drops, false}, none, none, none, none}
	got := Lookup("vmxnet3").Place(names, values)
	for i := range got {
		if got[i].Queue < 0 && want[i].Queue < 0 {
			continue
		}
		if got[i] != want[i] {
			t.Errorf("%q: %+v; want %+v", names[i], got[i], want[i])
		}
	}
}

// bnxt counts completion rings: TX's come after RX's unless they share them.
func TestBNXTRings(t *testing.T) {
	place := func(names ...string) []int {
		var queues []int
		for _, s := range Lookup("bnxt_en").Place(names, make([]uint64, len(names))) {
			queues = append(queues, s.Queue)
		}
		return queues
	}
	for _, c := range []struct {
		names []string
		want  []int
	}{
		{[]string{"[0]: rx_ucast_packets", "[0]: tx_ucast_packets", "[1]: rx_ucast_packets", "[1]: tx_ucast_packets"}, []int{0, 0, 1, 1}},
		{[]string{"[0]: rx_ucast_packets", "[1]: rx_ucast_packets", "[2]: tx_ucast_packets", "[3]: tx_ucast_packets"}, []int{0, 1, 0, 1}},
		// Not as the driver counts: nothing is said of TX.
		{[]string{"[0]: rx_ucast_packets", "[5]: tx_ucast_packets"}, []int{0, -1}},
	} {
		if got := place(c.names...); !slices.Equal(got, c.want) {
			t.Errorf("%q: %v; want %v", c.names, got, c.want)
		}
	}
}

func TestAgreedTakesOnlyWhatAllEntriesSay(t *testing.T) {
	if v, ok := Agreed("eth9-TxRx-4"); !ok || v != (Vector{Role: Combined, Device: "eth9", Queue: 4, Last: 4}) {
		t.Errorf("eth9-TxRx-4: %+v, %v", v, ok)
	}
	// A disk's vector; a bare number; numbers that count on in some drivers.
	for _, action := range []string{"nvme0q1 ", "eth0-3", "eth0-tx-8", "eth0-rx-4"} {
		if v, ok := Agreed(action); ok {
			t.Errorf("%q was taken for %+v", action, v)
		}
	}
}

func TestLookup(t *testing.T) {
	names := Names()
	if len(names) < 14 {
		t.Errorf("only %d drivers", len(names))
	}
	for _, name := range names {
		if e := Lookup(name); e == nil || e.Name != name {
			t.Errorf("%s: %+v", name, e)
		}
	}
	if Lookup("nobody's") != nil {
		t.Error("an unknown driver has an entry")
	}
}

func FuzzVector(f *testing.F) {
	f.Add("eth0-TxRx-0")
	f.Add("virtio1-input.99999")
	f.Add("ice-eth0-TxRx-0-99999")
	f.Fuzz(func(t *testing.T, s string) {
		for i := range table {
			e := &table[i]
			v, ok := e.Vector(s)
			if ok && v.Role != Control && (v.Queue < 0 || v.Last < v.Queue) {
				t.Errorf("%s: %q has a role but no queue: %+v", e.Name, s, v)
			}
			if ok {
				served := e.Assign([]Vector{v}, 3, 2)[0]
				if len(served.RX) > 3 || len(served.TX) > 2 {
					t.Errorf("%s: %q serves %+v of 3 and 2 queues", e.Name, s, served)
				}
			}
			if got := e.Place([]string{s, s}, []uint64{1, 2}); len(got) != 2 {
				t.Errorf("%s: %q has %d places", e.Name, s, len(got))
			}
		}
	})
}
