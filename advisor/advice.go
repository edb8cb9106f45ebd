// Package advisor turns an Inventory and its Rates into Advice: what is wrong,
// and the exact changes that mend it, with reasons. It is pure: the same facts
// give the same bytes.
package advisor

import "github.com/netsteer/netsteer/host"

// Schema names the JSON form of Advice.
const Schema = "netsteer.advice/v1"

// Advice is the plan for a host. Lists are sorted, a missing key is unknown.
type Advice struct {
	Schema      string `json:"schema"`
	Fingerprint string `json:"fingerprint"` // of the changes, see Fingerprint
	Profile     string `json:"profile"`
	Basis       string `json:"basis"` // "window" or "since-boot"
	// WindowSeconds is the length of the window that rates are from.
	WindowSeconds float64         `json:"window_seconds,omitempty"`
	Devices       []Device        `json:"devices"`
	Findings      []Finding       `json:"findings"`
	Changes       []Change        `json:"changes"`
	Host          Host            `json:"host"`
	Predicted     *Predicted      `json:"predicted,omitempty"`
	Degraded      []host.Degraded `json:"degraded"`
}

// Device is what was found of one device.
type Device struct {
	Device   string `json:"device"`
	Driver   string `json:"driver,omitempty"`
	NUMANode *int   `json:"numa_node,omitempty"`
	Cause    string `json:"cause,omitempty"`
	Skew     *Skew  `json:"skew,omitempty"`
	// AffinityMismatchRatio is mismatched / judged queue pairs.
	AffinityMismatchRatio *float64 `json:"affinity_mismatch_ratio,omitempty"`
}

// Skew is both directions of a device.
type Skew struct {
	RX *Direction `json:"rx,omitempty"`
	TX *Direction `json:"tx,omitempty"`
}

// Direction is the skew of one direction.
type Direction struct {
	Cause            string   `json:"cause"`
	CauseEvidence    string   `json:"cause_evidence,omitempty"`
	CV               *float64 `json:"cv,omitempty"`
	MaxToMean        *float64 `json:"max_to_mean,omitempty"`
	LiveQueues       int      `json:"live_queues"`
	PacketsPerSecond *float64 `json:"packets_per_second,omitempty"`
}

// Severity of a finding: critical, warning or info.
type Severity string

// Severities.
const (
	Critical Severity = "critical"
	Warning  Severity = "warning"
	Info     Severity = "info"
)

// Finding is one thing that is wrong or worth knowing, by rule.
type Finding struct {
	Rule     string         `json:"rule"`
	Severity Severity       `json:"severity"`
	Device   string         `json:"device,omitempty"`
	Queues   []int          `json:"queues,omitempty"`
	Summary  string         `json:"summary"`
	Evidence map[string]any `json:"evidence,omitempty"` // JSON sorts the keys
	Remedy   string         `json:"remedy,omitempty"`
	// Changes are the ids of the changes that mend it.
	Changes   []string `json:"changes,omitempty"`
	Reference string   `json:"reference,omitempty"` // kernel document or file, with version
}

// Stage of a change: structure before steering.
type Stage string

// Stages.
const (
	Structure Stage = "structure"
	Steering  Stage = "steering"
)

// Change is one setting to write. Of a plan file only kind, device, direction,
// queue and proposed are read.
type Change struct {
	ID    string    `json:"id,omitempty"` // "c1", in the order of the list
	Stage Stage     `json:"stage,omitempty"`
	Kind  host.Kind `json:"kind"`
	// Device is "" for host-wide kinds, Direction and Queue absent for kinds that
	// have none.
	Device    string `json:"device,omitempty"`
	Direction string `json:"direction,omitempty"` // "rx", "tx" or "combined"
	Queue     *int   `json:"queue,omitempty"`
	Target    string `json:"target,omitempty"` // for people: the file, or "ethtool:channels"
	// Current and Proposed are in the form of the kind: CPU sets as list text,
	// numbers as decimal. Current is nil where it is unknown, "" an empty set.
	Current  *string `json:"current,omitempty"`
	Proposed string  `json:"proposed"`
	CPUs     []int   `json:"cpus,omitempty"` // Proposed as numbers, for kinds of CPU sets
	Rule     string  `json:"rule,omitempty"`
	Reason   string  `json:"reason,omitempty"`
	// Disruptive: link, vectors or tables are reset by it.
	Disruptive bool `json:"disruptive"`
}

// Setting names what the change writes.
func (c *Change) Setting() host.Setting {
	s := host.Setting{Kind: c.Kind, Device: c.Device}
	switch c.Direction {
	case "tx":
		s.Direction = host.TX
	case "combined":
		s.Direction = host.Combined
	}
	if c.Queue != nil {
		s.Queue = *c.Queue
	}
	return s
}

// Host is what a plan file must agree with to be applied.
type Host struct {
	Kernel  string                `json:"kernel,omitempty"`
	Online  string                `json:"online"`
	Allowed string                `json:"allowed"`
	Devices map[string]HostDevice `json:"devices"`
}

// HostDevice is a device as a plan file knows it.
type HostDevice struct {
	Driver string `json:"driver,omitempty"`
	Queues int    `json:"queues"`
}

// Predicted is what the changes should do to the spread over CPUs.
type Predicted struct {
	BusyNet    *Spread `json:"busy_net,omitempty"`
	NICPackets *Spread `json:"nic_packets,omitempty"`
}

// Spread is CPU skew before and after.
type Spread struct {
	CPUSkewCV        *BeforeAfter `json:"cpu_skew_cv,omitempty"`
	CPUSkewMaxToMean *BeforeAfter `json:"cpu_skew_max_to_mean,omitempty"`
	BusiestCPU       *BeforeAfter `json:"busiest_cpu,omitempty"`
}

// BeforeAfter is one figure now and as predicted.
type BeforeAfter struct {
	Before float64 `json:"before"`
	After  float64 `json:"after"`
}
