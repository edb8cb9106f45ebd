package alerts

// entry is one rule of the table: a recording if it has a record, else an alert.
//
// expr and record hold ${selector} (the targets), ${instance} (the labels that
// tell targets apart), ${window} (of every rate) and, in an alert, ${threshold}.
// summary and description are Prometheus templates.
type entry struct {
	record string
	alert  string
	expr   string

	summary, description string
}

// Recordings come first: rules of one group are evaluated in order, so an alert
// never sees a recording of the round before.
//
// What the expressions rely on:
//   - Load of a CPU is its irq and softirq time, and that of NAPI threads, which
//     the kernel counts as the thread's. Interrupts and NET_RX runs are no load: a
//     saturated CPU polls, and has fewer of both.
//   - queue_irq_info is unique for each device, direction and queue. Its cpu is
//     empty where it is unknown, and such a queue's thread may roam.
//   - device_skew_cause is a state set; all its series are 0 for half a window
//     after netsteer has started. The mean over the window bridges that, and two
//     causes cannot both have more than half of it.
var table = []entry{
	{
		record: "instance_cpu:netsteer_cpu_busy_net:rate${window}",
		expr: `
sum without (mode, device, queue) (
    rate(netsteer_cpu_time_seconds_total{${selector},mode=~"irq|softirq"}[${window}])
  or
      rate(netsteer_napi_thread_seconds_total{${selector}}[${window}])
    * on (${instance}, device, queue) group_left (cpu)
      netsteer_queue_irq_info{${selector},direction="rx",cpu!=""}
)`,
	},
	{
		// The last known CPUs, not those of this instant: else each restart of
		// netsteer would end the alert below and start its wait anew.
		record: "instance_device:netsteer_cpu_busy_net:max_rate${window}",
		expr: `
max without (direction, queue, irq, cpu, mapping) (
    last_over_time(netsteer_queue_irq_info{${selector},cpu!=""}[${window}])
  * on (${instance}, cpu) group_left ()
    instance_cpu:netsteer_cpu_busy_net:rate${window}
)`,
	},
	{
		// Of all packets that came to this CPU's backlog or past it; not of
		// processed alone, which is 0 on a CPU that drops them all.
		record: "instance_cpu:netsteer_softnet_dropped:ratio_rate${window}",
		expr: `
  rate(netsteer_softnet_dropped_total{${selector}}[${window}])
/ (
    rate(netsteer_softnet_dropped_total{${selector}}[${window}])
  + rate(netsteer_softnet_processed_total{${selector}}[${window}])
)`,
	},
	{
		alert:   "NetsteerSoftirqSaturation",
		expr:    `instance_cpu:netsteer_cpu_busy_net:rate${window} > ${threshold}`,
		summary: `CPU {{ $labels.cpu }} of {{ $labels.instance }} is saturated by interrupts and softirqs.`,
		description: `CPU {{ $labels.cpu }} of {{ $labels.instance }} spends {{ $value | humanizePercentage }} of its time in interrupts, softirqs and NAPI threads. ` +
			`Packets of its queues wait, then the NIC drops them, and programs on this CPU starve. ` +
			"`netsteer advise` on the host says whether its queues can be spread over other CPUs.",
	},
	{
		alert:   "NetsteerSoftnetDrops",
		expr:    `instance_cpu:netsteer_softnet_dropped:ratio_rate${window} > ${threshold}`,
		summary: `{{ $labels.instance }} drops packets on the way to CPU {{ $labels.cpu }}.`,
		description: `{{ $value | humanizePercentage }} of the packets for CPU {{ $labels.cpu }} of {{ $labels.instance }} are dropped before the network stack sees them: ` +
			`the CPU's backlog is full (net.core.netdev_max_backlog), or the flow limit holds. ` +
			`RPS or a virtual device sends it more than it can take.`,
	},
	{
		// Only causes that a setting mends. Few flows, one queue, steering by the
		// host of a virtual machine and unknown ones would wake somebody who can
		// do nothing; skew without a busy CPU does no harm.
		alert: "NetsteerQueueSkew",
		expr: `
  max without (direction) (
    (avg_over_time(netsteer_device_skew_cause{${selector},cause=~"placement|flow-rules|tx-selection|rss-table|rss-hash"}[${window}]) > bool 0.5) == 1
  )
* on (${instance}, device) group_left ()
  instance_device:netsteer_cpu_busy_net:max_rate${window}
> ${threshold}`,
		summary: `Queues of {{ $labels.device }} on {{ $labels.instance }} load one CPU more than others ({{ $labels.cause }}).`,
		description: `The busiest CPU that serves a queue of {{ $labels.device }} on {{ $labels.instance }} spends {{ $value | humanizePercentage }} of its time in interrupts, softirqs and NAPI threads, ` +
			`and the load is uneven for a reason that a setting mends: ` +
			`{{ with $labels.cause }}` +
			`{{ if eq . "placement" }}queues share a CPU, or run on the wrong one, while another is free` +
			`{{ else if eq . "flow-rules" }}flow rules send too much to one queue` +
			`{{ else if eq . "tx-selection" }}too much is sent through one TX queue` +
			`{{ else if eq . "rss-table" }}the RSS table gives one queue more than its share` +
			`{{ else }}the RSS hash leaves ports out, so that flows between two hosts stay on one queue{{ end }}` +
			"{{ end }}. `netsteer advise --device={{ $labels.device }}` on the host shows what to change.",
	},
	{
		alert:   "NetsteerDown",
		expr:    `up{${selector}} == 0`,
		summary: `netsteer of {{ $labels.instance }} cannot be scraped.`,
		description: `Prometheus gets no answer from netsteer on {{ $labels.instance }}. ` +
			`Nothing is known about that host's queues, and no other alert of netsteer can fire for it.`,
	},
	{
		alert:   "NetsteerAbsent",
		expr:    `absent(up{${selector}})`,
		summary: `Prometheus has no netsteer to scrape.`,
		description: `No target matches the selector of these rules. ` +
			`Service discovery has lost them all, the job was renamed, or the rules were made with another selector.`,
	},
}
