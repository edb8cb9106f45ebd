package web

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"github.com/netsteer/netsteer/advisor"
	"github.com/netsteer/netsteer/host"
)

//go:embed landing.css
var landingCSS string

//go:embed landing.html
var landingHTML string

var landingTemplate = template.Must(template.New("landing").Parse(landingHTML))

// contentSecurityPolicy lets a page do nothing but show itself and its own
// style, named by hash: no script, no frame, nothing from elsewhere.
var contentSecurityPolicy = "default-src 'none'; style-src 'sha256-" + hash(landingCSS) +
	"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(sum[:])
}

type landingPage struct {
	CSS         template.CSS
	Version     string
	MetricsPath string
	Kernel      string
	Verdict     string
	Ready       bool
	Devices     []landingDevice
	Findings    []advisor.Finding
	Changes     []landingChange
	Degraded    []host.Degraded // what hides settings or counters of the whole host
	// How tells what writes the plan; Curl is the line, "" where there is none.
	How, Curl string
}

type landingDevice struct {
	Name, Driver, Lower, Cause string
	RX, TX                     int
}

type landingChange struct{ ID, What, Now, Proposed, Reason string }

// landing shows the last Sample's plan, without reading anything.
func (h *Handler) landing(w http.ResponseWriter, r *http.Request) {
	page := landingPage{
		CSS:         template.CSS(landingCSS), //nolint:gosec // a file of ours
		Version:     h.o.Version,
		MetricsPath: h.o.MetricsPath,
		Verdict:     "The first inventory is not read yet.",
	}
	if state, release, err := h.o.Watcher.Latest(); err == nil {
		page.Ready, page.Kernel = true, state.Inventory.Kernel
		page.Devices = landingDevices(state.Inventory, state.Advice)
		if plan := state.Advice; plan != nil {
			page.Degraded = blindSpots(state.Degraded)
			page.Verdict = verdict(plan, len(page.Devices), len(page.Degraded) > 0)
			page.Findings, page.Changes = plan.Findings, landingChanges(plan)
			page.How, page.Curl = h.ritual(r)
		}
		release()
	}
	var out bytes.Buffer
	if err := landingTemplate.Execute(&out, page); err != nil {
		problem(problemInternal, err.Error()).write(w)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = out.WriteTo(w) // the client may be gone
}

// blindSpots are the sources that could hide a fault: what is missing, not what
// is slow or what a driver never counts.
func blindSpots(all []host.Degraded) []host.Degraded {
	return slices.DeleteFunc(slices.Clone(all), func(d host.Degraded) bool {
		return d.Reason == host.ReasonNoCounters || d.Reason == host.ReasonSlow || d.Source == host.SourceRivals
	})
}

// verdict is the plan in one sentence; blind: some sources could not be read.
func verdict(plan *advisor.Advice, devices int, blind bool) string {
	if devices == 0 {
		return "No network device with queues here."
	}
	faulty := map[string]bool{}
	for i := range plan.Findings {
		if f := &plan.Findings[i]; f.Severity != advisor.Info {
			faulty[f.Device] = true
		}
	}
	switch {
	case len(faulty) == 0 && len(plan.Changes) == 0 && blind:
		return "Nothing to change is known, but not all could be read."
	case len(faulty) == 0 && len(plan.Changes) == 0:
		return "Nothing to change: no setting is known to be wrong."
	case len(faulty) == 0:
		return fmt.Sprintf("Nothing is wrong; %s would make it better.", some(len(plan.Changes), "change"))
	case faulty[""]:
		return fmt.Sprintf("The host is not set up well: %s proposed.", some(len(plan.Changes), "change"))
	}
	return fmt.Sprintf("%s of %d not set up well: %s proposed.", some(len(faulty), "device"), devices, some(len(plan.Changes), "change"))
}

func some(n int, what string) string {
	switch n {
	case 0:
		return "no " + what
	case 1:
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// ritual tells how the plan is written from here.
func (h *Handler) ritual(r *http.Request) (how, curl string) {
	rules, l := &h.o.Posts, listenerOf(r.Context())
	switch {
	case !rules.Enabled:
		return "This server only shows. One that writes, and the line that makes it do so, on this host:",
			"netsteer --web.enable-apply --web.listen-address=127.0.0.1:10420\ncurl -X POST localhost:10420/apply"
	case !l.Posts:
		return "POST /apply writes the plan, over another listener: " + strings.Join(rules.MovedTo, ", "), ""
	}
	scheme, user := "http", ""
	if r.TLS != nil {
		scheme = "https"
	}
	if name, _, ok := r.BasicAuth(); ok {
		user = "-u " + quote(name) + " "
	}
	return "This line writes the plan, and POST /rollback takes it back:",
		"curl -X POST " + user + quote(scheme+"://"+r.Host+"/apply")
}

// quote makes one word of a shell's command line of a text.
func quote(s string) string {
	safe := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("_-./:@", c)
	}
	if s != "" && strings.TrimFunc(s, safe) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func landingDevices(inv *host.Inventory, plan *advisor.Advice) []landingDevice {
	causes := map[string]string{}
	if plan != nil {
		for i := range plan.Devices {
			causes[plan.Devices[i].Device] = plan.Devices[i].Cause
		}
	}
	out := make([]landingDevice, 0, len(inv.Devices))
	for i := range inv.Devices {
		d := &inv.Devices[i]
		row := landingDevice{Name: d.Name, Driver: d.Driver, RX: len(d.RX), TX: len(d.TX), Cause: causes[d.Name]}
		for _, lower := range d.Lower {
			row.Lower += " " + lower
		}
		out = append(out, row)
	}
	return out
}

func landingChanges(plan *advisor.Advice) []landingChange {
	out := make([]landingChange, len(plan.Changes))
	for i := range plan.Changes {
		c := &plan.Changes[i]
		row := landingChange{ID: c.ID, What: c.Setting().String(), Now: "unknown", Proposed: orOff(c.Proposed), Reason: c.Reason}
		if c.Current != nil {
			row.Now = orOff(*c.Current)
		}
		out[i] = row
	}
	return out
}

// orOff is a value for people: the empty set switches off.
func orOff(value string) string {
	if value == "" {
		return "off"
	}
	return value
}
