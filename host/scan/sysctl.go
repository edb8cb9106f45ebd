package scan

import "github.com/netsteer/netsteer/host"

const netCore = "proc/sys/net/core/"

// readSysctls reads /proc/sys/net/core. In a child network namespace most are
// absent: unknown, not 0. One word for all of them is enough.
func readSysctls(r *reader) host.Sysctls {
	var s host.Sysctls
	for _, f := range []struct {
		name string
		to   *host.Count
	}{
		{"rps_sock_flow_entries", &s.RPSSockFlowEntries},
		{"netdev_max_backlog", &s.NetdevMaxBacklog},
		{"netdev_budget", &s.NetdevBudget},
		{"netdev_budget_usecs", &s.NetdevBudgetUsecs},
		{"dev_weight", &s.DevWeight},
	} {
		n, err := r.uint(netCore + f.name)
		if err != nil {
			r.notes.add(host.SourceSysctl, "", err)
			continue
		}
		*f.to = host.Known(n)
	}
	// Absent before 6.3, and without CONFIG_NET_FLOW_LIMIT.
	if m, err := r.mask(netCore + "rps_default_mask"); err == nil {
		s.RPSDefaultMask = host.KnownMask(m)
	}
	if m, err := r.mask(netCore + "flow_limit_cpu_bitmap"); err == nil {
		s.FlowLimitCPUs = host.KnownMask(m)
	}
	return s
}
