package scan

import (
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/netsteer/netsteer/host"
)

// Options say which devices are reported.
type Options struct {
	// Include and Exclude are anchored regexps over device names; nil: none.
	// Exclude wins.
	Include, Exclude *regexp.Regexp
	// Limit is the most devices reported, hardware first; 0: no limit.
	Limit int
	// Always names devices that are reported whatever else holds (--device).
	Always []string
	// NetlinkOff: --no-source.netlink.
	NetlinkOff bool
}

// Scanner reads one machine. Inventory may run beside Counters; two Inventories
// at once may not (one RTNL-taking call at a time).
type Scanner struct {
	machine Machine
	options Options

	generation atomic.Uint64
	shape      uint64
	shapeKey   string
	forgotten  map[string]int // ifindex of each device whose files are kept open
}

// New returns a Scanner.
func New(m Machine, o Options) *Scanner {
	return &Scanner{machine: m, options: o, forgotten: map[string]int{}}
}

// Inventory reads what there is and how it is set. It never fails: what cannot
// be read is in Degraded.
func (s *Scanner) Inventory() *host.Inventory {
	r := &reader{tree: s.machine.Tree, notes: &notes{}}
	rows := readRows(r)
	inv := &host.Inventory{
		Kernel: kernelRelease(r),
		BootID: r.text("proc/sys/kernel/random/boot_id"),
	}
	inv.CPUs, inv.Nodes = readCPUs(r, rows)
	inv.Sysctls = readSysctls(r)

	if s.machine.Rivals != nil {
		rivals, err := s.machine.Rivals()
		r.notes.add(host.SourceRivals, "", err)
		inv.Rivals = rivals
	}

	all, ignored := s.netdevs(r)
	inv.Ignored = ignored
	nd := s.netdev(r, all)
	for i := range all {
		s.addDevice(r, inv, all, &all[i], rows, nd)
	}
	slice(inv)
	inv.Degraded = r.notes.sorted()

	if key := shapeKey(inv, rows); key != s.shapeKey || s.shape == 0 {
		s.shapeKey = key
		s.shape++
	}
	inv.Generation, inv.Shape = s.generation.Add(1), s.shape
	return inv
}

// kernelRelease is uname -r; captures that lack it may have /proc/version,
// "Linux version 6.1.0-31-amd64 (...".
func kernelRelease(r *reader) string {
	if release := r.text("proc/sys/kernel/osrelease"); release != "" {
		return release
	}
	if words := strings.Fields(r.text("proc/version")); len(words) > 2 && words[1] == "version" {
		return words[2]
	}
	return ""
}

// slice points each device's queues and vectors into the flat slices, once
// these no longer grow.
func slice(inv *host.Inventory) {
	q, v := 0, 0
	for i := range inv.Devices {
		d := &inv.Devices[i]
		rx := q
		for q < len(inv.Queues) && inv.Queues[q].Device == i && inv.Queues[q].Direction == host.RX {
			q++
		}
		tx := q
		for q < len(inv.Queues) && inv.Queues[q].Device == i {
			q++
		}
		d.RX, d.TX = inv.Queues[rx:tx:tx], inv.Queues[tx:q:q]
		first := v
		for v < len(inv.Vectors) && inv.Vectors[v].Device == i {
			v++
		}
		d.Vectors = inv.Vectors[first:v:v]
	}
}

// netdev asks netdev-genl once for all devices. Kernels without it (before 6.8)
// have names as an equal fallback, so that its absence is not degraded.
func (s *Scanner) netdev(r *reader, all []netdev) Netdev {
	if s.machine.NICs == nil || !slices.ContainsFunc(all, func(d netdev) bool { return d.physical }) {
		return Netdev{}
	}
	nd, err := s.machine.NICs.Netdev()
	if err != nil && !unsupported(err) {
		r.notes.add(host.SourceNetdev, "", err)
	}
	return nd
}
