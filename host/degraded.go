package host

import "cmp"

// Source is where a value comes from: a closed set of label values.
type Source string

// Sources.
const (
	SourceInterrupts Source = "interrupts"    // /proc/interrupts
	SourceSoftirqs   Source = "softirqs"      // /proc/softirqs
	SourceSoftnet    Source = "softnet_stat"  // /proc/net/softnet_stat
	SourceStat       Source = "stat"          // /proc/stat
	SourceIRQ        Source = "irq"           // /proc/irq, /sys/kernel/irq
	SourceTopology   Source = "topology"      // /sys/devices/system
	SourceSysctl     Source = "sysctl"        // /proc/sys/net/core
	SourceSysfs      Source = "sysfs"         // /sys/class/net
	SourceQueues     Source = "queues"        // /sys/class/net/X/queues
	SourceNetlink    Source = "netlink"       // ethtool over netlink, and link speed
	SourceRSS        Source = "rss"           // RSS table, hash fields, ntuple rules
	SourceNetdev     Source = "netdev"        // netdev-genl queues and NAPIs
	SourceStats      Source = "queue_stats"   // per-queue counters: qstats or ethtool -S
	SourceDriver     Source = "driver"        // driver's entry in netsteer's table
	SourceThreads    Source = "napi_threads"  // /proc/PID of NAPI threads
	SourceRivals     Source = "rivals"        // /proc/PID of irqbalance and others
	SourceMapping    Source = "queue_mapping" // queue -> vector
)

// Reason is why a source is degraded: a closed set of label values.
type Reason string

// Reasons.
const (
	ReasonMissing        Reason = "missing"         // not there, or not in this capture
	ReasonMasked         Reason = "masked"          // empty: hidden by a container runtime
	ReasonMalformed      Reason = "malformed"       // text that is not as the kernel prints it
	ReasonPermission     Reason = "permission"      // EACCES, EPERM
	ReasonVanished       Reason = "vanished"        // went away while it was read
	ReasonTimeout        Reason = "timeout"         // not done by the deadline
	ReasonSlow           Reason = "slow"            // read more rarely, so that it costs under 1 % of time
	ReasonStale          Reason = "stale"           // last values are shown
	ReasonOtherNamespace Reason = "other-namespace" // netlink answers for another network namespace
	ReasonDisabled       Reason = "disabled"        // switched off by a flag
	ReasonUnsupported    Reason = "unsupported"     // the driver or the kernel does not tell
	ReasonUnknownDriver  Reason = "unknown-driver"  // no entry in the driver table
	ReasonNoCounters     Reason = "no-counters"     // the driver counts per device only
	ReasonAmbiguous      Reason = "ambiguous"       // several readings, none certain
	ReasonError          Reason = "error"           // any other failure
)

// Degraded says that a value is missing or guessed, and why.
type Degraded struct {
	Source Source `json:"source"`
	Device string `json:"device,omitempty"`
	Reason Reason `json:"reason"`
	// Detail is for people: the first error, never a label.
	Detail string `json:"detail,omitempty"`
}

// Compare orders by source, device and reason.
func (d Degraded) Compare(e Degraded) int {
	return cmp.Or(cmp.Compare(d.Source, e.Source), cmp.Compare(d.Device, e.Device), cmp.Compare(d.Reason, e.Reason))
}
