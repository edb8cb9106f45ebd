package advisor

// Rule is one thing that advice looks for. Its id is the contract: findings,
// alerts and explain use it.
type Rule struct {
	ID string
	// Severity is the default; a finding may be graver where load was measured.
	Severity Severity
	Title    string // what a finding of it says, in general
	Remedy   string
	// Reference is the kernel document or file, with version.
	Reference string

	order int
}

const (
	scalingRSS = "Documentation/networking/scaling.rst, RSS IRQ Configuration, Linux 7.2"
	scalingRPS = "Documentation/networking/scaling.rst, RPS, Linux 7.2"
	scalingRFS = "Documentation/networking/scaling.rst, RFS, Linux 7.2"
	scalingXPS = "Documentation/networking/scaling.rst, XPS, Linux 7.2"
)

var rules = []Rule{
	{ID: "no-allowed-cpu", Severity: Critical, Title: "No CPU may take interrupts: nothing can be planned",
		Remedy: "leave at least one online CPU out of isolcpus, nohz_full, isolated partitions and --advisor.exclude-cpus", Reference: scalingRSS},
	{ID: "irq-isolated", Severity: Warning, Title: "Isolated CPUs take traffic interrupts",
		Remedy: "move the vectors to allowed CPUs of the NIC's node", Reference: "Documentation/admin-guide/kernel-parameters.txt, isolcpus, Linux 7.2"},
	{ID: "irq-not-allowed", Severity: Warning, Title: "CPUs kept free of interrupts take traffic interrupts",
		Remedy: "move the vectors to allowed CPUs of the NIC's node", Reference: "Documentation/core-api/irq/irq-affinity.rst, Linux 7.2"},
	{ID: "irq-remote-node", Severity: Warning, Title: "CPUs of another node than the NIC's take its interrupts",
		Remedy: "move the vectors to the NIC's node", Reference: scalingRSS},
	{ID: "irq-stacked", Severity: Warning, Title: "Several queues share a CPU while an allowed one has none",
		Remedy: "give each queue pair a CPU of its own", Reference: scalingRSS},
	{ID: "irq-siblings", Severity: Warning, Title: "Two queues share a core while another core has none",
		Remedy: "use one thread of each core before the siblings", Reference: scalingRSS},
	{ID: "irq-pair-split", Severity: Warning, Title: "A queue pair's RX and TX vectors are on different CPUs",
		Remedy: "put both vectors of a pair on one CPU", Reference: scalingXPS},
	{ID: "irq-unpinned", Severity: Warning, Title: "No single CPU is known to take a queue's interrupts",
		Remedy: "give each vector a mask of one CPU", Reference: "Documentation/core-api/irq/irq-affinity.rst, Linux 7.2"},
	{ID: "irq-slow-cpu", Severity: Warning, Title: "Slow CPUs take interrupts while faster ones take none",
		Remedy: "move the vectors to the CPUs of the highest cpu_capacity", Reference: "Documentation/scheduler/sched-capacity.rst, Linux 7.2"},
	{ID: "irq-offline-mask", Severity: Info, Title: "Affinity masks hold CPUs that are offline",
		Remedy: "nothing to do: the kernel uses the online CPUs of the mask", Reference: "kernel/irq/manage.c irq_do_set_affinity, Linux 7.2"},
	{ID: "vector-unmovable", Severity: Info, Title: "The kernel does not let these vectors be moved",
		Remedy: "the levers are the number of channels and isolcpus=managed_irq", Reference: "kernel/irq/proc.c write_irq_affinity, Linux 7.2"},
	{ID: "vector-unmapped", Severity: Info, Title: "No queue is known for these vectors: they are not planned",
		Remedy: "", Reference: "Documentation/netlink/specs/netdev.yaml, Linux 7.2"},
	{ID: "shared-line", Severity: Info, Title: "Other devices use the same interrupt line: it is not moved",
		Remedy: "use MSI or MSI-X where the device has it", Reference: "Documentation/PCI/msi-howto.rst, Linux 7.2"},
	{ID: "napi-threaded", Severity: Info, Title: "NAPI threads do the work: vectors and XPS are left alone",
		Remedy: "pin each NAPI thread to the CPU of its vector", Reference: "Documentation/networking/napi.rst, Threaded NAPI, Linux 7.2"},
	{ID: "no-vectors", Severity: Info, Title: "The device has no interrupts: there is nothing to place",
		Remedy: "", Reference: scalingRPS},
	{ID: "single-queue", Severity: Info, Title: "One RX queue: interrupts cannot be spread",
		Remedy: "raise the number of channels where the device has more", Reference: scalingRSS},
	{ID: "queues-exceed-cpus", Severity: Info, Title: "More queues than allowed CPUs of the node: CPUs serve several",
		Remedy: "fewer channels cost fewer interrupts", Reference: scalingRSS},
	{ID: "xps-mismatch", Severity: Warning, Title: "Transmit packet steering sends to queues that complete on other CPUs",
		Remedy: "give each CPU the TX queue that completes nearest to it", Reference: scalingXPS},
	{ID: "xps-unset", Severity: Warning, Title: "Transmit packet steering is not set",
		Remedy: "give each CPU the TX queue that completes nearest to it", Reference: scalingXPS},
	{ID: "xps-left", Severity: Info, Title: "Transmit packet steering is left as it is",
		Remedy: "", Reference: scalingXPS},
	{ID: "rps-redundant", Severity: Warning, Title: "RPS is on though every CPU of the node has an RX queue of its own",
		Remedy: "switch RPS off", Reference: scalingRPS},
	{ID: "rps-wrong-mask", Severity: Warning, Title: "RPS masks hold CPUs that cannot or should not take packets",
		Remedy: "correct the masks or switch RPS off", Reference: scalingRPS},
	{ID: "rfs-half", Severity: Warning, Title: "Receive flow steering is half configured and does nothing",
		Remedy: "set both rps_sock_flow_entries and rps_flow_cnt, or neither", Reference: scalingRFS},
	{ID: "rival-active", Severity: Warning, Title: "Another program writes the same masks",
		Remedy: "", Reference: "irqbalance(1)"},
	{ID: "driver-rewrites", Severity: Info, Title: "The driver writes affinity and XPS anew at CPU hot-plug and channel change",
		Remedy: "", Reference: "drivers/net/virtio_net.c virtnet_set_affinity, Linux 7.2"},
	{ID: "device-left", Severity: Info, Title: "The device is measured and never changed",
		Remedy: "", Reference: ""},
}

var ruleByID = func() map[string]Rule {
	m := make(map[string]Rule, len(rules))
	for i, r := range rules {
		r.order = i
		m[r.ID] = r
	}
	return m
}()

// Rules lists every rule, in the order in which findings of one severity are
// shown.
func Rules() []Rule { return append([]Rule(nil), rules...) }
