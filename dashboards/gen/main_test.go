package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

const committed = "../netsteer.json"

func TestCommittedDashboardIsCurrent(t *testing.T) {
	if err := run([]string{"-check", "-out=" + committed}); err != nil {
		t.Error(err)
	}
}

func TestCheckFindsDrift(t *testing.T) {
	content, err := os.ReadFile(committed)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "netsteer.json")
	if err := os.WriteFile(path, bytes.Replace(content, []byte("Busiest"), []byte("Idlest"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run([]string{"-check", "-out=" + path}); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("changed by hand: %v, want an error that names %s", err, path)
	}
	if err := run([]string{"-check", "-out=" + path + ".no"}); err == nil {
		t.Error("a file that is not there is no drift")
	}
}

// What Grafana's own types demand holds, also after a round trip.
func TestDashboardIsValid(t *testing.T) {
	content, err := render()
	if err != nil {
		t.Fatal(err)
	}
	var d classic
	if err := json.Unmarshal(content, &d); err != nil {
		t.Fatal(err)
	}
	if err := d.Validate(); err != nil {
		t.Error(err)
	}
	again, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	// A key that Grafana's types do not have would be lost on the way.
	var before, after any
	if err := errors.Join(json.Unmarshal(content, &before), json.Unmarshal(again, &after)); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(before, after) {
		t.Error("read and written again, it is another dashboard")
	}
}

func TestIDsAndGrid(t *testing.T) {
	d, err := build()
	if err != nil {
		t.Fatal(err)
	}
	ids := map[uint32]string{}
	taken := map[[2]uint32]string{}
	place := func(id *uint32, title string, at *dashboard.GridPos) {
		if id == nil || *id == 0 {
			t.Errorf("%s has no id", title)
		} else if other, twice := ids[*id]; twice {
			t.Errorf("%s and %s have the id %d", title, other, *id)
		} else {
			ids[*id] = title
		}
		if at.W == 0 || at.H == 0 || at.X+at.W > 24 {
			t.Errorf("%s does not fit into 24 columns: %+v", title, *at)
		}
		for x := at.X; x < at.X+at.W; x++ {
			for y := at.Y; y < at.Y+at.H; y++ {
				if other, is := taken[[2]uint32{x, y}]; is {
					t.Fatalf("%s lies on %s at %d,%d", title, other, x, y)
				}
				taken[[2]uint32{x, y}] = title
			}
		}
	}
	height := uint32(0)
	for _, p := range d.Panels {
		if p.RowPanel != nil {
			place(&p.RowPanel.Id, *p.RowPanel.Title, p.RowPanel.GridPos)
			height = max(height, p.RowPanel.GridPos.Y+1)
			continue
		}
		place(p.Panel.Id, *p.Panel.Title, p.Panel.GridPos)
		height = max(height, p.Panel.GridPos.Y+p.Panel.GridPos.H)
	}
	// Lines of panels are full: a gap is a width that was miscounted.
	if want := int(24 * height); len(taken) != want {
		t.Errorf("%d of %d cells are taken: there are gaps", len(taken), want)
	}
}

// Who does not know netsteer learns from each panel what it shows.
func TestEveryPanelTeaches(t *testing.T) {
	titles := map[string]bool{}
	for _, r := range rows {
		for _, p := range r.panels {
			if p.title == "" || titles[p.title] {
				t.Errorf("%q is no title, or there are two", p.title)
			}
			titles[p.title] = true
			if !strings.HasSuffix(p.about, ".") {
				t.Errorf("%s: about is no sentence: %q", p.title, p.about)
			}
			if p.do != "" && !strings.HasSuffix(p.do, ".") {
				t.Errorf("%s: do is no sentence: %q", p.title, p.do)
			}
			if p.unit == "" && p.words == nil && p.kind != list {
				t.Errorf("%s has neither unit nor words", p.title)
			}
			if len(p.queries) == 0 {
				t.Errorf("%s asks nothing", p.title)
			}
			for i, l := range p.limits {
				if i > 0 && l.from <= p.limits[i-1].from {
					t.Errorf("%s: limits do not rise", p.title)
				}
			}
		}
	}
}

// A list's columns are the labels that its queries keep, all of them, and values.
func TestColumnsExist(t *testing.T) {
	for _, r := range rows {
		for _, p := range r.panels {
			if p.kind != list {
				continue
			}
			gives, shown := map[string]bool{}, map[string]bool{}
			for _, c := range p.columns {
				shown[c.name] = true
			}
			for _, q := range p.queries {
				gives[q.legend] = true
				_, after, _ := strings.Cut(q.expr, "by (")
				by, _, _ := strings.Cut(after, ")")
				for label := range strings.SplitSeq(by, ", ") {
					gives[label] = true
					if !shown[label] {
						t.Errorf("%s: the label %s has no column", p.title, label)
					}
				}
			}
			for name := range shown {
				if !gives[name] {
					t.Errorf("%s: no query gives the column %s", p.title, name)
				}
			}
		}
	}
}
