package web

import (
	"strconv"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
)

// SnapshotSchema names the document and its version.
const SnapshotSchema = "netsteer.snapshot/v1"

// Snapshot is what netsteer sees: one Inventory and one Sample. A key that is
// missing is unknown or not applicable; a CPU set is the kernel's list text, ""
// the empty set. Keys and lists have a fixed order: the same facts give the same
// bytes.
type Snapshot struct {
	Schema string         `json:"schema"`
	Kernel string         `json:"kernel,omitempty"`
	CPUs   SnapshotCPUs   `json:"cpus"`
	NUMA   []SnapshotNode `json:"numa,omitempty"`
	// Interrupts are all rows of /proc/interrupts, numbers first.
	Interrupts []SnapshotInterrupt `json:"interrupts,omitempty"`
	// Softirqs are NET_RX and NET_TX runs of the possible CPUs.
	Softirqs map[string]CPUCounts `json:"softirqs,omitempty"`
	Softnet  []SnapshotSoftnet    `json:"softnet,omitempty"`
	Devices  []SnapshotDevice     `json:"devices"`
	Degraded []host.Degraded      `json:"degraded"`
}

// SnapshotCPUs are the machine's CPUs.
type SnapshotCPUs struct {
	Online   *cpuset.Set `json:"online,omitempty"`
	Possible *cpuset.Set `json:"possible,omitempty"`
	Isolated cpuset.Set  `json:"isolated"`
}

// SnapshotNode is one NUMA node.
type SnapshotNode struct {
	Node int        `json:"node"`
	CPUs cpuset.Set `json:"cpus"`
}

// SnapshotInterrupt is one row of /proc/interrupts. The keys from device on are
// those of a network device's vector.
type SnapshotInterrupt struct {
	IRQ string `json:"irq"`
	// Total is the plain sum of the cells; PerCPU has those that are not 0, none
	// in a row whose number belongs to no CPU (ERR, MIS).
	Total     uint64      `json:"total"`
	PerCPU    CPUCounts   `json:"per_cpu"`
	Chip      string      `json:"chip,omitempty"`
	Actions   []string    `json:"actions,omitempty"`
	Device    string      `json:"device,omitempty"`
	Role      string      `json:"role,omitempty"`
	Queue     *int        `json:"queue,omitempty"`
	Mapping   string      `json:"mapping,omitempty"`
	Affinity  *cpuset.Set `json:"affinity,omitempty"`
	Effective *cpuset.Set `json:"effective,omitempty"`
}

// SnapshotSoftnet is one CPU's row of /proc/net/softnet_stat. Kernels before
// 5.10 do not say which CPU it is of.
type SnapshotSoftnet struct {
	CPU         *int    `json:"cpu,omitempty"`
	Processed   uint32  `json:"processed"`
	Dropped     uint32  `json:"dropped"`
	TimeSqueeze uint32  `json:"time_squeeze"`
	ReceivedRPS *uint32 `json:"received_rps,omitempty"`
	FlowLimit   *uint32 `json:"flow_limit,omitempty"`
	InputQlen   *uint32 `json:"input_qlen,omitempty"`
	ProcessQlen *uint32 `json:"process_qlen,omitempty"`
}

// SnapshotDevice is one network device.
type SnapshotDevice struct {
	Device   string            `json:"device"`
	Driver   string            `json:"driver,omitempty"`
	NUMANode *int              `json:"numa_node,omitempty"`
	Lower    []string          `json:"lower,omitempty"`
	Channels *SnapshotChannels `json:"channels,omitempty"`
	Rings    *SnapshotRings    `json:"rings,omitempty"`
	RSS      *SnapshotRSS      `json:"rss,omitempty"`
	// Queues are the RX queues, then the TX queues, by number.
	Queues []SnapshotQueue `json:"queues"`
}

// SnapshotPair is a current value and the hardware's maximum.
type SnapshotPair struct {
	Current *uint64 `json:"current,omitempty"`
	Max     *uint64 `json:"max,omitempty"`
}

// SnapshotChannels are the kinds of channels the driver has.
type SnapshotChannels struct {
	RX       *SnapshotPair `json:"rx,omitempty"`
	TX       *SnapshotPair `json:"tx,omitempty"`
	Other    *SnapshotPair `json:"other,omitempty"`
	Combined *SnapshotPair `json:"combined,omitempty"`
}

// SnapshotRings are the ring sizes, in descriptors.
type SnapshotRings struct {
	RX *SnapshotPair `json:"rx,omitempty"`
	TX *SnapshotPair `json:"tx,omitempty"`
}

// SnapshotRSS is the indirection table (queue numbers) and, by flow type, the
// hashed fields in the letters of ethtool -n.
type SnapshotRSS struct {
	Table      []uint32          `json:"table,omitempty"`
	HashFields map[string]string `json:"hash_fields,omitempty"`
}

// SnapshotQueue is one queue. rps_* are of RX queues, xps_* of TX queues.
type SnapshotQueue struct {
	Direction  string      `json:"direction"`
	Queue      int         `json:"queue"`
	Packets    *uint64     `json:"packets,omitempty"`
	Bytes      *uint64     `json:"bytes,omitempty"`
	Drops      *uint64     `json:"drops,omitempty"`
	IRQ        string      `json:"irq,omitempty"`
	RPSCPUs    *cpuset.Set `json:"rps_cpus,omitempty"`
	RPSFlowCnt *uint64     `json:"rps_flow_cnt,omitempty"`
	XPSCPUs    *cpuset.Set `json:"xps_cpus,omitempty"`
	XPSRXQs    []int       `json:"xps_rxqs,omitempty"`
}

// CPUCounts is a JSON object from CPU ids to counts, in the order of the ids: a
// map would have "10" before "2".
type CPUCounts []host.CPUCount

// MarshalJSON writes the object.
func (c CPUCounts) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, cell := range c {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, '"')
		out = strconv.AppendInt(out, int64(cell.CPU), 10)
		out = append(out, '"', ':')
		out = strconv.AppendUint(out, uint64(cell.Count), 10)
	}
	return append(out, '}'), nil
}
