package scan

import (
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/procfile"
)

const cpuDir, nodeDir = "sys/devices/system/cpu", "sys/devices/system/node"

// readCPUs reads which CPUs there are and where they sit. Ids come from sysfs
// and from the headers of the proc files, never from a column's position.
func readCPUs(r *reader, rows *rowTable) (host.CPUs, []host.Node) {
	var c host.CPUs
	var err error
	if c.Online, err = r.list(cpuDir + "/online"); err != nil {
		r.notes.add(host.SourceTopology, "", err)
		c.Online = headerCPUs(rows.table.CPUs)
	}
	if c.Possible, err = r.list(cpuDir + "/possible"); err != nil {
		r.notes.add(host.SourceTopology, "", err)
		c.Possible = possibleFromSoftirqs(r)
	}
	c.Possible = c.Possible.Union(c.Online)

	// Absent files and the kernel's "(null)" both mean: none isolated.
	c.IsolatedBoot, _ = r.list(cpuDir + "/isolated")
	c.NohzFull, _ = r.list(cpuDir + "/nohz_full")
	c.IsolatedCpuset = isolatedPartitions(r)
	if mask, err := r.mask("proc/irq/default_smp_affinity"); err == nil {
		c.DefaultIRQ = host.KnownMask(mask)
	} else {
		r.notes.add(host.SourceIRQ, "", err)
	}

	c.ByID = make([]host.CPU, c.Possible.Last()+1)
	for i := range c.ByID {
		c.ByID[i] = host.UnknownCPU
	}
	for id := range c.Possible.All() {
		if c.Online.Contains(id) {
			c.ByID[id] = readCPU(r, id)
		}
	}
	return c, readNodes(r, c.ByID)
}

func headerCPUs(ids []int32) cpuset.Set {
	var b cpuset.Builder
	for _, id := range ids {
		b.Add(int(id))
	}
	return b.Set()
}

// possibleFromSoftirqs: unlike /proc/interrupts its header has the possible CPUs.
func possibleFromSoftirqs(r *reader) cpuset.Set {
	var t procfile.Softirqs
	if b, err := r.bytes("proc/softirqs"); err != nil || t.Parse(b) != nil {
		return cpuset.Set{}
	}
	return headerCPUs(t.CPUs)
}

// readCPU reads one CPU's place. The kernel's own core_id is unique in a
// package only, so that the lowest sibling names the core; likewise the cache.
func readCPU(r *reader, id int) host.CPU {
	dir := cpuDir + "/cpu" + strconv.Itoa(id)
	c := host.UnknownCPU
	c.Package = r.id(dir + "/topology/physical_package_id")
	siblings, err := r.list(dir + "/topology/core_cpus_list")
	if err != nil { // the name before 5.6, kept beside it since
		siblings, err = r.list(dir + "/topology/thread_siblings_list")
	}
	if err == nil {
		c.Core = siblings.First()
	} else {
		r.notes.add(host.SourceTopology, "", err)
	}
	c.Cache = lastLevelCache(r, dir+"/cache")
	if n, err := r.uint(dir + "/cpu_capacity"); err == nil {
		c.Capacity = int(n)
	}
	return c
}

// lastLevelCache returns the lowest CPU that shares the highest cache level.
func lastLevelCache(r *reader, dir string) int {
	best, first := -1, -1
	for _, e := range r.dir(dir) {
		if !strings.HasPrefix(e.Name(), "index") {
			continue
		}
		level := r.id(path.Join(dir, e.Name(), "level"))
		if level <= best {
			continue
		}
		if shared, err := r.list(path.Join(dir, e.Name(), "shared_cpu_list")); err == nil && !shared.IsEmpty() {
			best, first = level, shared.First()
		}
	}
	return first
}

// readNodes reads the NUMA nodes and notes each CPU's. A machine without the
// directory (CONFIG_NUMA off) is one node.
func readNodes(r *reader, cpus []host.CPU) []host.Node {
	var nodes []host.Node
	for _, e := range r.dir(nodeDir) {
		digits, ok := strings.CutPrefix(e.Name(), "node")
		id, err := strconv.Atoi(digits)
		if !ok || err != nil {
			continue
		}
		set, err := r.list(path.Join(nodeDir, e.Name(), "cpulist"))
		if err != nil {
			r.notes.add(host.SourceTopology, "", err)
			continue
		}
		nodes = append(nodes, host.Node{ID: id, CPUs: set})
		for c := range set.All() {
			if c < len(cpus) {
				cpus[c].Node = id
			}
		}
	}
	sortBy(nodes, func(n host.Node) int { return n.ID })
	return nodes
}

const cgroupDir = "sys/fs/cgroup"

// isolatedPartitions is the union of cgroup v2 isolated cpuset partitions. The
// root tells it since Linux 6.7 (kernel/cgroup/cpuset.c); before, a partition's
// parent is always a partition root, so that walking down these finds all.
func isolatedPartitions(r *reader) cpuset.Set {
	if set, err := r.list(cgroupDir + "/cpuset.cpus.isolated"); err == nil {
		return set
	}
	return walkPartitions(r, cgroupDir, 0)
}

func walkPartitions(r *reader, dir string, depth int) cpuset.Set {
	const deepest = 8 // no real hierarchy of partitions is deeper
	var found cpuset.Set
	if depth == deepest {
		return found
	}
	for _, e := range r.dir(dir) {
		if !e.IsDir() || e.Type()&fs.ModeSymlink != 0 {
			continue
		}
		sub := path.Join(dir, e.Name())
		switch r.text(sub + "/cpuset.cpus.partition") {
		case "isolated":
			set, _ := r.list(sub + "/cpuset.cpus.effective")
			found = found.Union(set)
		case "root":
			found = found.Union(walkPartitions(r, sub, depth+1))
		}
	}
	return found
}
