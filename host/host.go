// Package host holds the nouns: what a Linux machine has in CPUs, network
// devices, queues and interrupt vectors and how they are set (Inventory), what
// their counters read (Sample), and what could not be read (Degraded). It opens
// no file, socket or clock.
package host

import (
	"time"

	"github.com/netsteer/netsteer/cpuset"
)

// Inventory is what there is and how it is set. It is immutable: scan makes a
// new one, with a higher Generation, when anything in it has changed.
//
// Shape is the part that counters hang on: which CPUs, devices, queues and
// vectors there are, channels and RSS. It rises only when one of these
// changes, not when a mask does: a host where irqbalance moves vectors every
// 10 s would otherwise never fill a window. Flat indices (CPU ids, Device.ID,
// Queue.ID, Vector.ID) are the order of every slice of a Sample of the same
// Shape.
type Inventory struct {
	Generation uint64
	Shape      uint64
	Time       time.Time
	Kernel     string // uname -r
	BootID     string // /proc/sys/kernel/random/boot_id, "" if unknown

	CPUs    CPUs
	Nodes   []Node
	Devices []Device // sorted by name, digits by value
	Queues  []Queue  // all devices' queues: each device's RX, then its TX
	Vectors []Vector // all devices' interrupt vectors, in device and IRQ order
	Ignored Ignored
	Sysctls Sysctls
	// Rivals holds every program netsteer knows that writes the same files,
	// running or not; nil where processes cannot be seen.
	Rivals []Rival

	// Degraded lists what could not be read when the Inventory was made.
	Degraded []Degraded
}

// Device returns the device of that name, or nil.
func (inv *Inventory) Device(name string) *Device {
	for i := range inv.Devices {
		if inv.Devices[i].Name == name {
			return &inv.Devices[i]
		}
	}
	return nil
}

// Node is one NUMA node.
type Node struct {
	ID   int
	CPUs cpuset.Set
}

// Ignored counts the network devices that are not reported, by reason.
type Ignored struct {
	SingleQueueVirtual, Excluded, OverLimit int
}

// Count is a number the kernel may not tell. The zero value is unknown.
type Count struct {
	N  uint64
	OK bool
}

// Known returns a Count that is known.
func Known(n uint64) Count { return Count{N: n, OK: true} }

// Mask is a CPU set the kernel may not tell. The zero value is unknown, which
// is not the empty set.
type Mask struct {
	Set cpuset.Set
	OK  bool
}

// KnownMask returns a Mask that is known.
func KnownMask(s cpuset.Set) Mask { return Mask{Set: s, OK: true} }

// Sysctls are the host-wide settings of /proc/sys/net/core. They exist in the
// first network namespace only: elsewhere each is unknown, not 0.
type Sysctls struct {
	RPSSockFlowEntries Count
	NetdevMaxBacklog   Count
	NetdevBudget       Count // packets
	NetdevBudgetUsecs  Count
	DevWeight          Count // packets
	RPSDefaultMask     Mask  // Linux 6.3 on
	FlowLimitCPUs      Mask
}
