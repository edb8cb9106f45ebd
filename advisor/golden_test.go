package advisor_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/netsteer/netsteer/advisor"
	"github.com/netsteer/netsteer/host/record"
	"github.com/netsteer/netsteer/host/scan"
	"github.com/netsteer/netsteer/internal/testenv"
	"github.com/netsteer/netsteer/skew"
	"github.com/netsteer/netsteer/watch"
)

// recorded reads our own recorded host, with both samples or, settings only,
// with none.
func recorded(t *testing.T, traffic bool) advisor.Facts {
	t.Helper()
	r, err := record.Open(filepath.Join(testenv.ModuleRoot(t), "testdata", "hosts", "two-nic-8cpu"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	t0, t1, _ := r.Times()
	first, late := scan.New(r.Machine(), scan.Options{}), (*scan.Scanner)(nil)
	if m, ok := r.T1(); ok && traffic {
		late = scan.New(m, scan.Options{})
	}
	s := watch.Recorded(skew.Options{MinRate: 100}, first, late, t0, t1)
	return advisor.Facts{Inventory: s.Inventory, Rates: s.Rates, Place: s.Place, Allowed: s.Allowed, Degraded: s.Degraded}
}

func asJSON(t *testing.T, a *advisor.Advice) string {
	t.Helper()
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(a); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestAdviseContract(t *testing.T) {
	f := recorded(t, true)
	a := advisor.Advise(f, advisor.Policy{})
	testenv.Golden(t, "advise.json", asJSON(t, a))
	var text strings.Builder
	if err := a.Text(&text); err != nil {
		t.Fatal(err)
	}
	testenv.Golden(t, "advise.txt", text.String())
	testenv.Golden(t, "advise.sh", advisor.Shell(a, a.Changes, f.Inventory.CPUs.NumIDs()))
}

// The rule ids are the contract of alerts and explain.
func TestRulesContract(t *testing.T) {
	var out strings.Builder
	for _, r := range advisor.Rules() {
		out.WriteString(r.ID + "\t" + string(r.Severity) + "\t" + r.Title + "\n")
	}
	testenv.Golden(t, "rules.txt", out.String())
}
