package advisor

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
)

// ErrNotThere is wrapped by Resolve where a change's device, queue or vector is
// not on this machine.
var ErrNotThere = errors.New("not there")

// Current is the value a change would replace, in the form of its kind, as the
// Inventory has it; false where it is unknown or the Inventory does not hold the
// kind.
func Current(inv *host.Inventory, c *Change) (string, bool) {
	switch c.Kind {
	case host.IRQAffinity:
		if v := vectorOf(inv, c); v != nil {
			return v.Affinity.Set.String(), v.Affinity.OK
		}
	case host.RPSCPUs:
		if q := queueOf(inv, c); q != nil {
			return q.RPS.Set.String(), q.RPS.OK
		}
	case host.XPSCPUs:
		if q := queueOf(inv, c); q != nil {
			return q.XPS.Set.String(), q.XPS.OK
		}
	case host.RPSFlowCnt:
		if q := queueOf(inv, c); q != nil {
			return count(q.FlowEntries)
		}
	case host.RPSSockFlowEntries:
		return count(inv.Sysctls.RPSSockFlowEntries)
	case host.NetdevMaxBacklog:
		return count(inv.Sysctls.NetdevMaxBacklog)
	case host.NetdevBudget:
		packets, usecs := inv.Sysctls.NetdevBudget, inv.Sysctls.NetdevBudgetUsecs
		return fmt.Sprintf("packets=%d usecs=%d", packets.N, usecs.N), packets.OK && usecs.OK
	}
	return "", false
}

func count(n host.Count) (string, bool) { return strconv.FormatUint(n.N, 10), n.OK }

// Resolve ties a change of a plan file to this machine: it fills target and
// current value. It refuses a device, queue or vector that is not there
// (ErrNotThere), CPUs beyond the machine's, and masks without an online CPU
// where one is needed.
func Resolve(inv *host.Inventory, c Change) (Change, error) {
	c.Stage = stageOf(c.Kind)
	if c.Device != "" && inv.Device(c.Device) == nil {
		return c, fmt.Errorf("%s: device %q is %w", c.name(), c.Device, ErrNotThere)
	}
	switch c.Kind {
	case host.IRQAffinity:
		if vectorOf(inv, &c) == nil {
			return c, fmt.Errorf("%s: the vector is %w", c.name(), ErrNotThere)
		}
	case host.RPSCPUs, host.RPSFlowCnt, host.XPSCPUs:
		if queueOf(inv, &c) == nil {
			return c, fmt.Errorf("%s: the queue is %w", c.name(), ErrNotThere)
		}
	}
	if isMask(c.Kind) {
		set, err := cpuset.ParseList(c.Proposed)
		if err != nil {
			return c, fmt.Errorf("%s: proposed: %w", c.name(), err)
		}
		if n := inv.CPUs.NumIDs(); set.Last() >= n {
			return c, fmt.Errorf("%s: CPU %d is beyond this machine's CPUs 0-%d", c.name(), set.Last(), n-1)
		}
		if c.Kind == host.IRQAffinity && !set.Overlaps(inv.CPUs.Online) {
			return c, fmt.Errorf("%s: none of the CPUs %s is online", c.name(), set)
		}
		c.CPUs = set.Slice()
	}
	c.Target, c.Current = target(inv, &c), nil
	if now, ok := Current(inv, &c); ok {
		c.Current = &now
	}
	return c, nil
}
