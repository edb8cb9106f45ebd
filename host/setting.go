package host

// Kind is what a Setting is of: a closed set, the JSON and label value.
type Kind string

// Kinds of settings.
const (
	IRQAffinity        Kind = "irq_affinity"
	RPSCPUs            Kind = "rps_cpus"
	XPSCPUs            Kind = "xps_cpus"
	RPSFlowCnt         Kind = "rps_flow_cnt"
	RPSSockFlowEntries Kind = "rps_sock_flow_entries"
	NetdevMaxBacklog   Kind = "netdev_max_backlog"
	NetdevBudget       Kind = "netdev_budget"
	KindChannels       Kind = "channels"
	KindRings          Kind = "rings"
	KindCoalesce       Kind = "coalesce"
	KindFeatures       Kind = "features"
	RSSIndirection     Kind = "rss_indirection"
	RSSHashFields      Kind = "rss_hash_fields"
)

// Setting names one thing that can be set: never a path. Device is "" for
// host-wide kinds; Direction and Queue count only for kinds that have them.
type Setting struct {
	Kind      Kind
	Device    string
	Direction Direction
	Queue     int
}
