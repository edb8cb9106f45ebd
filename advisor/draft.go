package advisor

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
)

// draft collects findings and changes while rules run; ids come last.
type draft struct {
	*view
	findings []draftFinding
	changes  []Change
}

// draftFinding names the changes that mend it by what they set.
type draftFinding struct {
	Finding
	mends map[host.Setting]bool
}

// find adds a finding of a rule, with the rule's severity unless f has one.
func (d *draft) find(rule string, f Finding, mends ...host.Setting) {
	r := ruleByID[rule]
	f.Rule, f.Reference = rule, r.Reference
	f.Severity = cmp.Or(f.Severity, r.Severity)
	f.Remedy = cmp.Or(f.Remedy, r.Remedy)
	slices.Sort(f.Queues)
	f.Queues = slices.Compact(f.Queues)
	set := make(map[host.Setting]bool, len(mends))
	for _, s := range mends {
		set[s] = true
	}
	d.findings = append(d.findings, draftFinding{f, set})
}

// propose adds a change of a CPU set.
func (d *draft) propose(c Change, current host.Mask, proposed cpuset.Set) host.Setting {
	if current.OK {
		text := current.Set.String()
		c.Current = &text
	}
	c.Proposed, c.CPUs = proposed.String(), proposed.Slice()
	c.Stage = Steering
	c.Target = target(d.Inventory, &c)
	d.changes = append(d.changes, c)
	return c.Setting()
}

// finish orders and numbers the changes, and joins findings to them.
func (d *draft) finish(a *Advice) {
	order := map[string]int{}
	for i := range d.Inventory.Devices {
		order[d.Inventory.Devices[i].Name] = i + 1
	}
	sortChanges(d.changes, order)
	for i := range d.changes {
		d.changes[i].ID = "c" + strconv.Itoa(i+1)
	}
	slices.SortStableFunc(d.findings, func(x, y draftFinding) int {
		return cmp.Or(cmp.Compare(x.Severity.rank(), y.Severity.rank()),
			cmp.Compare(ruleByID[x.Rule].order, ruleByID[y.Rule].order), cmp.Compare(order[x.Device], order[y.Device]))
	})
	for _, f := range d.findings {
		for i := range d.changes {
			if f.mends[d.changes[i].Setting()] {
				f.Changes = append(f.Changes, d.changes[i].ID)
			}
		}
		a.Findings = append(a.Findings, f.Finding)
	}
	a.Changes = append(a.Changes, d.changes...)
}

// rank orders severities, worst first.
func (s Severity) rank() int {
	return slices.Index([]Severity{Critical, Warning, Info}, s)
}

// kindOrder is the order of changes: structure in the order it is written, then
// affinity, RPS, RFS, XPS.
var kindOrder = []host.Kind{
	host.KindChannels, host.KindRings, host.RSSIndirection, host.RSSHashFields, host.KindFeatures, host.KindCoalesce,
	host.IRQAffinity, host.RPSCPUs, host.RPSFlowCnt, host.XPSCPUs,
	host.RPSSockFlowEntries, host.NetdevMaxBacklog, host.NetdevBudget,
}

func sortChanges(changes []Change, device map[string]int) {
	slices.SortStableFunc(changes, func(a, b Change) int {
		return cmp.Or(
			cmp.Compare(slices.Index(kindOrder, a.Kind), slices.Index(kindOrder, b.Kind)),
			cmp.Compare(device[a.Device], device[b.Device]),
			cmp.Compare(a.queue(), b.queue()),
			cmp.Compare(a.Setting().Direction, b.Setting().Direction),
		)
	})
}

// queue is the queue number, -1 where the kind has none.
func (c *Change) queue() int {
	if c.Queue == nil {
		return -1
	}
	return *c.Queue
}
