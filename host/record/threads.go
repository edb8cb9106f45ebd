package record

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/scan"
)

var _ scan.Threads = threads{}

// threads reads recorded tasks, proc/PID/stat and proc/PID/status.
type threads struct{ tree scan.Tree }

// threaded reports whether a NAPI thread was recorded.
func (n *nics) threaded() bool {
	return n.settings.doc != nil && n.settings.doc.Netdev != nil &&
		slices.ContainsFunc(n.settings.doc.Netdev.NAPIs, func(p NetlinkNAPI) bool { return p.Thread != nil })
}

// Thread returns utime + stime in USER_HZ ticks, and Cpus_allowed_list.
func (t threads) Thread(pid int) (uint64, host.Mask, error) {
	dir := "proc/" + strconv.Itoa(pid)
	stat, err := t.tree.Read(nil, dir+"/stat")
	if err != nil {
		return 0, host.Mask{}, err
	}
	ticks, err := parseTaskTicks(stat)
	if err != nil {
		return 0, host.Mask{}, fmt.Errorf("%s/stat: %w", dir, err)
	}
	status, err := t.tree.Read(nil, dir+"/status")
	if err != nil {
		return ticks, host.Mask{}, err
	}
	return ticks, parseAllowed(status), nil
}

// parseTaskTicks reads fields 14 and 15 of /proc/PID/stat (fs/proc/array.c). The
// name, in parentheses, may hold anything, parentheses too.
func parseTaskTicks(text []byte) (uint64, error) {
	_, rest, _ := cutLast(string(text), ")")
	const utime, stime = 14 - 3, 15 - 3 // rest begins with field 3
	if f := strings.Fields(rest); len(f) > stime {
		u, ok := number(f[utime])
		s, ok2 := number(f[stime])
		if ok && ok2 {
			return u + s, nil
		}
	}
	return 0, fmt.Errorf("not a task's stat line: %.40q", text)
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// parseAllowed reads Cpus_allowed_list of /proc/PID/status.
func parseAllowed(text []byte) host.Mask {
	for line := range lines(text) {
		if list, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
			if set, err := cpuset.ParseList(list); err == nil {
				return host.KnownMask(set)
			}
		}
	}
	return host.Mask{}
}
