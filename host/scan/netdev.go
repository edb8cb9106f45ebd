package scan

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/netsteer/netsteer/host"
)

const netDir = "sys/class/net"

// netdev is a network device of the Tree before its settings are read.
type netdev struct {
	name    string
	dir     string // sys/devices/.../net/NAME
	parent  string // sys/devices/... of the parent device, "" if virtual
	ifindex int
	iflink  int
	rx, tx  []int // queue numbers in sysfs
	noDirs  bool  // queues/ is missing: a capture without it

	physical, stacked bool
	lower             []string
	netlink           bool // netlink and ioctl answer for this device
}

// netdevs lists the devices to report, sorted, and counts the others.
func (s *Scanner) netdevs(r *reader) ([]netdev, host.Ignored) {
	entries, err := fs.ReadDir(s.machine.Tree, netDir)
	if err != nil {
		r.notes.add(host.SourceSysfs, "", err)
	}
	var all []netdev
	var ignored host.Ignored
	for _, e := range entries {
		name := e.Name()
		if name == "lo" {
			continue
		}
		if !utf8.ValidString(name) { // no label, and no name in a Tree
			r.notes.say(host.SourceSysfs, "", host.ReasonMalformed, "the device name "+strconv.Quote(name)+" is not UTF-8")
			continue
		}
		d, ok := s.look(r, name)
		if !ok {
			continue
		}
		always := slices.Contains(s.options.Always, name)
		switch {
		case always:
		case s.options.Exclude != nil && s.options.Exclude.MatchString(name):
			ignored.Excluded++
			continue
		case s.options.Include != nil && s.options.Include.MatchString(name):
		case !d.physical && len(d.rx) <= 1 && len(d.tx) <= 1:
			ignored.SingleQueueVirtual++
			continue
		}
		all = append(all, d)
	}
	if s.options.Limit > 0 && len(all) > s.options.Limit {
		slices.SortStableFunc(all, func(a, b netdev) int { return s.rank(a) - s.rank(b) })
		ignored.OverLimit = len(all) - s.options.Limit
		all = all[:s.options.Limit]
	}
	slices.SortFunc(all, func(a, b netdev) int { return natural(a.name, b.name) })
	s.forget(r.tree, all)
	return all, ignored
}

// rank says who stays when there are too many: named, hardware, then others.
func (s *Scanner) rank(d netdev) int {
	switch {
	case slices.Contains(s.options.Always, d.name):
		return 0
	case d.physical:
		return 1
	}
	return 2
}

// forget closes files that were kept open for a device whose name now is
// another's, or nobody's.
func (s *Scanner) forget(tree Tree, all []netdev) {
	now := make(map[string]int, len(all))
	for _, d := range all {
		now[d.dir] = d.ifindex
	}
	for dir, ifindex := range s.forgotten {
		if now[dir] != ifindex {
			tree.Forget(dir)
		}
	}
	s.forgotten = now
}

// look reads what decides whether a device is reported. It is false for what
// is no device (bonding_masters) or just went away.
func (s *Scanner) look(r *reader, name string) (netdev, bool) {
	d := netdev{name: name, dir: resolve(r.tree, netDir, name)}
	d.ifindex = r.id(d.dir + "/ifindex")
	if d.ifindex <= 0 {
		return d, false
	}
	d.iflink = r.id(d.dir + "/iflink")
	d.parent = parentDir(r, d.dir)
	d.physical = d.parent != ""
	d.stacked, d.lower = lowers(r, d.dir)
	queues, err := fs.ReadDir(r.tree, d.dir+"/queues")
	d.noDirs = err != nil
	for _, q := range queues {
		if n, ok := queueNumber(q.Name(), "rx-"); ok {
			d.rx = append(d.rx, n)
		} else if n, ok := queueNumber(q.Name(), "tx-"); ok {
			d.tx = append(d.tx, n)
		}
	}
	slices.Sort(d.rx)
	slices.Sort(d.tx)
	d.netlink = s.machine.NICs != nil && s.machine.NICs.Same(name, d.ifindex, d.iflink)
	return d, true
}

func queueNumber(name, prefix string) (int, bool) {
	digits, ok := strings.CutPrefix(name, prefix)
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n >= 0
}

// resolve follows the links of class and bus folders one step; a fixture
// without links has the folder itself.
func resolve(tree Tree, dir, name string) string {
	target, err := tree.ReadLink(path.Join(dir, name))
	if err != nil {
		return path.Join(dir, name)
	}
	if path.IsAbs(target) {
		return path.Clean(target[1:])
	}
	return path.Join(dir, target)
}

// parentDir returns the folder of the device behind a netdev, "" for virtual
// ones. A capture may lack the link and still show the place in the path.
func parentDir(r *reader, dir string) string {
	if p := resolve(r.tree, dir, "device"); p != dir+"/device" {
		return p
	}
	if r.exists(dir + "/device") {
		return dir + "/device"
	}
	if up, ok := strings.CutSuffix(path.Dir(dir), "/net"); ok && strings.HasPrefix(up, "sys/devices/") && !strings.HasPrefix(up, "sys/devices/virtual") {
		return up
	}
	return ""
}

// lowers tells whether the device is stacked on others, and on which. Bonds and
// the like are stacked even while they have none.
func lowers(r *reader, dir string) (bool, []string) {
	var lower []string
	for _, e := range r.dir(dir) {
		if name, ok := strings.CutPrefix(e.Name(), "lower_"); ok {
			lower = append(lower, name)
		}
	}
	slices.SortFunc(lower, natural)
	for line := range strings.SplitSeq(r.text(dir+"/uevent"), "\n") {
		switch line {
		case "DEVTYPE=bond", "DEVTYPE=vlan", "DEVTYPE=bridge", "DEVTYPE=macvlan", "DEVTYPE=ipvlan", "DEVTYPE=team":
			return true, lower
		}
	}
	// Teams and failover devices say no type; a NIC has no device below it.
	return len(lower) > 0, lower
}

// upward returns the nearest folder from dir up that has the named file: a PCI
// function's files sit above the virtio device's folder.
func upward(r *reader, dir, name string) string {
	for strings.HasPrefix(dir, "sys/devices/") {
		if r.exists(path.Join(dir, name)) {
			return dir
		}
		dir = path.Dir(dir)
	}
	return ""
}

// natural compares names with numbers in them by value: eth2 before eth10.
func natural(a, b string) int {
	for a != "" && b != "" {
		x, restA, isA := leadingNumber(a)
		y, restB, isB := leadingNumber(b)
		if isA && isB {
			if x != y {
				return cmp.Compare(x, y)
			}
			a, b = restA, restB
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

func leadingNumber(s string) (n uint64, rest string, ok bool) {
	i := 0
	for i < len(s) && i < 18 && s[i] >= '0' && s[i] <= '9' {
		n = n*10 + uint64(s[i]-'0')
		i++
	}
	return n, s[i:], i > 0
}

func sortBy[T any](list []T, key func(T) int) {
	slices.SortFunc(list, func(a, b T) int { return cmp.Compare(key(a), key(b)) })
}
