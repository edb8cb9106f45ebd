package main

import "github.com/grafana/grafana-foundation-sdk/go/units"

// traffic must flow for what is computed from rates: below --skew.min-rate
// netsteer says nothing of skew.
const traffic = "more than 100 packets/s (--skew.min-rate), for longer than half a window"

// device is about the chosen devices' queues.
var device = row{
	title: "Device: queues",
	panels: []panel{
		{
			kind: list, title: "Where each queue runs", width: 24, height: 10, unit: units.Short,
			about: "One line for each queue: its vector, the CPU that takes it, how loaded that CPU is, and what steers packets. RPS and XPS are the number of CPUs in the mask; 0 is off.",
			do:    "Lines with the same CPU while others are free are stacked: `netsteer advise`.",
			columns: []column{
				{"device", "Device"}, {"direction", "Direction"}, {"queue", "Queue"}, {"irq", "IRQ"}, {"cpu", "CPU"},
				{"load", "CPU's load"}, {"packets", "Packets/s"}, {"rss", "RSS share"}, {"rps", "RPS CPUs"}, {"flows", "RFS entries"}, {"xps", "XPS CPUs"}, {"mapping", "IRQ known by"},
			},
			queries: []query{
				{`max by (device, direction, queue, irq, cpu, mapping) (netsteer_queue_irq_info{@nic})`, "vector"},
				{`
round(max by (device, direction, queue) (
    netsteer_queue_irq_info{@nic,cpu!=""}
  * on (instance, cpu) group_left ()
    sum by (instance, cpu) (rate(netsteer_cpu_time_seconds_total{@host,mode=~"irq|softirq"}[$__rate_interval]))
), 0.001)`, "load"},
				{`round(sum by (device, direction, queue) (rate(netsteer_queue_packets_total{@nic}[$__rate_interval])))`, "packets"},
				{`label_replace(max by (device, queue) (netsteer_queue_rss_weight_ratio{@nic}), "direction", "rx", "", "")`, "rss"},
				{`label_replace(max by (device, queue) (netsteer_queue_rps_cpus{@nic}), "direction", "rx", "", "")`, "rps"},
				{`label_replace(max by (device, queue) (netsteer_queue_rps_flow_entries{@nic}), "direction", "rx", "", "")`, "flows"},
				{`label_replace(max by (device, queue) (netsteer_queue_xps_cpus{@nic}), "direction", "tx", "", "")`, "xps"},
			},
		},
		{
			kind: lines, title: "Packets received", width: 8, height: 9, unit: units.PacketsPerSecond, stack: true,
			about:   "By RX queue. One thick band is one queue that takes more than its share: see the causes above.",
			queries: []query{{`sum by (device, queue) (rate(netsteer_queue_packets_total{@nic,direction="rx"}[$__rate_interval]))`, "{{device}} rx-{{queue}}"}},
		},
		{
			kind: lines, title: "Packets sent", width: 8, height: 9, unit: units.PacketsPerSecond, stack: true,
			about:   "By TX queue, which XPS, or else a hash of the flow, chooses.",
			queries: []query{{`sum by (device, queue) (rate(netsteer_queue_packets_total{@nic,direction="tx"}[$__rate_interval]))`, "{{device}} tx-{{queue}}"}},
		},
		{
			kind: lines, title: "Interrupts", width: 8, height: 9, unit: units.CountsPerSecond, stack: true,
			about:   "By vector; one that serves both directions counts once, as combined. Fewer under load is normal: the CPU polls.",
			queries: []query{{`sum by (device, direction, queue) (rate(netsteer_queue_interrupts_total{@nic}[$__rate_interval]))`, "{{device}} {{direction}}-{{queue}}"}},
		},
		{
			kind: lines, title: "Hottest queue against the mean", width: 8, height: 9, unit: units.Short, limits: []limit{{1.5, "orange"}, {3, "red"}},
			about: "How many times its fair share the hottest live queue gets, by packets and by bytes. `packets_weighted` divides by the share of the RSS table first: " +
				"high there too, it is the hash or the flows; low there, it is the table.",
			do:      "Up to 1.5 is chance. Above, the cause is in the verdict.",
			fault:   traffic,
			queries: []query{{`max by (device, direction, signal) (netsteer_queue_skew_max_to_mean_ratio{@nic,signal=~"packets|packets_weighted|bytes"})`, "{{device}} {{direction}} {{signal}}"}},
		},
		{
			kind: lines, title: "Spread of all queues (CV)", width: 8, height: 9, unit: units.Short,
			about:   "Standard deviation divided by the mean: 0 is even, and all on one of n queues is the root of n-1. It hides one hot queue among many, which max/mean shows.",
			fault:   traffic,
			queries: []query{{`max by (device, direction) (netsteer_queue_skew_cv{@nic,signal="packets"})`, "{{device}} {{direction}}"}},
		},
		{
			kind: lines, title: "Bursts", width: 8, height: 9, unit: units.Short,
			about:   "The highest max/mean of any sampling interval in the window: a burst that is shorter than the window, and that the mean hides.",
			fault:   traffic,
			queries: []query{{`max by (device, direction) (netsteer_queue_skew_peak_ratio{@nic})`, "{{device}} {{direction}}"}},
		},
		{
			kind: lines, title: "RSS share against traffic", width: 8, height: 9, unit: units.Short, limits: []limit{{2, "orange"}},
			about: "Each RX queue's share of the packets divided by its share of the RSS table: 1 where the hash spreads well.",
			do:    "One queue high: few flows, one large flow, or a hash over addresses only (`ethtool -n NAME rx-flow-hash udp4`).",
			fault: traffic,
			queries: []query{{`
  sum by (device, queue) (rate(netsteer_queue_packets_total{@nic,direction="rx"}[$__rate_interval]))
/ on (device) group_left ()
  sum by (device) (rate(netsteer_queue_packets_total{@nic,direction="rx"}[$__rate_interval]))
/ on (device, queue)
  max by (device, queue) (netsteer_queue_rss_weight_ratio{@nic} > 0)`, "{{device}} rx-{{queue}}"}},
		},
		{
			kind: lines, title: "Bytes", width: 8, height: 9, unit: units.BytesPerSecondSI,
			about: "Of all queues. netsteer counts at the queue, so that a bond's or VLAN's share is in the device below it.",
			queries: []query{
				{`sum by (device, direction) (rate(netsteer_queue_bytes_total{@nic}[$__rate_interval]))`, "{{device}} {{direction}}"},
			},
		},
		{
			kind: lines, title: "Packets dropped by the device", width: 8, height: 9, unit: units.PacketsPerSecond, limits: []limit{{1, "orange"}},
			about: "`no buffer` (rx_missed_errors): the ring was full, the CPU came too late. By queue: what the driver dropped there.",
			do:    "The queue's CPU is busy: spread queues. It is not: larger rings (`ethtool -G`), see the table of rings.",
			queries: []query{
				{`sum by (device) (rate(netsteer_device_receive_missed_total{@nic}[$__rate_interval]))`, "{{device}} no buffer"},
				{`sum by (device, direction, queue) (rate(netsteer_queue_drops_total{@nic}[$__rate_interval]))`, "{{device}} {{direction}}-{{queue}}"},
			},
		},
		{
			kind: lines, title: "Interrupts by CPU", width: 8, height: 9, unit: units.CountsPerSecond, stack: true,
			about:   "Which CPUs took the devices' interrupts. A band that ends where another begins is a vector that moved: by a plan, by irqbalance, or because its CPU went offline.",
			queries: []query{{`sum by (cpu) (rate(netsteer_device_interrupts_total{@nic}[$__rate_interval]))`, "CPU {{cpu}}"}},
		},
		{
			kind: lines, title: "Vectors that have not moved yet", width: 8, height: 9, unit: units.Short,
			about:   "The mask was changed, and the vector still runs elsewhere. Without interrupt remapping it moves at its next interrupt, so an idle one waits: pending, not failed.",
			queries: []query{{`sum by (device) (netsteer_queue_affinity_pending{@nic})`, "{{device}}"}},
		},
		{
			kind: list, title: "Channels and rings", width: 8, height: 9, unit: units.Short,
			about: "Now and at most (`ethtool -l`, `ethtool -g`). More CPUs than channels, and fewer channels than there can be: more queues would help.",
			columns: []column{
				{"device", "Device"}, {"direction", "Direction"}, {"channels", "Channels"}, {"most channels", "at most"}, {"ring", "Ring"}, {"largest ring", "at most"},
			},
			queries: []query{
				{`max by (device, direction) (netsteer_device_queues{@nic})`, "channels"},
				{`max by (device, direction) (netsteer_device_queues_max{@nic})`, "most channels"},
				{`max by (device, direction) (netsteer_device_ring_entries{@nic})`, "ring"},
				{`max by (device, direction) (netsteer_device_ring_entries_max{@nic})`, "largest ring"},
			},
		},
	},
}
