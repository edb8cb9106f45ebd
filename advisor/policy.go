package advisor

import (
	"regexp"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/skew"
)

// Profile is how vectors, RPS and RFS are planned.
type Profile string

// Profiles. Both place on the NIC's node, a core each before siblings, siblings
// before sharing. They differ where CPUs differ in cpu_capacity: balanced takes
// fast CPUs for what it moves anyway and leaves what sits alone on a slow one;
// throughput moves that too. Latency and dedicated come later.
const (
	Balanced   Profile = "balanced"
	Throughput Profile = "throughput"
)

// Profiles lists the profiles that can be asked for.
var Profiles = []Profile{Balanced, Throughput}

// Policy is what an operator wants.
type Policy struct {
	Profile Profile
	// Leave: devices that are measured and never changed (--advisor.leave); an
	// anchored regexp, nil: none.
	Leave *regexp.Regexp
	// Devices, if not empty, are the only ones advised on. Placement still knows
	// of the others' vectors.
	Devices []string
	// ExcludeCPUs get no RPS (--advisor.exclude-cpus); that they get no vector is
	// in Facts.Allowed.
	ExcludeCPUs cpuset.Set
}

// Facts are what advice follows from. Rates may be nil: rules about settings
// need no traffic.
type Facts struct {
	Inventory *host.Inventory
	Rates     *skew.Rates
	Place     *skew.Place
	Allowed   skew.Allowed
	Degraded  []host.Degraded
}
