package alerts

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v2"

	"github.com/netsteer/netsteer/internal/contract"
	"github.com/netsteer/netsteer/internal/testenv"
	"github.com/netsteer/netsteer/skew"
)

const rulesFile = "netsteer.rules.yaml"

func readConfig(t *testing.T) *Config {
	t.Helper()
	c, err := ReadConfig("config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCommittedFilesAreCurrent(t *testing.T) {
	files, err := Files(readConfig(t))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what the table and config.yaml give (%v): go run ./alerts/gen", name, err)
		}
	}
}

// Both files hold the same rules.
func TestPrometheusRule(t *testing.T) {
	content, err := os.ReadFile("netsteer.prometheusrule.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var object prometheusRule
	if err := yaml.UnmarshalStrict(content, &object); err != nil {
		t.Fatal(err)
	}
	if object.APIVersion != "monitoring.coreos.com/v1" || object.Kind != "PrometheusRule" || object.Metadata.Name != "netsteer" {
		t.Errorf("%s %s %q", object.APIVersion, object.Kind, object.Metadata.Name)
	}
	spec, err := yaml.Marshal(object.Spec)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := os.ReadFile(rulesFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(spec, bytes.TrimPrefix(plain, []byte(header))) {
		t.Errorf("the spec is not what %s holds", rulesFile)
	}
}

// promtool takes the rules as they are, scaled for the lab, and of a ruler that
// sees several clusters.
func TestPromtoolChecksRules(t *testing.T) {
	t.Parallel()
	promtool := testenv.Tool(t, "promtool")
	for _, scale := range []float64{1, 20, 7} {
		c := readConfig(t)
		if err := c.Scale(scale); err != nil {
			t.Fatal(err)
		}
		if scale == 7 {
			c.Selector, c.InstanceLabels = `job="netsteer",cluster=~"a|b"`, []string{"cluster", "job", "instance"}
			if err := c.check(); err != nil {
				t.Fatal(err)
			}
		}
		files, err := Files(c)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), rulesFile)
		if err := os.WriteFile(path, files[rulesFile], 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(promtool, "check", "rules", "--lint-fatal", path).CombinedOutput(); err != nil {
			t.Errorf("scale %v: %v\n%s", scale, err, out)
		}
	}
}

// testRules runs promtool's tests that match a pattern on a rule file's content.
func testRules(t *testing.T, rules []byte, pattern string) ([]byte, error) {
	t.Helper()
	promtool := testenv.Tool(t, "promtool")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, rulesFile), rules, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, "testdata"), os.DirFS("testdata")); err != nil {
		t.Fatal(err)
	}
	tests, err := filepath.Glob(filepath.Join(dir, "testdata", pattern))
	if err != nil || len(tests) == 0 {
		t.Fatalf("tests %q, %v", tests, err)
	}
	return exec.Command(promtool, append([]string{"test", "rules"}, tests...)...).CombinedOutput()
}

func TestPromtoolTestsRules(t *testing.T) {
	t.Parallel()
	rules, err := os.ReadFile(rulesFile)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := testRules(t, rules, "*_test.yml"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// Each part of an expression is there for a reason: without it a test fails.
func TestRuleTestsBite(t *testing.T) {
	rules, err := os.ReadFile(rulesFile)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ file, name, old, with string }{
		{"saturation", "by busy time", `mode=~"irq|softirq"`, `mode="busy"`},
		{"saturation", "without irq time", `mode=~"irq|softirq"`, `mode="softirq"`},
		{"saturation", "without NAPI threads", "device, queue) group_left (cpu)", "device, queue, cpu) group_left ()"},
		{"saturation", "at once", "busy_net:rate5m > 0.85\n    for: 10m", "busy_net:rate5m > 0.85\n    for: 0s"},
		{"drops", "of those processed", "        rate(netsteer_softnet_dropped_total{job=\"netsteer\"}[5m])\n        +", "        0 *"},
		{"drops", "counted, not their share", "ratio_rate5m > 0.001", "ratio_rate5m > 0"},
		{"drops", "at once", "ratio_rate5m > 0.001\n    for: 10m", "ratio_rate5m > 0.001\n    for: 0s"},
		{"skew", "with causes that nobody can mend", `cause=~"placement|`, `cause=~"few-flows|placement|`},
		{"skew", "on any load", "> 0.6", "> 0"},
		{"skew", "by this instant's cause", `[5m]) > bool 0.5) == 1`, `[15s]) > bool 0.5) == 1`},
		{"skew", "by any cause of the window", `[5m]) > bool 0.5) == 1`, `[5m]) > bool 0) == 1`},
		{"skew", "by this instant's CPUs", `last_over_time(netsteer_queue_irq_info{job="netsteer",cpu!=""}[5m])`, `netsteer_queue_irq_info{job="netsteer",cpu!=""}`},
		{"skew", "by direction", "max without (direction) (", "max without (irq) ("},
		{"down", "any job down", `up{job="netsteer"} == 0`, `up == 0`},
		{"down", "at once", "== 0\n    for: 5m", "== 0\n    for: 30s"},
		{"down", "no job at all", `absent(up{job="netsteer"})`, `absent(up)`},
	}
	for _, tt := range tests {
		t.Run(tt.file+" "+tt.name, func(t *testing.T) {
			t.Parallel()
			changed := strings.ReplaceAll(string(rules), tt.old, tt.with)
			if changed == string(rules) {
				t.Fatalf("the rules do not hold %q", tt.old)
			}
			out, err := testRules(t, []byte(changed), tt.file+"_test.yml")
			if err == nil {
				t.Errorf("with %q every test of %s passes", tt.with, tt.file)
			} else if !bytes.Contains(out, []byte("FAILED")) || bytes.Contains(out, []byte("parse error")) {
				t.Errorf("not a failed test but %v\n%s", err, out)
			}
		})
	}
}

var recordName = regexp.MustCompile(`^[a-z_]+:netsteer_[a-z_]+:[a-z_]+5m$`)

// Expressions name what netsteer exports, and recordings that come before them.
func TestExpressionsKeepToTheContract(t *testing.T) {
	metrics := contract.Read(t)
	recorded := map[string]bool{}
	recording := regexp.MustCompile(`[a-z_]+:[\w:]+`)
	for _, r := range Build(readConfig(t)).Groups[0].Rules {
		for _, fault := range metrics.Faults(r.Expr) {
			t.Errorf("%s%s: %s", r.Record, r.Alert, fault)
		}
		for _, name := range recording.FindAllString(r.Expr, -1) {
			if !recorded[name] {
				t.Errorf("%s%s: %s is not recorded before it", r.Record, r.Alert, name)
			}
		}
		if r.Record != "" {
			recorded[r.Record] = true
			if !recordName.MatchString(r.Record) {
				t.Errorf("%s is not level:metric:operations", r.Record)
			}
		}
	}
}

// The skew alert knows each cause of the exporter: it wakes somebody, or it is
// one of those that no setting mends.
func TestEveryCauseIsDecided(t *testing.T) {
	nobodyCan := []skew.Cause{skew.CauseUnknown, skew.CauseIdle, skew.CauseSingleQueue, skew.CauseNone, skew.CauseHostSteering, skew.CauseFewFlows}
	var expr string
	for _, e := range table {
		if e.alert == "NetsteerQueueSkew" {
			expr = e.expr
		}
	}
	f := regexp.MustCompile(`cause=~"([^"]*)"`).FindStringSubmatch(expr)
	if f == nil {
		t.Fatal("the alert matches no cause")
	}
	alerted := strings.Split(f[1], "|")
	for _, cause := range skew.Causes {
		if slices.Contains(alerted, string(cause)) == slices.Contains(nobodyCan, cause) {
			t.Errorf("%s is in both lists, or in none", cause)
		}
	}
	if len(alerted)+len(nobodyCan) != len(skew.Causes) {
		t.Errorf("%q and %q are not the causes %q", alerted, nobodyCan, skew.Causes)
	}
}

// A runbook_url ends at a heading of the README.
func TestRunbooks(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range Build(readConfig(t)).Groups[0].Rules {
		if r.Alert == "" {
			continue
		}
		if want := "/alerts/README.md#" + strings.ToLower(r.Alert); !strings.HasSuffix(r.Annotations.RunbookURL, want) {
			t.Errorf("%s: runbook_url %s does not end with %s", r.Alert, r.Annotations.RunbookURL, want)
		}
		if !strings.Contains(string(readme), "\n### "+r.Alert+"\n") {
			t.Errorf("README.md has no heading for %s", r.Alert)
		}
	}
}
