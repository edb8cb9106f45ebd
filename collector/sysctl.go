package collector

import (
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/watch"
)

var (
	sysctlGroup = &group{"sysctl"}

	rpsSockFlowEntries = sysctlGroup.gauge("rps_sock_flow_entries",
		"net.core.rps_sock_flow_entries, entries of the global socket flow table. 0: RFS is off. Absent outside the first network namespace.")
	netdevMaxBacklog = sysctlGroup.gauge("netdev_max_backlog",
		"net.core.netdev_max_backlog, packets a CPU's backlog may hold. Absent outside the first network namespace.")
	netdevBudget = sysctlGroup.gauge("netdev_budget",
		"net.core.netdev_budget, packets one NET_RX run may take. Absent outside the first network namespace.")
	netdevBudgetSeconds = sysctlGroup.gauge("netdev_budget_seconds",
		"net.core.netdev_budget_usecs, time one NET_RX run may take. Absent outside the first network namespace.")
)

var sysctlCollector = collector{
	group:   sysctlGroup,
	sources: []host.Source{host.SourceSysctl},
	emit:    emitSysctl,
}

func emitSysctl(st *watch.State, s *sink) {
	sysctls := &st.Inventory.Sysctls
	s.count(rpsSockFlowEntries, sysctls.RPSSockFlowEntries)
	s.count(netdevMaxBacklog, sysctls.NetdevMaxBacklog)
	s.count(netdevBudget, sysctls.NetdevBudget)
	if sysctls.NetdevBudgetUsecs.OK {
		s.add(netdevBudgetSeconds, float64(sysctls.NetdevBudgetUsecs.N)/1e6)
	}
}
