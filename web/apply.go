package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/netsteer/netsteer/advisor"
	"github.com/netsteer/netsteer/apply"
	"github.com/netsteer/netsteer/host"
)

// ApplyBody is the body of POST /apply. What is left out has its default: all
// devices, the kinds of advisor.Select's default, the server's profile.
type ApplyBody struct {
	// Fingerprint of a plan that was given out: that plan is applied, provided
	// that each selected setting still is as the plan says.
	Fingerprint     string      `json:"fingerprint,omitempty"`
	Devices         []string    `json:"devices,omitempty"`
	Kinds           []host.Kind `json:"kinds,omitempty"`
	Profile         string      `json:"profile,omitempty"`
	AllowDisruptive bool        `json:"allow_disruptive,omitempty"`
	AllowRival      bool        `json:"allow_rival,omitempty"`
	ConfirmSeconds  int         `json:"confirm_seconds,omitempty"`
	DryRun          bool        `json:"dry_run,omitempty"`
	VerifySeconds   int         `json:"verify_seconds,omitempty"`
}

func (b *ApplyBody) keys() map[string]any {
	return map[string]any{
		"fingerprint": &b.Fingerprint, "devices": &b.Devices, "kinds": &b.Kinds, "profile": &b.Profile,
		"allow_disruptive": &b.AllowDisruptive, "allow_rival": &b.AllowRival, "confirm_seconds": &b.ConfirmSeconds,
		"dry_run": &b.DryRun, "verify_seconds": &b.VerifySeconds,
	}
}

// ApplyAnswer is the answer of POST /apply: the transaction, and the body that
// would apply what it left out.
type ApplyAnswer struct {
	*apply.Transaction
	LeftBody *ApplyBody `json:"left_body,omitempty"`
}

// apply plans anew, or takes the plan of the fingerprint, and applies what the
// body selects of it.
func (h *Handler) apply(w http.ResponseWriter, r *http.Request, actor string) {
	var body ApplyBody
	if p := readBody(w, r, body.keys()); p != nil {
		h.refuse(w, p)
		return
	}
	if p := body.check(); p != nil {
		h.refuse(w, p)
		return
	}
	profile, err := h.profile(body.Profile)
	if err != nil {
		h.refuse(w, problem(string(apply.WordRefused), err.Error()))
		return
	}
	plan, p := h.choosePlan(r.Context(), &body, profile)
	if p != nil {
		h.refuse(w, p)
		return
	}
	selected, left, err := advisor.Select(plan, advisor.Selection{Devices: body.Devices, Kinds: body.Kinds, AllowDisruptive: body.AllowDisruptive})
	if err != nil {
		h.refuse(w, problem(selectionWord(err), err.Error()))
		return
	}
	request := apply.Request{
		Advice: plan, Changes: selected, Left: ids(left), Actor: actor,
		DryRun: body.DryRun, AllowDisruptive: body.AllowDisruptive, AllowRival: body.AllowRival,
		Fingerprint: plan.Fingerprint, // what changes between plan and write makes it another plan
	}
	h.transact(w, r, actor, func(ctx context.Context) (any, *Problem) {
		t, err := h.o.Engine.Apply(ctx, request)
		if word := refusalWord(err); word == string(apply.WordPlanChanged) {
			return nil, h.planChanged(ctx, profile, err.Error())
		} else if err != nil {
			return nil, problem(word, err.Error())
		}
		h.settled(t)
		if p := failure(t); p != nil {
			return nil, p
		}
		return ApplyAnswer{t, body.left(left)}, nil
	})
}

// check refuses what can be refused without looking at the machine.
func (b *ApplyBody) check() *Problem {
	switch {
	case b.Devices != nil && len(b.Devices) == 0:
		return problem(problemBadRequest, `"devices" is an empty list; leave the key out for all devices`)
	case b.Kinds != nil && len(b.Kinds) == 0:
		return problem(problemBadRequest, `"kinds" is an empty list; leave the key out for the default`)
	case b.ConfirmSeconds < 0 || b.VerifySeconds < 0:
		return problem(problemBadRequest, "a number of seconds is negative")
	case b.ConfirmSeconds > 0:
		return problem(string(apply.WordRefused), `"confirm_seconds" is not there yet: leave it out`)
	case b.VerifySeconds > 0:
		return problem(string(apply.WordRefused), `"verify_seconds" is not there yet: leave it out`)
	}
	return nil
}

// choosePlan returns the plan of the body's fingerprint, or that of now.
func (h *Handler) choosePlan(ctx context.Context, body *ApplyBody, profile advisor.Profile) (*advisor.Advice, *Problem) {
	remembered := h.plans.find(body.Fingerprint)
	now, inv, p := h.plan(ctx, profile, nil, 0)
	if p != nil {
		return nil, p
	}
	if p := checkDevices(body.Devices, inv); p != nil {
		return nil, p
	}
	switch {
	case body.Fingerprint == "" || body.Fingerprint == now.Fingerprint:
		return now, nil
	case remembered != nil:
		return remembered, nil
	}
	changed := problem(string(apply.WordPlanChanged), fmt.Sprintf("the plan %s is neither that of now nor among the last %d given out: read the new one", shorten(body.Fingerprint), keptPlans))
	changed.Advice = now
	return nil, changed
}

// planChanged answers with the plan as it is now.
func (h *Handler) planChanged(ctx context.Context, profile advisor.Profile, detail string) *Problem {
	changed := problem(string(apply.WordPlanChanged), detail)
	changed.Advice, _, _ = h.plan(ctx, profile, nil, 0)
	return changed
}

// left is the body that would apply the changes that were left out; nil: there
// are none.
func (b *ApplyBody) left(changes []advisor.Change) *ApplyBody {
	if len(changes) == 0 {
		return nil
	}
	next := &ApplyBody{Profile: b.Profile, AllowRival: b.AllowRival}
	hostWide := false
	for i := range changes {
		c := &changes[i]
		next.Kinds = append(next.Kinds, c.Kind)
		next.AllowDisruptive = next.AllowDisruptive || c.Disruptive
		if c.Device == "" {
			hostWide = true
		} else {
			next.Devices = append(next.Devices, c.Device)
		}
	}
	if hostWide { // no apply that names devices changes the whole host
		next.Devices = nil
	}
	next.Kinds, next.Devices = sortedSet(next.Kinds), sortedSet(next.Devices)
	return next
}

func sortedSet[T ~string](list []T) []T {
	slices.Sort(list)
	return slices.Compact(list)
}

func ids(changes []advisor.Change) []string {
	var out []string
	for i := range changes {
		out = append(out, changes[i].ID)
	}
	return out
}

func selectionWord(err error) string {
	switch {
	case errors.Is(err, advisor.ErrUnknownDevice):
		return string(apply.WordUnknownDevice)
	case errors.Is(err, advisor.ErrUnknownKind):
		return string(apply.WordUnknownKind)
	}
	return string(apply.WordRefused)
}
