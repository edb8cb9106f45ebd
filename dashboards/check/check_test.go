package check

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/netsteer/netsteer/internal/contract"
	"github.com/netsteer/netsteer/internal/testenv"
)

const file = "../netsteer.json"

func expressions(t *testing.T) []Expression {
	t.Helper()
	out, err := Expressions(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 50 {
		t.Fatalf("%s has %d expressions: its form has changed", file, len(out))
	}
	return out
}

func variables(t *testing.T) map[string]string {
	t.Helper()
	out, err := Variables(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"job", "instance", "device"} {
		if out[name] == "" {
			t.Errorf("there is no variable %s", name)
		}
	}
	return out
}

var choice = Choice{Job: "netsteer", Instance: "host:10420", Device: "eth0|eth1", RateInterval: time.Minute}

// promtool parses rules and no single expression: each is recorded.
func TestEveryExpressionParses(t *testing.T) {
	promtool := testenv.Tool(t, "promtool")
	rules := "groups:\n- name: dashboard\n  rules:\n"
	for i, e := range expressions(t) {
		expr := choice.Fill(e.Expr)
		if strings.Contains(expr, "$") {
			t.Errorf("%s: a variable that nobody sets: %s", e.Panel, expr)
		}
		rules += fmt.Sprintf("  - record: panel:netsteer:%d\n    expr: %q\n", i, expr)
	}
	path := filepath.Join(t.TempDir(), "rules.yml")
	if err := os.WriteFile(path, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(promtool, "check", "rules", path).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestExpressionsKeepToTheContract(t *testing.T) {
	metrics := contract.Read(t)
	legend := regexp.MustCompile(`\{\{(\w+)\}\}`)
	for _, e := range expressions(t) {
		for _, f := range metrics.Faults(choice.Fill(e.Expr)) {
			t.Errorf("%s: %s: %s", e.Panel, f, e.Expr)
		}
		// A legend's label must be one that the expression keeps.
		for _, label := range legend.FindAllStringSubmatch(e.Legend, -1) {
			by := regexp.MustCompile(`\bby \([^)]*\b` + label[1] + `\b`)
			if !by.MatchString(e.Expr) {
				t.Errorf("%s: the legend shows %s, which no by () keeps: %s", e.Panel, label[1], e.Expr)
			}
		}
	}
	values := regexp.MustCompile(`^label_values\((.*), (\w+)\)$`)
	for name, query := range variables(t) {
		f := values.FindStringSubmatch(query)
		if f == nil {
			t.Errorf("%s: %s is not label_values(selector, label)", name, query)
			continue
		}
		metric, _, _ := strings.Cut(f[1], "{")
		for _, fault := range metrics.Faults(f[1]) {
			t.Errorf("%s: %s", name, fault)
		}
		if !slices.Contains(append(metrics[metric], "job", "instance"), f[2]) {
			t.Errorf("%s: %s has no label %s", name, metric, f[2])
		}
	}
}

// Another host's or device's series never get into a panel.
func TestEverySelectorIsOfTheChosenHost(t *testing.T) {
	selector := regexp.MustCompile(`\b(netsteer_\w+|up|scrape_\w+|process_\w+)(\{[^}]*\})?`)
	for _, e := range expressions(t) {
		for _, s := range selector.FindAllStringSubmatch(e.Expr, -1) {
			if !strings.Contains(s[2], `job="$job",instance="$instance"`) {
				t.Errorf("%s: %s is of any host", e.Panel, s[0])
			}
		}
	}
}

func TestFaultsAreRead(t *testing.T) {
	marked := map[string]bool{}
	for _, e := range expressions(t) {
		if e.Fault != "" {
			marked[e.Panel] = true
		}
	}
	if !marked["Findings"] || marked["Packets received"] {
		t.Errorf("marked are %v; want Findings in it, and Packets received not", marked)
	}
}
