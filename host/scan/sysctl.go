package scan

import "github.com/netsteer/netsteer/host"

const netCore = "proc/sys/net/core/"

// readSysctls reads /proc/sys/net/core. In a child network namespace, which has
// the folder and somaxconn in it, most do not apply: unknown, not 0, and not
// degraded either.
func readSysctls(r *reader) host.Sysctls {
	var s host.Sysctls
	child := r.exists(netCore+"somaxconn") && !r.exists(netCore+"netdev_budget")
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
			if !child {
				r.notes.add(host.SourceSysctl, "", err)
			}
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
