package collector

import (
	"strconv"

	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/skew"
	"github.com/netsteer/netsteer/watch"
)

var (
	cpuGroup = &group{"cpu"}

	cpuInfo = cpuGroup.gauge("cpu_info",
		"Place of an online CPU: NUMA node, package, core and last-level cache (both named by their lowest CPU), empty if unknown; isolated by isolcpus, nohz_full or a cpuset partition. Always 1.",
		"cpu", "node", "package", "core", "cache", "isolated")
	cpuTime = cpuGroup.counter("cpu_time_seconds_total",
		"CPU time by mode from /proc/stat. busy is all but idle, iowait and steal, and so includes irq and softirq.",
		"cpu", "mode")
	allowedCPUs = cpuGroup.gauge("allowed_cpus",
		"CPUs that a plan may give interrupts and RPS to.")
	withheldCPUs = cpuGroup.gauge("withheld_cpus",
		"Online CPUs that a plan may not use, each under the first reason that holds.",
		"reason")
)

var cpuCollector = collector{
	group:   cpuGroup,
	sources: []host.Source{host.SourceStat, host.SourceTopology},
	emit:    emitCPU,
}

func emitCPU(st *watch.State, s *sink) {
	cpus := &st.Inventory.CPUs
	for id := range cpus.ByID {
		if !cpus.Online.Contains(id) {
			continue
		}
		place := &cpus.ByID[id]
		isolated := cpus.IsolatedBoot.Contains(id) || cpus.NohzFull.Contains(id) || cpus.IsolatedCpuset.Contains(id)
		s.add(cpuInfo, 1, decimal(id), decimal(place.Node), decimal(place.Package),
			decimal(place.Core), decimal(place.Cache), strconv.FormatBool(isolated))
	}

	if !st.Failed[host.SourceStat] && !st.Sample.StatTime.IsZero() {
		for id := range st.Sample.Ticks {
			t := &st.Sample.Ticks[id]
			if !t.Present {
				continue
			}
			cpu := decimal(id)
			s.add(cpuTime, seconds(t.IRQ), cpu, "irq")
			s.add(cpuTime, seconds(t.SoftIRQ), cpu, "softirq")
			// user and nice already include guest and guest_nice.
			s.add(cpuTime, seconds(t.User+t.Nice+t.System+t.IRQ+t.SoftIRQ), cpu, "busy")
		}
	}

	s.add(allowedCPUs, float64(st.Allowed.CPUs.Len()))
	for _, reason := range skew.WithheldReasons {
		s.add(withheldCPUs, float64(st.Allowed.Withheld[reason]), string(reason))
	}
}

// seconds turns USER_HZ ticks into seconds.
func seconds(ticks uint64) float64 { return float64(ticks) / host.TicksPerSecond }
