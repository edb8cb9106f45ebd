package host

import "time"

// Sample is one reading of the counters, in the order of any Inventory of the
// same Shape. Slices are reused from reading to reading.
type Sample struct {
	Shape uint64
	Time  time.Time // begin of the reading, with the monotonic clock

	// Times at which each file was read; the zero time: it could not be.
	InterruptsTime, SoftirqsTime, SoftnetTime, StatTime time.Time

	// Cells holds the interrupt counts: Cells[v.ID*NumIDs + cpu] for vector v.
	// 32 bits as the kernel has them. A column of an offline CPU keeps its last
	// value.
	Cells []uint32
	// Sums holds each vector's count over all possible CPUs, in uint32
	// arithmetic as the kernel's own total.
	Sums []uint32
	// Present tells which vectors had a row: NIC down, some drivers free theirs.
	Present []bool

	// NetRX and NetTX are softirq runs by CPU id (possible CPUs).
	NetRX, NetTX []uint32
	Softnet      []Softnet  // by CPU id
	Ticks        []CPUTicks // by CPU id

	// IPOut counts the IP packets that this namespace's own sockets sent,
	// IPForwarded those it passed on (/proc/net/snmp, snmp6; v4 and v6 added).
	IPOut, IPForwarded Count

	Devices []DeviceCounters // by Device.ID
	Queues  []QueueCounters  // by Queue.ID
}

// Softnet is one CPU's row of /proc/net/softnet_stat. 32-bit counters.
type Softnet struct {
	Present bool // the CPU was online
	// Columns is the number of columns the kernel printed: ReceivedRPS needs 10,
	// FlowLimit 11, Backlog 13, the two lengths 15.
	Columns                                                 int
	Processed, Dropped, TimeSqueeze, ReceivedRPS, FlowLimit uint32
	Backlog, InputQlen, ProcessQlen                         uint32
}

// CPUTicks is one CPU's time by mode, in USER_HZ ticks (1/100 s), from
// /proc/stat. user includes guest, nice includes guest_nice.
type CPUTicks struct {
	Present                                                                 bool
	User, Nice, System, Idle, IOWait, IRQ, SoftIRQ, Steal, Guest, GuestNice uint64
}

// TicksPerSecond is USER_HZ, 100 on every architecture Linux has it exported on.
const TicksPerSecond = 100

// DeviceCounters are counters of a whole device.
type DeviceCounters struct {
	// QueuesTime is when the queue counters were read; zero: they could not be.
	QueuesTime time.Time
	RXMissed   Count // statistics/rx_missed_errors
	RXPackets  Count // statistics/rx_packets
	TXPackets  Count
}

// QueueCounters are one queue's counters.
type QueueCounters struct {
	Packets, Bytes, Drops Count
	ThreadTicks           Count // CPU time of the NAPI thread, USER_HZ
}
