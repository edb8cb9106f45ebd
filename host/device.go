package host

// Direction of a queue, a vector or a channel.
type Direction uint8

// Directions. Combined is for vectors and channels only.
const (
	RX Direction = iota
	TX
	Combined
)

// String returns "rx", "tx" or "combined", the label values.
func (d Direction) String() string { return [...]string{"rx", "tx", "combined"}[d] }

// Device is one network device.
type Device struct {
	ID      int // index in Inventory.Devices
	Name    string
	Ifindex int
	Driver  string // kernel driver name as in ETHTOOL_GDRVINFO, "" if unknown
	BusInfo string // ETHTOOL_GDRVINFO bus_info, usually a PCI address
	Node    int    // NUMA node, -1 unknown
	Up      bool   // IFF_UP

	// Physical: it has a parent device, and so may have vectors.
	Physical bool
	// Stacked: a bond, team, bridge, VLAN or macvlan. It exports its place only;
	// the Lower devices have the queues.
	Stacked bool
	Lower   []string

	SpeedBytes Count // link speed, bytes per second

	Channels Channels
	Rings    Rings
	Coalesce []Option // ethtool -c names, sorted, only those the driver has
	Features []Option // ethtool -k names of interest, "on"/"off"
	RSS      RSS

	RX, TX  []Queue  // parts of Inventory.Queues, by queue number
	Vectors []Vector // part of Inventory.Vectors

	// IgnoresXPS, RewritesXPS are the driver's traits (package driver):
	// ndo_select_queue that never asks XPS; XPS and affinity written anew by
	// the driver on CPU hot-plug and channel change.
	IgnoresXPS, RewritesXPS bool

	ThreadedNAPI    bool // /sys/class/net/X/threaded, or a NAPI that has a thread
	DeferHardIRQs   bool // napi_defer_hard_irqs or gro_flush_timeout is set: interrupts are no signal
	NetlinkExcluded bool // netlink and ioctl answer for another namespace
}

// Option is a named setting as ethtool prints it.
type Option struct{ Name, Value string }

// Pair is a current value and the hardware's maximum.
type Pair struct{ Current, Max Count }

// Channels are ETHTOOL_MSG_CHANNELS_GET: each part is unknown where the driver
// has no such channel.
type Channels struct{ RX, TX, Other, Combined Pair }

// Rings are ETHTOOL_MSG_RINGS_GET, in descriptors.
type Rings struct{ RX, TX Pair }

// RSS is the receive-side scaling state of a device.
type RSS struct {
	// Table is the indirection table, queue numbers; nil if it cannot be read
	// or the device has none.
	Table []uint32
	// Contexts are the tables of further RSS contexts.
	Contexts map[uint32][]uint32
	Hash     string // hash function: toeplitz, xor, crc32, ""
	// Fields are the hashed fields by flow type: "udp4" -> "sd" or "sdfn", in
	// ethtool -n letters; sorted by flow type.
	Fields []Option
	// RuleQueues are the RX queues that ntuple rules send to.
	RuleQueues []uint32
	Rules      Count // number of ntuple rules
}

// Queue is one RX or TX ring of a device.
type Queue struct {
	ID        int // index in Inventory.Queues
	Device    int // index in Inventory.Devices
	Direction Direction
	Index     int // queue number
	// Usable: an RX ring of the current channels, or a real TX queue of traffic
	// class 0; XDP, AF_XDP and PTP rings are not.
	Usable bool
	// Vector is the index in Inventory.Vectors of the interrupt that serves the
	// queue, -1 if none is known.
	Vector int

	// NAPI is the queue's NAPI id (netdev-genl), Thread the PID of its NAPI
	// thread when threaded.
	NAPI   Count
	Thread Count
	// ThreadCPUs is the thread's Cpus_allowed.
	ThreadCPUs Mask

	// RX.
	RPS         Mask  // rps_cpus; empty set = off
	FlowEntries Count // rps_flow_cnt
	// RSSWeight is the queue's share of the RSS table, 0..1; unknown without a table.
	RSSWeight   float64
	RSSWeightOK bool
	// Steered: another RSS context or an ntuple rule sends here.
	Steered bool

	// TX.
	XPS          Mask  // xps_cpus; unknown where the file cannot be read (one TX queue)
	XPSRXQueues  []int // xps_rxqs, RX queue numbers
	TrafficClass int   // -1 if none
}

// Mapping is how a vector was found to serve its queue.
type Mapping uint8

// Mappings, most exact first.
const (
	MappedNone Mapping = iota
	MappedNetdev
	MappedName
	MappedHWIRQ
)

// String returns the label value: "none", "netdev-genl", "name" or "hwirq".
func (m Mapping) String() string {
	return [...]string{"none", "netdev-genl", "name", "hwirq"}[m]
}

// Role of a vector.
type Role uint8

// Roles. Control vectors carry link, mailbox and event interrupts, no traffic.
const (
	RoleOther Role = iota
	RoleControl
	RoleRX
	RoleTX
	RoleCombined
)

// String returns the JSON value of the role.
func (r Role) String() string {
	return [...]string{"other", "control", "rx", "tx", "combined"}[r]
}

// Vector is one interrupt of a device.
type Vector struct {
	ID     int // index in Inventory.Vectors
	Device int // index in Inventory.Devices
	IRQ    int
	Role   Role
	// Queue is the queue number the vector is counted under (the lowest it
	// serves); -1 for control, spare and unmapped vectors.
	Queue int
	// RX and TX are the queue numbers it serves.
	RX, TX  []int
	Mapping Mapping
	// Unmapped says why a vector that should have a queue has none: a reason
	// of a closed set, "" otherwise.
	Unmapped Reason

	Chip, HWIRQ string
	Actions     []string // action names; more than one: a shared line
	Shared      bool     // another device or driver uses the line too

	Affinity  Mask // smp_affinity: the intent, shows a pending move
	Effective Mask // effective_affinity: where it is programmed
	Hint      Mask
	Node      int      // NUMA node of the descriptor, -1 unknown
	ReadOnly  bool     // smp_affinity is not writable (mode 0444, Linux 6.12 on)
	Base      []uint32 // per_cpu_count by CPU id, read where some CPU is offline; else nil
}

// Carries reports whether the vector serves a queue that is there now. Spare
// vectors, which some drivers hold for channels beyond the current ones, do not.
func (v *Vector) Carries() bool { return len(v.RX)+len(v.TX) > 0 }
