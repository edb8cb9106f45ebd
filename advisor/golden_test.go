package advisor_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/netsteer/netsteer/advisor"
	"github.com/netsteer/netsteer/host/record"
	"github.com/netsteer/netsteer/host/scan"
	"github.com/netsteer/netsteer/internal/testenv"
	"github.com/netsteer/netsteer/skew"
	"github.com/netsteer/netsteer/watch"
)

var update = flag.Bool("update", false, "write the goldens anew")

// golden holds got against testdata/contract. A change needs a CHANGELOG line.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join(testenv.ModuleRoot(t), "testdata", "contract", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("testdata/contract/%s differs (-want +got); go test ./advisor -update writes it anew:\n%s", name, diff)
	}
}

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
	golden(t, "advise.json", asJSON(t, a))
	var text strings.Builder
	if err := a.Text(&text); err != nil {
		t.Fatal(err)
	}
	golden(t, "advise.txt", text.String())
	golden(t, "advise.sh", advisor.Shell(a, a.Changes, f.Inventory.CPUs.NumIDs()))
}

// The rule ids are the contract of alerts and explain.
func TestRulesContract(t *testing.T) {
	var out strings.Builder
	for _, r := range advisor.Rules() {
		out.WriteString(r.ID + "\t" + string(r.Severity) + "\t" + r.Title + "\n")
	}
	golden(t, "rules.txt", out.String())
}
