package host

import "github.com/netsteer/netsteer/cpuset"

// CPUs are the machine's CPUs. Possible, online, isolated and allowed CPUs are
// different sets; ids may have gaps.
type CPUs struct {
	Possible cpuset.Set
	Online   cpuset.Set

	// IsolatedBoot is isolcpus= (/sys/devices/system/cpu/isolated), NohzFull is
	// nohz_full=, IsolatedCpuset the union of cgroup v2 isolated partitions
	// (cpuset.cpus.isolated of the root, Linux 6.7; before, the partitions'
	// own files).
	IsolatedBoot, NohzFull, IsolatedCpuset cpuset.Set

	// DefaultIRQ is /proc/irq/default_smp_affinity.
	DefaultIRQ Mask

	// ByID is indexed by CPU id and as long as the highest possible id + 1
	// (nr_cpu_ids). A CPU that is offline or unknown has -1 in its fields.
	ByID []CPU
}

// Isolated is every CPU that the scheduler or a partition keeps free.
func (c *CPUs) Isolated() cpuset.Set {
	return c.IsolatedBoot.Union(c.NohzFull).Union(c.IsolatedCpuset)
}

// NumIDs is nr_cpu_ids: the width of every mask file.
func (c *CPUs) NumIDs() int { return len(c.ByID) }

// CPU is the place of one CPU in the machine. -1 is unknown.
type CPU struct {
	Node    int
	Package int // physical_package_id
	Core    int // lowest CPU id among its SMT siblings: unique in the machine
	Cache   int // lowest CPU id that shares its last-level cache
	// Capacity is cpu_capacity (1024 = the fastest), 0 where the kernel has none.
	Capacity int
}

// UnknownCPU is the place of a CPU that nothing is known of.
var UnknownCPU = CPU{Node: -1, Package: -1, Core: -1, Cache: -1}

// Distance is how far apart two CPUs are.
type Distance int

// Distances, by what the two CPUs share.
const (
	SameCPU Distance = iota
	SameCore
	SameCache
	SameNode
	Remote
)

// Distance returns how far apart two CPUs are. Unknown places share nothing
// but the whole machine when it has one node only.
func (c *CPUs) Distance(a, b int) Distance {
	if a == b {
		return SameCPU
	}
	if a < 0 || b < 0 || a >= len(c.ByID) || b >= len(c.ByID) {
		return Remote
	}
	x, y := c.ByID[a], c.ByID[b]
	switch {
	case x.Core >= 0 && x.Core == y.Core:
		return SameCore
	case x.Cache >= 0 && x.Cache == y.Cache:
		return SameCache
	case x.Node == y.Node:
		return SameNode
	}
	return Remote
}
