package record

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
)

// layout is all files of the capture, as they are read again.
func (t *Taking) layout() (memstore, error) {
	m := newMemstore()
	for _, book := range []*notebook{t.first, t.second} {
		if book == nil {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(book.files)) {
			if !m.put(name, &node{mode: book.files[name].mode, data: book.files[name].data}) && name != "." {
				return nil, fmt.Errorf("%s was a file and a folder", name)
			}
		}
		if doc := book.netlink(); doc != nil {
			text, err := doc.Encode()
			if err != nil {
				return nil, err
			}
			name := netlinkFile
			if book == t.second {
				name = t1Dir + "/netlink.json"
			}
			m.put(name, &node{mode: 0o444, data: text})
		}
	}
	doc := Capture{Schema: CaptureSchema, T0: t.t0.UTC().Round(0), Rivals: rivalsOf(t.rivals)}
	if t.rivalsErr != nil {
		doc.RivalsError = errorText(t.rivalsErr)
	}
	if t.second != nil {
		// The time between is the monotonic clock's: the other one may be set.
		doc.T1 = doc.T0.Add(t.t1.Sub(t.t0))
	}
	text, err := json.MarshalIndent(doc, "", " ")
	if err != nil {
		return nil, err
	}
	m.put(captureFile, &node{mode: 0o444, data: append(text, '\n')})
	return t.hide(m), nil
}

// macName is a device's name made of its MAC address, as systemd gives them to
// devices that have no better one (systemd.net-naming-scheme(7), "x").
var macName = regexp.MustCompile(`^[a-z]{2}x[0-9a-f]{12}$`)

// Hidden are the devices whose names hold a MAC address, and what the capture
// calls them instead. With addresses there are none.
func (t *Taking) Hidden() map[string]string {
	hidden := map[string]string{}
	if t.options.Addresses {
		return hidden
	}
	names := map[string]bool{}
	for name := range t.first.files {
		if part := name[strings.LastIndexByte(name, '/')+1:]; macName.MatchString(part) {
			names[part] = true
		}
	}
	for i, name := range slices.Sorted(maps.Keys(names)) {
		hidden[name] = fmt.Sprintf("%s%012d", name[:3], i+1) // as long, for tables
	}
	return hidden
}

// hide takes MAC addresses out of names, links and texts.
func (t *Taking) hide(m memstore) memstore {
	var pairs []string
	for name, instead := range t.Hidden() {
		pairs = append(pairs, name, instead)
	}
	if len(pairs) == 0 {
		return m
	}
	replacer, out := strings.NewReplacer(pairs...), newMemstore()
	for name, n := range m {
		out.put(replacer.Replace(name), &node{mode: n.mode, data: []byte(replacer.Replace(string(n.data)))})
	}
	return out
}

// CaptureRival is host.Rival in capture.json.
type CaptureRival struct {
	Name          string     `json:"name"`
	Active        bool       `json:"active"`
	Once          bool       `json:"once,omitempty"`
	BannedIRQs    []int      `json:"banned_irqs,omitempty"`
	BannedModules []string   `json:"banned_modules,omitempty"`
	BannedCPUs    cpuset.Set `json:"banned_cpus,omitzero"`
}

func rivalsOf(list []host.Rival) []CaptureRival {
	var out []CaptureRival
	for _, r := range list {
		out = append(out, CaptureRival{r.Name, r.Active, r.Once, r.BannedIRQs, r.BannedModules, r.BannedCPUs})
	}
	return out
}

func (c *Capture) rivals() ([]host.Rival, error) {
	if c.RivalsError != "" {
		return nil, errorOf(c.RivalsError)
	}
	var out []host.Rival
	for _, r := range c.Rivals {
		out = append(out, host.Rival{Name: r.Name, Active: r.Active, Once: r.Once, BannedIRQs: r.BannedIRQs, BannedModules: r.BannedModules, BannedCPUs: r.BannedCPUs})
	}
	return out, nil
}

// perm is a file's permissions in a capture: the kernel's (0444 is its word for
// a vector that must not move), readable by the owner in any case.
func (n *node) perm() fs.FileMode { return n.mode.Perm() | 0o400 }

// Name is the capture's own name: netsteer-TIME.
func (t *Taking) Name() string { return "netsteer-" + t.t0.UTC().Format("20060102T150405Z") }
