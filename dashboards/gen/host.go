package main

import "github.com/grafana/grafana-foundation-sdk/go/units"

// host is about the CPUs, whatever device keeps them busy.
var host = row{
	title: "Host: CPUs and the backlog",
	panels: []panel{
		{
			kind: heat, title: "Network load of each CPU", width: 12, height: 10, unit: units.PercentUnit, ratio: true,
			limits: []limit{{0.2, "light-green"}, {0.4, "yellow"}, {0.6, "orange"}, {0.85, "red"}},
			about:  "Time in interrupts and softirqs. One red line among green ones is a host that has the CPUs and does not use them; all orange is a host that is full.",
			do:     "A red line: its queues are in the table below. NAPI threads are not in it, see their own panel.",
			queries: []query{{`
sum by (cpu) (rate(netsteer_cpu_time_seconds_total{@host,mode=~"irq|softirq"}[$__rate_interval]))`, "CPU {{cpu}}"}},
		},
		{
			kind: lines, title: "Network load by NUMA node", width: 6, height: 10, unit: units.PercentUnit, ratio: true, limits: loadLimits,
			about: "Mean and highest load of a node's CPUs. Far apart: few CPUs of the node do the work. A node without a NIC that is loaded: packets cross the interconnect.",
			queries: []query{
				{`
avg by (node) (
    sum by (instance, cpu) (rate(netsteer_cpu_time_seconds_total{@host,mode=~"irq|softirq"}[$__rate_interval]))
  * on (instance, cpu) group_left (node) netsteer_cpu_info{@host}
)`, "node {{node}} mean"},
				{`
max by (node) (
    sum by (instance, cpu) (rate(netsteer_cpu_time_seconds_total{@host,mode=~"irq|softirq"}[$__rate_interval]))
  * on (instance, cpu) group_left (node) netsteer_cpu_info{@host}
)`, "node {{node}} busiest"},
			},
		},
		{
			kind: lines, title: "Skew of CPUs", width: 6, height: 10, unit: units.Short, limits: []limit{{1.5, "orange"}, {3, "red"}},
			about: "How many times the mean the busiest CPU has, over as many CPUs as can have work: 1 is even. `busy_net` is load. `nic_packets` are the queues' packets at the CPU that runs them: " +
				"even there and uneven in load, packets differ in cost.",
			do:      "Above 1.5 with a busy CPU: see the cause above.",
			queries: []query{{`max by (signal) (netsteer_cpu_skew_max_to_mean_ratio{@host,signal=~"busy_net|nic_packets"})`, "{{signal}}"}},
			fault:   traffic,
		},
		{
			kind: lines, title: "NAPI threads", width: 6, height: 8, unit: units.PercentUnit,
			about:   "CPU time of each RX queue's NAPI thread, where NAPI is threaded: the kernel counts it as the thread's, not as softirq.",
			do:      "Near 100 % it is saturated: pin it alone on a CPU, or give the device more queues.",
			fault:   "threaded NAPI (/sys/class/net/NAME/threaded)",
			queries: []query{{`sum by (device, queue) (rate(netsteer_napi_thread_seconds_total{@nic}[$__rate_interval]))`, "{{device}} rx-{{queue}}"}},
		},
		{
			kind: lines, title: "Packets dropped at the backlog", width: 6, height: 8, unit: units.PercentUnit, limits: []limit{{0.001, "orange"}, {0.01, "red"}},
			about: "Share of the packets for a CPU that were dropped before the stack saw them: the backlog that RPS and virtual devices use was full, or the flow limit held. The CPU is the one that should have taken them.",
			do:    "CPU busy: more CPUs for RPS, or none. Not busy: raise net.core.netdev_max_backlog.",
			queries: []query{{`
  sum by (cpu) (rate(netsteer_softnet_dropped_total{@host}[$__rate_interval]))
/ (
    sum by (cpu) (rate(netsteer_softnet_dropped_total{@host}[$__rate_interval]))
  + sum by (cpu) (rate(netsteer_softnet_processed_total{@host}[$__rate_interval]))
)`, "CPU {{cpu}}"}},
		},
		{
			kind: lines, title: "NET_RX runs that were cut short", width: 6, height: 8, unit: units.PercentUnit, limits: []limit{{0.1, "orange"}},
			about: "Share of NET_RX runs that used up netdev_budget or netdev_budget_usecs with work left. Single ones are normal under load.",
			do:    "Steadily above 10 % on a busy CPU: spread its queues. A larger budget only makes others wait longer.",
			queries: []query{{`
  sum by (cpu) (rate(netsteer_softnet_time_squeezed_total{@host}[$__rate_interval]))
/ sum by (cpu) (rate(netsteer_cpu_softirqs_total{@host,type="NET_RX"}[$__rate_interval]))`, "CPU {{cpu}}"}},
		},
		{
			kind: lines, title: "Backlog", width: 6, height: 8, unit: units.Short,
			about: "Packets in the fullest CPU's backlog at the scrape, beside the limit at which they are dropped.",
			queries: []query{
				{`max by (list) (netsteer_softnet_backlog_packets{@host})`, "{{list}}"},
				{`max(netsteer_netdev_max_backlog{@host})`, "netdev_max_backlog"},
			},
		},
		{
			kind: lines, title: "Passes through the receive path", width: 6, height: 8, unit: units.CountsPerSecond, stack: true,
			about:   "Not packets: a VLAN, bond or macvlan makes each pass twice.",
			queries: []query{{`sum by (cpu) (rate(netsteer_softnet_processed_total{@host}[$__rate_interval]))`, "CPU {{cpu}}"}},
		},
		{
			kind: lines, title: "Softirq runs", width: 6, height: 8, unit: units.CountsPerSecond,
			about:   "Runs of the handler, not packets and not load: the busier a CPU, the more packets a run takes, and the fewer runs there are.",
			queries: []query{{`sum by (type) (rate(netsteer_cpu_softirqs_total{@host}[$__rate_interval]))`, "{{type}}"}},
		},
		{
			kind: lines, title: "RPS wake-ups and the flow limit", width: 6, height: 8, unit: units.CountsPerSecond,
			about: "Wake-ups of one CPU by another's RPS: each costs an interrupt between CPUs. Beside them the packets that the flow limit dropped.",
			do:    "Many wake-ups where every CPU has a queue of its own: RPS only costs there, `netsteer advise` takes it off.",
			queries: []query{
				{`sum(rate(netsteer_softnet_received_rps_total{@host}[$__rate_interval]))`, "RPS wake-ups"},
				{`sum(rate(netsteer_softnet_flow_limit_total{@host}[$__rate_interval]))`, "flow limit"},
			},
		},
		{
			kind: number, title: "CPUs a plan may use", width: 3, height: 8, unit: units.Short,
			about:   "Online CPUs, less those that are isolated, exclusive, excluded by flags or by default_smp_affinity.",
			queries: []query{{`max(netsteer_allowed_cpus{@host})`, "allowed"}},
		},
		{
			kind: list, title: "CPUs withheld", width: 3, height: 8,
			about:   "Online CPUs that get no vector, by the first reason that holds.",
			columns: []column{{"reason", "Reason"}, {"cpus", "CPUs"}},
			queries: []query{{`max by (reason) (netsteer_withheld_cpus{@host})`, "cpus"}},
		},
	},
}
