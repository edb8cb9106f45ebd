package web

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"net/http"

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
	Ready       bool
	Devices     []landingDevice
}

type landingDevice struct {
	Name, Driver, Lower string
	RX, TX              int
}

func landing(o Options) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		page := landingPage{
			CSS:         template.CSS(landingCSS), //nolint:gosec // a file of ours
			Version:     o.Version,
			MetricsPath: o.MetricsPath,
		}
		if state, release, err := o.Watcher.Latest(); err == nil {
			page.Ready, page.Kernel = true, state.Inventory.Kernel
			page.Devices = landingDevices(state.Inventory)
			release()
		}
		var out bytes.Buffer
		if err := landingTemplate.Execute(&out, page); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		_, _ = out.WriteTo(w) // the client may be gone
	}
}

func landingDevices(inv *host.Inventory) []landingDevice {
	out := make([]landingDevice, 0, len(inv.Devices))
	for i := range inv.Devices {
		d := &inv.Devices[i]
		row := landingDevice{Name: d.Name, Driver: d.Driver, RX: len(d.RX), TX: len(d.TX)}
		for _, lower := range d.Lower {
			row.Lower += " " + lower
		}
		out = append(out, row)
	}
	return out
}
