package apply

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/netsteer/netsteer/advisor"
	"github.com/netsteer/netsteer/host"
)

// order is the order of writing, by kind (design: affinity, RPS, RFS, XPS): RPS
// and XPS are planned for where the vectors are going to be.
var order = []host.Kind{
	host.IRQAffinity, host.NetdevMaxBacklog, host.RPSCPUs, host.RPSSockFlowEntries, host.RPSFlowCnt, host.XPSCPUs,
}

// later are the kinds that are known and cannot be applied.
var later = []host.Kind{
	host.NetdevBudget, host.KindChannels, host.KindRings, host.KindCoalesce, host.KindFeatures,
	host.RSSIndirection, host.RSSHashFields,
}

// hostWide are the kinds without a device.
var hostWide = []host.Kind{host.RPSSockFlowEntries, host.NetdevMaxBacklog}

// Kinds lists the kinds that can be applied, in the order of writing.
func Kinds() []host.Kind { return slices.Clone(order) }

// preflight looks at every change before anything is written, and refuses all of
// them for the first that cannot work. It returns them in the order of writing,
// each with the value it has now as Current, and with a result: NotTried for
// those to be written, else why they need not be.
func (e *Engine) preflight(inv *host.Inventory, r *Request) ([]Change, error) {
	changes := make([]Change, 0, len(r.Changes))
	seen := map[host.Setting]bool{}
	for i := range r.Changes {
		c := r.Changes[i] // a copy: the plan stays as it is
		if err := named(&c); err != nil {
			return nil, err
		}
		checked, err := e.check(inv, r, c)
		if err != nil {
			return nil, err
		}
		s := c.Setting()
		if seen[s] {
			return nil, refuse(WordRefused, "%s is in the plan twice", s)
		}
		seen[s] = true
		if c.Disruptive && !r.AllowDisruptive {
			return nil, refuse(WordRefused, "%s: the change is disruptive (link, vectors or tables are reset by it): allow it with --allow-disruptive or \"allow_disruptive\":true", s)
		}
		changes = append(changes, checked)
	}
	slices.SortStableFunc(changes, func(a, b Change) int {
		return cmp.Compare(slices.Index(order, a.Kind), slices.Index(order, b.Kind))
	})
	return changes, nil
}

// named makes sure that kind, device, direction and queue name one setting.
func named(c *advisor.Change) error {
	switch {
	case slices.Contains(later, c.Kind):
		return refuse(WordRefused, "%s: this kind cannot be applied; these can: %s", c.Kind, kindList())
	case !slices.Contains(order, c.Kind):
		return refuse(WordUnknownKind, "kind %q is not known; these can be applied: %s", clip(string(c.Kind)), kindList())
	case slices.Contains(hostWide, c.Kind):
		if c.Device != "" || c.Direction != "" || c.Queue != nil {
			return refuse(WordRefused, "%s is of the whole host: leave out device, direction and queue", c.Kind)
		}
		return nil
	case c.Device == "":
		return refuse(WordRefused, "%s: which device? \"device\" is missing", c.Kind)
	case c.Queue == nil || *c.Queue < 0:
		return refuse(WordRefused, "%s of %s: which queue? \"queue\" is missing or negative", c.Kind, clip(c.Device))
	}
	want := []string{"rx"}
	switch c.Kind {
	case host.IRQAffinity:
		want = []string{"rx", "tx", "combined"}
	case host.XPSCPUs:
		want = []string{"tx"}
	}
	if c.Direction == "" && len(want) == 1 {
		c.Direction = want[0] // the kind has no other
	}
	if !slices.Contains(want, c.Direction) {
		return refuse(WordRefused, "%s of %s: direction %q is not %s", c.Kind, clip(c.Device), clip(c.Direction), strings.Join(want, ", "))
	}
	return nil
}

func kindList() string {
	names := make([]string, len(order))
	for i, k := range order {
		names[i] = string(k)
	}
	return strings.Join(names, ", ")
}

// check is the preflight of one change.
func (e *Engine) check(inv *host.Inventory, r *Request, c advisor.Change) (Change, error) {
	s := c.Setting()
	out := Change{Change: c, Result: NotTried}
	if err := present(inv, c.Device); err != nil {
		var refused *Refused
		if r.SkipMissing && errors.As(err, &refused) && refused.Word == WordUnknownDevice {
			out.Error = &ChangeError{Code: CodeGone, Detail: refused.Detail}
			return out, nil
		}
		return out, err
	}
	proposed, err := valid(inv, c.Kind, c.Proposed)
	if err != nil {
		return out, refuse(WordRefused, "%s: %w", s, err)
	}
	out.Proposed = string(proposed)
	now, err := e.o.Setter.Get(s)
	if err == nil && now != proposed {
		err = e.o.Setter.Check(s, proposed)
	}
	if errors.Is(err, fs.ErrNotExist) && r.SkipMissing {
		out.Error = changeError(c.Kind, err)
		return out, nil
	}
	if err != nil {
		return out, cannotWrite(s, err)
	}
	if r.Fingerprint != "" && c.Current != nil && !sameValue(c.Kind, host.Value(*c.Current), now) {
		return out, refuse(WordPlanChanged, "%s holds %q, and the plan says %q: ask for a new plan", s, now, *c.Current)
	}
	out.Current = new(string(now))
	switch {
	case now == proposed, !isSet(c.Kind) && holds(c.Kind, proposed, now):
		out.Result = Unchanged
	case c.Kind == host.IRQAffinity && !r.AllowRival:
		if r, v := rivalOf(inv, s); r != nil {
			out.Result, out.Error = Rival, rivalError(r, v)
		}
	}
	return out, nil
}

// present finds the device, and refuses one that is seen through two network
// namespaces: what is known of it may be another's.
func present(inv *host.Inventory, device string) error {
	if device == "" {
		return nil
	}
	if inv.Device(device) == nil {
		return refuse(WordUnknownDevice, "no device %q is reported here", clip(device))
	}
	for _, d := range inv.Degraded {
		if d.Device == device && d.Reason == host.ReasonOtherNamespace {
			return refuse(WordRefused, "%s: netlink answers for another network namespace than --path.sysfs shows: nothing is applied there", device)
		}
	}
	return nil
}

// cannotWrite refuses because a target cannot be read or written.
func cannotWrite(s host.Setting, err error) *Refused {
	switch codeOf(s.Kind, err) {
	case CodeNotPrivileged:
		return refuse(WordNotPrivileged, "%s: %w: run as root with CAP_NET_ADMIN, where /proc and /sys are mounted writable", s, err)
	case CodeGone:
		return refuse(WordRefused, "%s is not there: %w", s, err)
	case CodeUnmovable:
		return refuse(WordRefused, "%s: the kernel does not let this vector move: %w", s, err)
	}
	return refuse(WordRefused, "%s: %w", s, err)
}
