package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/netsteer/netsteer/advisor"
	"github.com/netsteer/netsteer/apply"
	"github.com/netsteer/netsteer/host"
)

// advice plans from the settings as they are now.
func (h *Handler) advice(w http.ResponseWriter, r *http.Request) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err == nil {
		err = checkQuery(query)
	}
	format := query.Get("format")
	if err == nil && !slices.Contains(adviceFormats, format) {
		err = fmt.Errorf("format=%s is not one of %s", shorten(format), strings.Join(adviceFormats[1:], ", "))
	}
	profile, profileErr := h.profile(query.Get("profile"))
	if err == nil {
		err = profileErr
	}
	if err != nil {
		problem(problemBadRequest, err.Error()).write(w)
		return
	}
	plan, inv, refusal := h.plan(r.Context(), profile, query["device"], adviceAge)
	if refusal != nil {
		refusal.write(w)
		return
	}
	switch format {
	case "text":
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_ = plan.Text(w) // the client may be gone
	case "shell":
		w.Header().Set("Cache-Control", "no-store")
		// The script reaches the state that a plain POST /apply reaches.
		selected, _, _ := advisor.Select(plan, advisor.Selection{}) // nothing is named that could be unknown
		writeText(w, advisor.Shell(plan, selected, inv.CPUs.NumIDs()))
	default:
		writeDocument(w, http.StatusOK, "application/json", plan)
	}
}

// adviceAge is how old settings may be in a plan that is only looked at: reading
// them takes RTNL, and everybody may ask.
const adviceAge = time.Second

var adviceFormats = []string{"", "json", "text", "shell"}

// checkQuery refuses what would be ignored: a mistyped device= is all devices.
func checkQuery(query url.Values) error {
	for name, values := range query {
		switch name {
		case "device":
		case "profile", "format":
			if len(values) > 1 {
				return fmt.Errorf("%s is given more than once", name)
			}
		default:
			return fmt.Errorf("unknown parameter %q; there are device, profile, format", shorten(name))
		}
	}
	return nil
}

// profile finds one by name; "" is the server's own.
func (h *Handler) profile(name string) (advisor.Profile, error) {
	if name == "" {
		return h.o.Policy.Profile, nil
	}
	if p := advisor.Profile(name); slices.Contains(advisor.Profiles, p) {
		return p, nil
	}
	names := make([]string, len(advisor.Profiles))
	for i, p := range advisor.Profiles {
		names[i] = string(p)
	}
	return "", fmt.Errorf("profile %q is not one of %s", shorten(name), strings.Join(names, ", "))
}

// plan makes a plan from settings that are at most so old, and remembers it.
func (h *Handler) plan(ctx context.Context, profile advisor.Profile, devices []string, maxAge time.Duration) (*advisor.Advice, *host.Inventory, *Problem) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	state, release, err := h.o.Watcher.Fresh(ctx, maxAge)
	if err != nil {
		return nil, nil, problem(problemNotReady, notReadyDetail)
	}
	defer release()
	inv := state.Inventory
	if p := checkDevices(devices, inv); p != nil {
		return nil, nil, p
	}
	policy := h.o.Policy
	policy.Profile, policy.Devices = profile, devices
	plan := advisor.Advise(state.Facts(), policy)
	h.plans.remember(plan)
	return plan, inv, nil
}

func checkDevices(names []string, inv *host.Inventory) *Problem {
	for _, name := range names {
		if d := inv.Device(name); d != nil && !d.Stacked {
			continue
		} else if d != nil {
			return problem(string(apply.WordUnknownDevice), fmt.Sprintf("%q has no queues of its own; name those below it: %s", name, strings.Join(d.Lower, ", ")))
		}
		there := "none is reported here"
		if len(inv.Devices) > 0 {
			known := make([]string, len(inv.Devices))
			for i := range inv.Devices {
				known[i] = inv.Devices[i].Name
			}
			there = "there are: " + strings.Join(known, ", ")
		}
		return problem(string(apply.WordUnknownDevice), fmt.Sprintf("no device %q; %s", shorten(name), there))
	}
	return nil
}
