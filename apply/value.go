package apply

import (
	"fmt"
	"math/bits"
	"strconv"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
)

// Bounds of numbers. The kernel has none for rps_flow_cnt (1000000000 really
// takes 12 GB, Linux 6.18) and takes a backlog of 0 or less, which drops
// everything; rps_sock_flow_entries ends at 1<<29 (rps_sock_flow_sysctl), which
// is 2 GiB. These are several times what scaling.rst of Linux 7.2 names for big
// hosts.
const (
	maxFlowCnt     = 1 << 16
	maxSockEntries = 1 << 24
	maxBacklog     = 1 << 20
)

// valid returns the value in canonical form, if this machine can hold it.
func valid(inv *host.Inventory, kind host.Kind, text string) (host.Value, error) {
	switch kind {
	case host.RPSFlowCnt:
		return number(text, 0, maxFlowCnt)
	case host.RPSSockFlowEntries:
		return number(text, 0, maxSockEntries)
	case host.NetdevMaxBacklog:
		return number(text, 1, maxBacklog)
	}
	set, err := cpuset.ParseList(text)
	if err != nil {
		return "", err
	}
	cpus := &inv.CPUs
	possible := cpus.Possible.Union(cpus.Online)
	switch {
	case set.IsEmpty() && kind == host.IRQAffinity:
		return "", fmt.Errorf("an interrupt needs a CPU, and the proposed set is empty")
	case !set.SubsetOf(possible):
		return "", fmt.Errorf("CPUs %s are beyond this machine's, which are %s", set.Minus(possible), possible)
	case !set.IsEmpty() && !set.Overlaps(cpus.Online):
		return "", fmt.Errorf("none of CPUs %s is online: %s are", set, cpus.Online)
	}
	return host.Value(set.String()), nil
}

func number(text string, low, high int) (host.Value, error) {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || int(n) < low || int(n) > high {
		return "", fmt.Errorf("%q is not a number from %d to %d", clip(text), low, high)
	}
	return host.Value(strconv.FormatUint(n, 10)), nil
}

// isSet reports whether the kind's values are CPU sets.
func isSet(kind host.Kind) bool {
	return kind == host.IRQAffinity || kind == host.RPSCPUs || kind == host.XPSCPUs
}

// sameValue compares by meaning: sets as sets.
func sameValue(kind host.Kind, a, b host.Value) bool {
	if a == b || !isSet(kind) {
		return a == b
	}
	x, errX := cpuset.ParseList(string(a))
	y, errY := cpuset.ParseList(string(b))
	return errX == nil && errY == nil && x == y
}

// holds reports whether stored is what the kernel makes of written. It stores
// smp_affinity as it is; takes CPUs that are offline out of RPS and XPS, and
// isolated ones out of RPS (store_rps_map, __netif_set_xps_queue); and rounds
// table sizes up to a power of two. An empty set is never what is left of
// another: that would be RPS switched off.
func holds(kind host.Kind, written, stored host.Value) bool {
	if sameValue(kind, written, stored) {
		return true
	}
	switch kind {
	case host.RPSCPUs, host.XPSCPUs:
		return stored != "" && trimmed(written, stored) != ""
	case host.RPSFlowCnt, host.RPSSockFlowEntries:
		n, err := strconv.ParseUint(string(written), 10, 32)
		return err == nil && n > 0 && string(stored) == strconv.FormatUint(1<<bits.Len64(n-1), 10)
	}
	return false
}

// trimmed is what the kernel took out of a written set; "" if that is nothing,
// or if it put something in.
func trimmed(written, stored host.Value) string {
	w, err := cpuset.ParseList(string(written))
	if err != nil {
		return ""
	}
	s, err := cpuset.ParseList(string(stored))
	if err != nil || !s.SubsetOf(w) {
		return ""
	}
	return w.Minus(s).String()
}
