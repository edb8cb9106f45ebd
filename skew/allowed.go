package skew

import (
	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
)

// Allow returns the CPUs a plan may use: the online ones, less the isolated,
// less those absent from default_smp_affinity unless that leaves none, less
// the operator's. IRQCPUs overrides all but being online. netsteer's own
// affinity and cpuset play no part.
func Allow(cpus *host.CPUs, o Options) Allowed {
	a := Allowed{CPUs: cpus.Online, Withheld: map[Withheld]int{}}
	if !o.IRQCPUs.IsEmpty() {
		a.withhold(WithheldExcluded, cpus.Online.Minus(o.IRQCPUs))
		return a
	}
	a.withhold(WithheldIsolated, cpus.IsolatedBoot)
	a.withhold(WithheldNohzFull, cpus.NohzFull)
	a.withhold(WithheldCpuset, cpus.IsolatedCpuset)
	if cpus.DefaultIRQ.OK && a.CPUs.Overlaps(cpus.DefaultIRQ.Set) {
		a.withhold(WithheldDefaultIRQ, cpus.Online.Minus(cpus.DefaultIRQ.Set))
	}
	a.withhold(WithheldExcluded, o.ExcludeCPUs)
	return a
}

func (a *Allowed) withhold(why Withheld, cpus cpuset.Set) {
	a.Withheld[why] += a.CPUs.Intersect(cpus).Len()
	a.CPUs = a.CPUs.Minus(cpus)
}
