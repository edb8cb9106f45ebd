// Package skew turns two Samples of one shape into Rates: how unevenly the
// queues and CPUs are loaded, where each vector runs, whether a queue's
// transmit completes where it receives, and why a device is skewed. It is pure:
// no file, no clock.
package skew

import (
	"time"

	"github.com/netsteer/netsteer/cpuset"
)

// Value is a number that may not exist. The zero value does not.
type Value struct {
	V  float64
	OK bool
}

func known(v float64) Value { return Value{V: v, OK: true} }

// Options are what an operator sets.
type Options struct {
	// MinRate is the packets per second of a device and direction below which
	// no skew is said (--skew.min-rate); hysteresis to half of it.
	MinRate float64
	// ExcludeCPUs get no vector and no RPS; IRQCPUs, if not empty, are the
	// allowed CPUs whatever else holds.
	ExcludeCPUs, IRQCPUs cpuset.Set
}

// Signal is what a skew is computed over.
type Signal uint8

// Signals of queues.
const (
	Packets Signal = iota
	PacketsWeighted
	Bytes
	Interrupts
	NumSignals
)

// String returns the label value.
func (s Signal) String() string {
	return [...]string{"packets", "packets_weighted", "bytes", "interrupts"}[s]
}

// CPUSignal is what a skew of CPUs is computed over.
type CPUSignal uint8

// Signals of CPUs. Only BusyNet is load.
const (
	BusyNet CPUSignal = iota
	NICPackets
	Processed
	NetRX
	NICInterrupts
	NumCPUSignals
)

// String returns the label value.
func (s CPUSignal) String() string {
	return [...]string{"busy_net", "nic_packets", "processed", "net_rx", "nic_interrupts"}[s]
}

// Cause is why a device and direction is skewed: a closed set of label values.
type Cause string

// Causes, in the order in which they are tried.
const (
	CauseUnknown      Cause = "unknown"
	CauseIdle         Cause = "idle"
	CauseSingleQueue  Cause = "single-queue"
	CausePlacement    Cause = "placement"
	CauseNone         Cause = "none"
	CauseFlowRules    Cause = "flow-rules"
	CauseHostSteering Cause = "host-steering"
	CauseTXSelection  Cause = "tx-selection"
	CauseRSSTable     Cause = "rss-table"
	CauseRSSHash      Cause = "rss-hash"
	CauseFewFlows     Cause = "few-flows"
)

// Causes lists every cause, for state sets.
var Causes = []Cause{
	CauseUnknown, CauseIdle, CauseSingleQueue, CausePlacement, CauseNone, CauseFlowRules,
	CauseHostSteering, CauseTXSelection, CauseRSSTable, CauseRSSHash, CauseFewFlows,
}

// Dispersion is how uneven some rates are.
type Dispersion struct {
	CV        Value // population standard deviation / mean
	MaxToMean Value
}

// Rates is what happened between two Samples.
type Rates struct {
	Shape  uint64
	Window time.Duration
	// SinceBoot: there was one Sample only; totals stand for rates.
	SinceBoot bool

	Devices []DeviceRates // by Device.ID
	Queues  []QueueRates  // by Queue.ID
	CPUs    []CPURates    // by CPU id

	CPUSkew [NumCPUSignals]Dispersion
}

// DeviceRates are a device's two directions.
type DeviceRates struct{ RX, TX DirectionRates }

// DirectionRates is one direction of a device.
type DirectionRates struct {
	Cause    Cause
	Evidence string // why this cause, for people
	Live     int    // number of live queues
	// PacketsPerSecond is the sum over the usable queues; absent without counters.
	PacketsPerSecond Value
	Skew             [NumSignals]Dispersion
	// Peak is the highest max/mean of packets of any sampling interval in the
	// window.
	Peak Value
}

// QueueRates is one queue.
type QueueRates struct {
	Packets, Bytes, Drops, Interrupts Value // per second
	Live                              bool
	// Load is the queue's share of its CPU's network load, CPU-seconds per
	// second, scaled by capacity.
	Load Value
}

// CPURates is one CPU.
type CPURates struct {
	BusyNet       Value // network load, 0..1 (scaled by capacity)
	NICPackets    Value // packets per second of the queues that run here
	Processed     Value // softnet passes per second
	NetRX         Value // softirq runs per second
	NICInterrupts Value // per second
}

// Place is where queues and vectors run now.
type Place struct {
	// CPU is the CPU that takes the vector, by Vector.ID; -1: unknown, or its
	// NAPI thread roams.
	CPU []int
	// Pending: the mask was changed and the vector has not moved yet.
	Pending []bool
	// Roaming: served by a NAPI thread that may run anywhere.
	Roaming []bool

	// Mismatch of each RX queue's pair, by Queue.ID: its sends complete on
	// another CPU. Distance says how far. Both unknown where it is not judged.
	Mismatch []Verdict
	Distance []Value // host.Distance as a number

	Devices []DevicePlace // by Device.ID
}

// Verdict is yes, no or not judged (the zero value).
type Verdict uint8

// Verdicts.
const (
	NotJudged Verdict = iota
	Matched
	Mismatched
)

// DevicePlace sums a device's placement up. Ratios are of its live units.
type DevicePlace struct {
	MismatchRatio Value // mismatched / judged pairs
	Stacked       Value // share a CPU though an allowed CPU of the node has no unit
	RemoteNode    Value // on another node though the NIC's has an allowed CPU
	Isolated      Value // on an isolated CPU
}

// Allowed are the CPUs a plan may use, and why others are not.
type Allowed struct {
	CPUs     cpuset.Set
	Withheld map[Withheld]int // CPUs taken out, by the first reason that holds
}

// Withheld is why an online CPU may not be used: a closed set of label values.
type Withheld string

// Reasons for withholding a CPU, in the order in which they are tried.
const (
	WithheldIsolated   Withheld = "isolated"
	WithheldNohzFull   Withheld = "nohz_full"
	WithheldCpuset     Withheld = "cpuset"
	WithheldDefaultIRQ Withheld = "default_smp_affinity"
	WithheldExclusive  Withheld = "exclusive"
	WithheldExcluded   Withheld = "excluded"
)

// WithheldReasons lists every reason, for metrics that start at 0.
var WithheldReasons = []Withheld{
	WithheldIsolated, WithheldNohzFull, WithheldCpuset, WithheldDefaultIRQ, WithheldExclusive, WithheldExcluded,
}
