package main

import "github.com/grafana/grafana-foundation-sdk/go/units"

// ratioLimits are for shares of vectors or queues that are out of place.
var ratioLimits = []limit{{0.001, "orange"}, {0.5, "red"}}

// loadLimits are those of the alerts: queues of a skewed device, and saturation.
var loadLimits = []limit{{0.6, "orange"}, {0.85, "red"}}

// verdict says what is wrong and what can be done, for those who read no further.
var verdict = row{
	title: "Verdict",
	panels: []panel{
		{
			kind: number, title: "Busiest CPU", width: 4, height: 5, unit: units.PercentUnit, ratio: true, limits: loadLimits,
			about: "Time that the CPU with the highest network load spends in interrupts and softirqs. Interrupt counts say nothing about it: a saturated CPU polls, and takes fewer of them.",
			do:    "Above 85 % packets wait and are dropped: find its queues below, then ask `netsteer advise`.",
			queries: []query{{`
max(sum by (cpu) (rate(netsteer_cpu_time_seconds_total{@host,mode=~"irq|softirq"}[$__rate_interval])))`, "busiest CPU"}},
		},
		{
			kind: timeline, title: "Why queues are uneven", width: 12, height: 5,
			about: "The cause that netsteer finds for each device and direction. Orange ones a setting mends: placement, flow-rules, tx-selection, rss-table, rss-hash. " +
				"Blue ones no setting of this host mends: few flows, or steering by the host of a virtual machine; or the cause is unknown. Green ones need nothing.",
			do:    "Orange and a busy CPU: `netsteer advise --device=NAME` shows the changes. Without a busy CPU uneven queues do no harm.",
			words: map[string]word{"0": {"fine", "green"}, "1": {"no setting mends it", "blue"}, "2": {"a setting mends it", "orange"}},
			queries: []query{{`
  2 * (max by (device, direction, cause) (netsteer_device_skew_cause{@nic,cause=~"placement|flow-rules|tx-selection|rss-table|rss-hash"}) == 1)
or
  (max by (device, direction, cause) (netsteer_device_skew_cause{@nic,cause=~"few-flows|host-steering|unknown"}) == 1)
or
  0 * (max by (device, direction, cause) (netsteer_device_skew_cause{@nic,cause=~"none|idle|single-queue"}) == 1)`, "{{device}} {{direction}}: {{cause}}"}},
		},
		{
			kind: number, title: "Changes proposed", width: 4, height: 5, unit: units.Short, limits: []limit{{1, "orange"}},
			about:   "Settings that the plan would change, of all kinds. It is held for three windows, so that a passing state proposes nothing.",
			do:      "`netsteer advise` shows each with its reason; `netsteer apply` or POST /apply carries it out, and undoes it if it makes things worse.",
			queries: []query{{`sum(netsteer_recommended_changes{@host,device=~"$device|"})`, "changes"}},
		},
		{
			kind: number, title: "Others that write masks", width: 4, height: 5, words: map[string]word{"0": {"none", "green"}, "1": {"active", "orange"}},
			about:   "Programs that write the same masks as a plan would, such as irqbalance. What one sets the other undoes.",
			do:      "Ban the NIC's vectors there (`netsteer advise` prints the lines), or leave placement to the other and apply the rest.",
			queries: []query{{`max(netsteer_rival_active{@host})`, "rivals"}},
		},
		{
			kind: list, title: "Findings", width: 12, height: 8,
			about:   "What netsteer found, by rule. `netsteer explain RULE` says what is meant, how it is known and what mends it.",
			do:      "Critical and warning first. Info is worth knowing and asks for nothing.",
			fault:   "something that a rule finds, such as two vectors on one CPU",
			columns: []column{{"severity", "Severity"}, {"device", "Device"}, {"rule", "Rule"}},
			queries: []query{{`max by (severity, device, rule) (netsteer_findings{@host,device=~"$device|"}) > 0`, "value"}},
		},
		{
			kind: lines, title: "Vectors out of place", width: 8, height: 8, unit: units.PercentUnit, ratio: true, limits: ratioLimits,
			about: "Share of a device's live vectors that share a CPU while an allowed one of the node has none (stacked), that run on another NUMA node than the NIC (remote), or on an isolated CPU (isolated). Absent where the node is unknown.",
			do:    "Apply `irq_affinity` of the plan. If it comes back, look at what else writes masks.",
			queries: []query{
				{`max by (device) (netsteer_irq_stacked_ratio{@nic})`, "{{device}} stacked"},
				{`max by (device) (netsteer_irq_remote_node_ratio{@nic})`, "{{device}} remote"},
				{`max by (device) (netsteer_irq_isolated_ratio{@nic})`, "{{device}} isolated"},
			},
		},
		{
			kind: lines, title: "Sends that complete elsewhere", width: 4, height: 8, unit: units.PercentUnit, ratio: true, limits: ratioLimits,
			about:   "Share of queue pairs whose sends complete on another CPU than the one that receives: cache lines travel on every send.",
			do:      "Apply `xps_cpus` of the plan: XPS then names, for each CPU, the TX queue whose vector runs there.",
			fault:   "XPS masks that do not match the vectors, or a host that mostly sends its own packets with XPS unset",
			queries: []query{{`max by (device) (netsteer_affinity_mismatch_ratio{@nic})`, "{{device}}"}},
		},
		{
			kind: list, title: "Blind spots", width: 12, height: 6,
			about:   "What netsteer could not read, or had to guess, and why. What depends on it is absent here: unknown is never shown as 0.",
			do:      "A masked /proc or another network namespace is mended by how the container is started; for others see the reason.",
			fault:   "a source that cannot be read, such as a masked /proc/interrupts",
			columns: []column{{"source", "Source"}, {"device", "Device"}, {"reason", "Reason"}},
			queries: []query{{`max by (source, device, reason) (netsteer_source_degraded{@host}) == 1`, "value"}},
		},
		{
			kind: list, title: "Vectors without a queue", width: 6, height: 6,
			about:   "Vectors that should serve a queue of which none is known: they are left out of every plan.",
			do:      "An unknown driver's names: report `netsteer capture`, it holds no addresses.",
			fault:   "a driver whose vector names are not known",
			columns: []column{{"device", "Device"}, {"reason", "Reason"}, {"vectors", "Vectors"}},
			queries: []query{{`sum by (device, reason) (netsteer_unmapped_irqs{@nic})`, "vectors"}},
		},
		{
			kind: list, title: "Proposed changes by kind", width: 6, height: 6,
			about:   "How many settings of each kind the plan would change.",
			columns: []column{{"device", "Device"}, {"kind", "Kind"}, {"changes", "Changes"}},
			queries: []query{{`sum by (device, kind) (netsteer_recommended_changes{@host,device=~"$device|"})`, "changes"}},
		},
	},
}
