package skew

import (
	"cmp"
	"slices"
	"time"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
)

// cpuRates fills the rates of all CPUs. Load is time: a saturated CPU polls, so
// that it takes fewer interrupts and runs NET_RX less often than an idle one.
func cpuRates(inv *host.Inventory, queues []QueueRates, at []location, first, last *host.Sample) []CPURates {
	cpus := make([]CPURates, inv.CPUs.NumIDs())
	sampled := tickSampled(last.Ticks)
	for c := range inv.CPUs.Online.All() {
		r := &cpus[c]
		r.BusyNet = busyNet(&inv.CPUs.ByID[c], first.Ticks[c], last.Ticks[c], between(first.StatTime, last.StatTime), sampled)
		if first.Softnet[c].Present && last.Softnet[c].Present {
			r.Processed = rate32(first.Softnet[c].Processed, last.Softnet[c].Processed, between(first.SoftnetTime, last.SoftnetTime))
		}
		r.NetRX = rate32(first.NetRX[c], last.NetRX[c], between(first.SoftirqsTime, last.SoftirqsTime))
	}
	addThreads(inv, cpus, first, last, sampled)
	addVectors(inv, cpus, first, last)
	addPackets(inv, cpus, queues, at)
	return cpus
}

// tickSampled: without CONFIG_IRQ_TIME_ACCOUNTING no tick ever falls into a
// hard interrupt, and the irq column stays 0 on every CPU.
func tickSampled(ticks []host.CPUTicks) bool {
	for i := range ticks {
		if ticks[i].IRQ > 0 {
			return false
		}
	}
	return true
}

// busyNet is the share of time a CPU spent on interrupts and softirqs, scaled by
// its capacity. Sampled softirq time is blind on a CPU that mostly idles; there
// all that is neither idle nor a user's counts. Stolen time is nobody's work.
func busyNet(cpu *host.CPU, a, b host.CPUTicks, elapsed time.Duration, sampled bool) Value {
	if !a.Present || !b.Present || elapsed <= 0 {
		return Value{}
	}
	all := elapsed.Seconds() * host.TicksPerSecond
	d := func(from, to uint64) float64 { return float64(delta64(from, to)) }
	idle := d(a.Idle, b.Idle) + d(a.IOWait, b.IOWait)
	busy := d(a.IRQ, b.IRQ) + d(a.SoftIRQ, b.SoftIRQ)
	if sampled && idle > all/2 {
		// user and nice hold guest and guest_nice.
		busy = all - idle - d(a.User, b.User) - d(a.Nice, b.Nice) - d(a.Steal, b.Steal)
	}
	share := min(max(busy/all, 0), 1)
	if cpu.Capacity > 0 {
		share *= float64(cpu.Capacity) / 1024
	}
	return known(share)
}

// addThreads adds the CPU time of NAPI threads that run on one core. Where
// sampled time was taken from what idle leaves, it holds them already.
func addThreads(inv *host.Inventory, cpus []CPURates, first, last *host.Sample, sampled bool) {
	for i := range inv.Queues {
		q := &inv.Queues[i]
		cpu := oneCore(&inv.CPUs, q.ThreadCPUs)
		if !q.Thread.OK || q.Direction != host.RX || cpu < 0 || cpu >= len(cpus) || !cpus[cpu].BusyNet.OK {
			continue
		}
		elapsed := between(first.StatTime, last.StatTime)
		t := rate(first.Queues[i].ThreadTicks, last.Queues[i].ThreadTicks, elapsed)
		idle := float64(delta64(first.Ticks[cpu].Idle, last.Ticks[cpu].Idle))
		if t.OK && !(sampled && idle > elapsed.Seconds()*host.TicksPerSecond/2) {
			cpus[cpu].BusyNet.V = min(cpus[cpu].BusyNet.V+t.V/host.TicksPerSecond, 1)
		}
	}
}

// addVectors charges each CPU with the NIC interrupts it took.
func addVectors(inv *host.Inventory, cpus []CPURates, first, last *host.Sample) {
	elapsed := between(first.InterruptsTime, last.InterruptsTime)
	if elapsed <= 0 {
		return
	}
	n := len(cpus)
	for c := range inv.CPUs.Online.All() {
		cpus[c].NICInterrupts.OK = true
	}
	for v := range inv.Vectors {
		if !first.Present[v] || !last.Present[v] || first.Sums[v] == last.Sums[v] {
			continue
		}
		for c := range n {
			cpus[c].NICInterrupts.V += float64(delta32(first.Cells[v*n+c], last.Cells[v*n+c])) / elapsed.Seconds()
		}
	}
}

// addPackets charges each CPU with the packets of the queues that run there.
// Unknown if any live queue's packets or place is.
func addPackets(inv *host.Inventory, cpus []CPURates, queues []QueueRates, at []location) {
	complete := false
	for i := range inv.Queues {
		q := &inv.Queues[i]
		if q.Vector < 0 || at[q.Vector].cpu < 0 || !queues[i].Packets.OK || at[q.Vector].cpu >= len(cpus) {
			continue
		}
		complete = true
		cpus[at[q.Vector].cpu].NICPackets.V += queues[i].Packets.V
	}
	for c := range inv.CPUs.Online.All() {
		cpus[c].NICPackets.OK = complete
	}
}

// shareLoad gives each queue its part of its CPU's network load, by packets.
func shareLoad(inv *host.Inventory, r *Rates, at []location) {
	for i := range inv.Queues {
		q := &inv.Queues[i]
		if q.Vector < 0 || !r.Queues[i].Packets.OK {
			continue
		}
		cpu := at[q.Vector].cpu
		if cpu < 0 || cpu >= len(r.CPUs) || !r.CPUs[cpu].BusyNet.OK || r.CPUs[cpu].NICPackets.V == 0 {
			continue
		}
		r.Queues[i].Load = known(r.CPUs[cpu].BusyNet.V * r.Queues[i].Packets.V / r.CPUs[cpu].NICPackets.V)
	}
}

// skewOfCPUs computes the skew over as many of the busiest allowed CPUs as
// could share the work: it can be 0 with fewer queues than CPUs.
func skewOfCPUs(inv *host.Inventory, r *Rates, at []location, allowed Allowed, o Options) [NumCPUSignals]Dispersion {
	var out [NumCPUSignals]Dispersion
	sharers := max(len(units(inv, r, at)), rpsCPUs(inv).Intersect(allowed.CPUs).Len())
	m := min(allowed.CPUs.Len(), sharers)
	if m < 2 || !enoughTraffic(inv, r, o) {
		return out
	}
	for s := range NumCPUSignals {
		out[s] = disperse(busiest(r.CPUs, allowed.CPUs, s, m))
	}
	return out
}

func enoughTraffic(inv *host.Inventory, r *Rates, o Options) bool {
	sum := 0.0
	for c := range inv.CPUs.Online.All() {
		sum += max(r.CPUs[c].NICPackets.V, r.CPUs[c].Processed.V)
	}
	return sum >= o.MinRate
}

func rpsCPUs(inv *host.Inventory) cpuset.Set {
	var s cpuset.Set
	for i := range inv.Queues {
		s = s.Union(inv.Queues[i].RPS.Set)
	}
	return s
}

// busiest returns the m highest values of a signal, or nil if one is unknown.
func busiest(cpus []CPURates, of cpuset.Set, s CPUSignal, m int) []float64 {
	values := make([]float64, 0, of.Len())
	for c := range of.All() {
		v := [...]Value{cpus[c].BusyNet, cpus[c].NICPackets, cpus[c].Processed, cpus[c].NetRX, cpus[c].NICInterrupts}[s]
		if !v.OK {
			return nil
		}
		values = append(values, v.V)
	}
	slices.SortFunc(values, func(a, b float64) int { return cmp.Compare(b, a) })
	return values[:m]
}
