package host

import "fmt"

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

// Value is a setting's value in the form of its kind: CPU sets as list text (""
// is the empty set), numbers as decimal.
type Value string

// Setting names one thing that can be set: never a path. Device is "" for
// host-wide kinds; Direction and Queue count only for kinds that have them.
type Setting struct {
	Kind      Kind
	Device    string
	Direction Direction
	Queue     int
}

// String is for people: "irq_affinity of eth0 combined-3", "netdev_max_backlog".
func (s Setting) String() string {
	if s.Device == "" {
		return string(s.Kind)
	}
	return fmt.Sprintf("%s of %s %s-%d", s.Kind, s.Device, s.Direction, s.Queue)
}

// VectorOf returns the vector that an irq_affinity setting names, nil if there
// is none: the one of that role that is counted under that queue.
func (d *Device) VectorOf(s Setting) *Vector {
	role := map[Direction]Role{RX: RoleRX, TX: RoleTX, Combined: RoleCombined}[s.Direction]
	for i := range d.Vectors {
		if v := &d.Vectors[i]; v.Role == role && v.Queue == s.Queue {
			return v
		}
	}
	return nil
}
