package driver

// Forms that several drivers share.
var (
	// Intel's way: a pair's vector, or one for each direction where vectors
	// outnumber pairs; the plain netdev name is link and mailbox.
	intelVectors = []VectorForm{
		{Combined, "{dev}-TxRx-{q}"},
		{RX, "{dev}-rx-{q}"},
		{TX, "{dev}-tx-{q}"},
		{Control, "{dev}-unused"},
		{Control, "{dev}"},
	}
	dirQueueStats = []StatForm{
		{Counts: Packets, Template: "{dir}_queue_{q}_packets"},
		{Counts: Bytes, Template: "{dir}_queue_{q}_bytes"},
		{Counts: Drops, Template: "{dir}_queue_{q}_drops"},
	}
)

// table is every driver netsteer knows. Sources: Linux 6.12 (and 6.1, 7.2 where
// they differ), the files named.
var table = []Entry{
	{ // drivers/net/ethernet/intel/igb/igb_main.c, igb_ethtool.c
		Name: "igb",
		// The out-of-tree driver has a vector of its own for link changes.
		Vectors: append(intelVectors[:len(intelVectors):len(intelVectors)], VectorForm{Control, "{dev}:lsc"}),
		Stats:   dirQueueStats,
		Traits:  Traits{Resets: Resets{Link: true, Affinity: true, RSSTable: true}, UDPHash: "sd"},
	},
	{ // drivers/net/ethernet/intel/igc/igc_main.c, igc_ethtool.c
		Name:    "igc",
		Vectors: intelVectors,
		Stats:   dirQueueStats,
		Traits:  Traits{Resets: Resets{Link: true, Affinity: true, RSSTable: true}, UDPHash: "sd"},
	},
	{ // drivers/net/virtio_net.c, drivers/virtio/virtio_pci_common.c
		Name: "virtio_net",
		Vectors: []VectorForm{
			{RX, "{unit}-input.{q}"},
			{TX, "{unit}-output.{q}"},
			{Control, "{unit}-config"},
			{Control, "{unit}-control"},
			{Control, "{unit}-avq.{q}"},
		},
		// Packets and bytes are there up to 6.9 only; since 6.10 they are
		// netdev-genl qstats. rxN_hw_* counts the same traffic once more.
		Stats: append(dirQueueStats[:len(dirQueueStats):len(dirQueueStats)],
			StatForm{Counts: Drops, Template: "rx{q}_drops", Direction: RX}),
		Traits: Traits{RewritesXPS: true, RXFollowsTX: true, Hint: true, AppliesHint: true,
			Resets: Resets{Affinity: true, XPS: true, RSSTable: true}, UDPHash: "sdfn"},
	},
	{ // drivers/net/veth.c: no interrupt, and per queue only XDP's counters
		Name: "veth",
	},
}
