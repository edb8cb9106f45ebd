package alerts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Bad input gives one line that names the file, the key and what to do.
func TestBadConfig(t *testing.T) {
	good, err := os.ReadFile("config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, old, with, says string }{
		{"no YAML", "selector:", "selector: [", "yaml: line"},
		{"a key that is none", "selector:", "selektor:", "selektor"},
		{"a selector with braces", `job="netsteer"`, `'{job="netsteer"}'`, "without braces"},
		{"an empty selector", `job="netsteer"`, `""`, "selector"},
		{"a selector that breaks out", `job="netsteer"`, `'job="a"} or up{job="b"'`, "selector"},
		{"no instance label", "[job, instance]", "[]", "instance_labels"},
		{"an instance label that is none", "[job, instance]", "[job, in-stance]", "in-stance"},
		{"a window that is none", "window: 5m", "window: soon", "soon"},
		{"a window of nothing", "window: 5m", "window: 0s", "window"},
		{"a runbook that is no URL", "https://github.com", "github.com", "runbook_base"},
		{"an alert that is none", "NetsteerDown:", "NetsterDown:", "NetsteerDown is missing"},
		{"one alert too many", "  NetsteerDown:", "  Nonsense: {for: 5m, severity: info}\n  NetsteerDown:", "Nonsense: no such alert"},
		{"a threshold in percent", "threshold: 0.85", "threshold: 85", "threshold 85"},
		{"no threshold", "threshold: 0.85, ", "", "NetsteerSoftirqSaturation.threshold is missing"},
		{"a threshold that is no number", "threshold: 0.85", "threshold: .nan", "threshold NaN"},
		{"a threshold without use", "NetsteerDown: {", "NetsteerDown: {threshold: 0.5, ", "NetsteerDown.threshold"},
		{"a severity that is none", "for: 5m, severity: warning", "for: 5m, severity: page", `severity "page"`},
		{"a wait that is none", "NetsteerDown: {for: 5m", "NetsteerDown: {for: 5 minutes", "5 minutes"},
		{"no wait", "NetsteerDown: {for: 5m, ", "NetsteerDown: {", "NetsteerDown.for"},
		{"no name", "name: netsteer\n", "name: ''\n", "prometheus_rule.name"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			content := strings.Replace(string(good), tt.old, tt.with, 1)
			if content == string(good) {
				t.Fatalf("config.yaml does not hold %q", tt.old)
			}
			path := filepath.Join(t.TempDir(), "config.yaml")
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := ReadConfig(path)
			if err == nil {
				t.Fatal("no error")
			}
			if s := err.Error(); !strings.HasPrefix(s, path+": ") || strings.Contains(s, "\n") || !strings.Contains(s, tt.says) {
				t.Errorf("%q; want one line that begins with the file and holds %q", s, tt.says)
			}
		})
	}
}

func TestScale(t *testing.T) {
	c := readConfig(t)
	if err := c.Scale(20); err != nil {
		t.Fatal(err)
	}
	rules := Build(c).Groups[0].Rules
	if rules[0].Record != "instance_cpu:netsteer_cpu_busy_net:rate15s" || !strings.Contains(rules[0].Expr, "[15s]") {
		t.Errorf("a twentieth of 5 minutes: %s, %s", rules[0].Record, rules[0].Expr)
	}
	for _, r := range rules {
		if r.Alert == "NetsteerSoftirqSaturation" && (r.For.String() != "30s" || r.Expr != "instance_cpu:netsteer_cpu_busy_net:rate15s > 0.85") {
			t.Errorf("%s for %s, want a twentieth of 10 minutes and the same threshold", r.Expr, r.For)
		}
	}
	for _, n := range []float64{0, -1, 1e9} {
		if err := readConfig(t).Scale(n); err == nil {
			t.Errorf("scale %v is accepted", n)
		}
	}
}
