package driver

// What entries are built from.

func rx(template string) VectorForm       { return VectorForm{Role: RX, Template: template} }
func tx(template string) VectorForm       { return VectorForm{Role: TX, Template: template} }
func combined(template string) VectorForm { return VectorForm{Role: Combined, Template: template} }
func control(template string) VectorForm  { return VectorForm{Role: Control, Template: template} }

func countsOn(f VectorForm) VectorForm { f.CountsOn = true; return f }
func pool(f VectorForm) VectorForm     { f.Pool = true; return f }
func loose(f VectorForm) VectorForm    { f.Loose = true; return f }

func packets(template string) StatForm { return StatForm{Counts: Packets, Template: template} }
func bytes(template string) StatForm   { return StatForm{Counts: Bytes, Template: template} }
func drops(template string) StatForm   { return StatForm{Counts: Drops, Template: template} }

func statCountsOn(f StatForm) StatForm { f.CountsOn = true; return f }
func classZero(f StatForm) StatForm    { f.ClassZero = true; return f }

// with is a list and more; the list itself stays as it is.
func with[T any](list []T, more ...T) []T { return append(list[:len(list):len(list)], more...) }

// Forms that several drivers share.
var (
	// The netdev's name and nothing else: link events where queues have vectors
	// of their own, the whole device where it is alone.
	plain = loose(control("{dev}"))
	// Intel's way: a pair's vector, or one for each direction where vectors
	// outnumber pairs; the plain netdev name is link and mailbox.
	intelVectors = []VectorForm{
		combined("{dev}-TxRx-{q}"),
		rx("{dev}-rx-{q}"),
		tx("{dev}-tx-{q}"),
		control("{dev}-unused"),
		plain,
	}
	dirQueueStats = []StatForm{
		packets("{dir}_queue_{q}_packets"),
		bytes("{dir}_queue_{q}_bytes"),
	}
	dirQueueDrops = drops("{dir}_queue_{q}_drops")
	dashStats     = []StatForm{
		packets("{dir}-{q}.packets"),
		bytes("{dir}-{q}.bytes"),
	}
)

// table is every driver netsteer knows. Sources: Linux 6.12 (and 6.1, 7.2 where
// they differ), the files named.
var table = []Entry{
	{ // drivers/net/ethernet/intel/igb/igb_main.c, igb_ethtool.c
		Name: "igb",
		// The out-of-tree driver has a vector of its own for link changes.
		Vectors: with(intelVectors, control("{dev}:lsc")),
		Stats:   with(dirQueueStats, dirQueueDrops),
		Traits:  Traits{Resets: Resets{Known: true, Link: true, Affinity: true, RSSTable: true}, UDPHash: "sd"},
	},
	{ // drivers/net/ethernet/intel/igc/igc_main.c, igc_ethtool.c
		Name:    "igc",
		Vectors: intelVectors,
		Stats:   with(dirQueueStats, dirQueueDrops),
		Traits:  Traits{Resets: Resets{Known: true, Link: true, Affinity: true, RSSTable: true}, UDPHash: "sd"},
	},
	{ // drivers/net/virtio_net.c, drivers/virtio/virtio_pci_common.c
		Name: "virtio_net",
		Vectors: []VectorForm{
			rx("{unit}-input.{q}"),
			tx("{unit}-output.{q}"),
			control("{unit}-config"),
			control("{unit}-control"),
			control("{unit}-avq.{q}"),
		},
		// Packets and bytes are there up to 6.9 only; since 6.10 they are
		// netdev-genl qstats. rxN_hw_* counts the same traffic once more.
		Stats: with(dirQueueStats, dirQueueDrops, drops("{rx}{q}_drops")),
		Traits: Traits{RewritesXPS: true, RXFollowsTX: true, Hint: true, AppliesHint: true,
			Resets: Resets{Known: true, Affinity: true, XPS: true, RSSTable: true}, UDPHash: "sdfn"},
	},
	{ // drivers/net/veth.c: no interrupt, and per queue only XDP's counters
		Name: "veth",
	},
	{ // drivers/net/ethernet/intel/ixgbe/ixgbe_main.c, ixgbe_lib.c, ixgbe_ethtool.c
		Name:    "ixgbe",
		Vectors: intelVectors,
		Stats:   dirQueueStats,
		Sharing: RoundRobin,
		Traits:  Traits{Hint: true, UDPHash: "sd"},
	},
	{ // drivers/net/ethernet/intel/i40e/i40e_main.c, i40e_ethtool.c
		Name: "i40e",
		Vectors: []VectorForm{
			combined("i40e-{dev}-TxRx-{q}"),
			rx("i40e-{dev}-rx-{q}"),
			tx("i40e-{dev}-tx-{q}"),
			control("i40e-{unit}:misc"),
			control("i40e-{unit}:fdir-TxRx-{q}"),
		},
		// Up to 4.19 the direction is said twice.
		Stats: with(dashStats,
			packets("{rx}-{q}.rx_packets"), packets("{tx}-{q}.tx_packets"),
			bytes("{rx}-{q}.rx_bytes"), bytes("{tx}-{q}.tx_bytes")),
		Sharing: Blocks,
		Traits:  Traits{Hint: true, UDPHash: "sdfn"},
	},
	{ // drivers/net/ethernet/intel/iavf/iavf_main.c, iavf_ethtool.c
		Name: "iavf",
		Vectors: []VectorForm{
			combined("iavf-{dev}-TxRx-{q}"),
			rx("iavf-{dev}-rx-{q}"),
			tx("iavf-{dev}-tx-{q}"),
			control("iavf-{unit}:mbx"),
			// The driver's name up to 4.19.
			combined("i40evf-{dev}-TxRx-{q}"),
			rx("i40evf-{dev}-rx-{q}"),
			tx("i40evf-{dev}-tx-{q}"),
			control("i40evf-{unit}:mbx"),
		},
		Stats:   dashStats,
		Sharing: RoundRobin,
		Traits:  Traits{Hint: true},
	},
	{ // drivers/net/ethernet/intel/ice/ice_main.c, ice_base.c, ice_ethtool.c
		Name: "ice",
		Vectors: []VectorForm{
			// The out-of-tree driver (1.16) names the range a vector serves.
			combined("ice-{dev}-TxRx-{q}-{last}"),
			rx("ice-{dev}-rx-{q}-{last}"),
			tx("ice-{dev}-tx-{q}-{last}"),
			combined("ice-{dev}-TxRx-{q}"),
			rx("ice-{dev}-rx-{q}"),
			tx("ice-{dev}-tx-{q}"),
			control("ice-{unit}:misc"),
			control("ice-{unit}:ll_ts"),
			control("ice-{unit}:ctrl-TxRx-{q}"),
		},
		Stats:   dirQueueStats,
		Sharing: Blocks,
		Traits:  Traits{Hint: true, UDPHash: "sdfn"},
	},
	{ // drivers/net/ethernet/mellanox/mlx5/core/pci_irq.c, en_main.c, en_stats.c
		Name: "mlx5_core",
		Vectors: []VectorForm{
			countsOn(combined("mlx5_comp{q}@pci:{unit}")), // q: the channel
			combined("mlx5_combined{q}@pci:{unit}"),       // the only vector
			control("mlx5_async{q}@pci:{unit}"),
			control("mlx5_async_eq@pci:{unit}"),
			control("mlx5_cmd_eq@pci:{unit}"),
			control("mlx5_pages_eq@pci:{unit}"),
			control("mlx5_page_fault_eq@pci:{unit}"),
			pool(combined("mlx5_sf_comp{q}@pci:{unit}")),
			pool(control("mlx5_sf_ctrl{q}@pci:{unit}")),
			loose(combined("{dev}-{q}")), // vendor's and old driver
		},
		// txN is channel + class * the most channels ever opened, where sysfs
		// has channel + class * channels now. wqe_err: a received packet whose
		// completion is an error is dropped.
		Stats: []StatForm{
			packets("{rx}{q}_packets"), classZero(packets("{tx}{q}_packets")),
			bytes("{rx}{q}_bytes"), classZero(bytes("{tx}{q}_bytes")),
			drops("{rx}{q}_wqe_err"), classZero(drops("{tx}{q}_dropped")),
			// Old drivers print the class: txQ_0 is class 0.
			classZero(packets("{tx}{q}_0_packets")), classZero(bytes("{tx}{q}_0_bytes")),
		},
		Traits: Traits{Hint: true, AppliesHint: true, UDPHash: "sdfn"},
	},
	{ // drivers/net/ethernet/amazon/ena/ena_netdev.c, ena_ethtool.c
		Name:    "ena",
		Vectors: []VectorForm{combined("{dev}-Tx-Rx-{q}"), control("ena-mgmnt@pci:{unit}")},
		Stats:   []StatForm{packets("queue_{q}_{dir}_cnt"), bytes("queue_{q}_{dir}_bytes")},
		Traits:  Traits{Hint: true, AppliesHint: true},
	},
	{ // drivers/net/ethernet/broadcom/bnxt/bnxt.c, bnxt_ethtool.c
		Name: "bnxt_en",
		// The number is the completion ring's. Where RX and TX do not share
		// rings, those of TX come after all of RX.
		Vectors: []VectorForm{combined("{dev}-TxRx-{q}"), rx("{dev}-rx-{q}"), countsOn(tx("{dev}-tx-{q}"))},
		Stats:   bnxtStats(),
		Traits:  Traits{Hint: true, AppliesHint: true},
	},
	{ // drivers/net/vmxnet3/vmxnet3_drv.c, vmxnet3_ethtool.c
		Name: "vmxnet3",
		// The number is the vector's: TX first, then RX, then events. With one
		// vector for all TX queues it is tx-0.
		Vectors: []VectorForm{
			combined("{dev}-rxtx-{q}"), tx("{dev}-tx-{q}"), countsOn(rx("{dev}-rx-{q}")),
			combined("{dev}:v{q}-RxTx"), tx("{dev}:v{q}-Tx"), countsOn(rx("{dev}:v{q}-Rx")),
			control("{dev}-event-{q}"),
			plain,
		},
		// "drv dropped" holds what "rx buf alloc fail" counts; "ring full" drops
		// nothing.
		Stats: []StatForm{
			packets("  ucast pkts {dir}"), packets("  mcast pkts {dir}"), packets("  bcast pkts {dir}"),
			bytes("  ucast bytes {dir}"), bytes("  mcast bytes {dir}"), bytes("  bcast bytes {dir}"),
			drops("  pkts {rx} OOB"), drops("  pkts {tx} discard"), drops("  drv dropped {dir} total"),
		},
		Sharing: RoundRobin,
		place:   vmxnet3Sections,
	},
	{ // drivers/net/ethernet/intel/e1000e/netdev.c: one queue each way, MSI-X on 82574 only
		Name: "e1000e",
		// Names of 11 bytes and more leave no room for the suffix.
		Vectors: []VectorForm{rx("{dev}-rx-{q}"), tx("{dev}-tx-{q}"), plain},
	},
	{ // drivers/net/ethernet/realtek/r8169_main.c: one vector, one queue each way
		Name:    "r8169",
		Vectors: []VectorForm{plain},
	},
}

// bnxtStats: three parts of each counter.
func bnxtStats() []StatForm {
	forms := []StatForm{
		drops("[{q}]: {rx}_discards"), statCountsOn(drops("[{q}]: {tx}_discards")),
		// Older kernels' names of the same.
		drops("[{q}]: {rx}_drops"), statCountsOn(drops("[{q}]: {tx}_drops")),
	}
	for _, part := range []string{"ucast", "mcast", "bcast"} {
		forms = append(forms,
			packets("[{q}]: {rx}_"+part+"_packets"), statCountsOn(packets("[{q}]: {tx}_"+part+"_packets")),
			bytes("[{q}]: {rx}_"+part+"_bytes"), statCountsOn(bytes("[{q}]: {tx}_"+part+"_bytes")))
	}
	return forms
}
