//go:build e2e

package alerts

import (
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/netsteer/netsteer/internal/promtest"
)

// A real Prometheus evaluates every rule on what netsteer exports, nothing is
// pending while all is well, and the end of a netsteer is noticed.
func TestPrometheusEvaluatesRules(t *testing.T) {
	t.Parallel()
	c := readConfig(t)
	if err := c.Scale(75); err != nil { // 5 m are 4 s
		t.Fatal(err)
	}
	files, err := Files(c)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), rulesFile)
	if err := os.WriteFile(path, files[rulesFile], 0o600); err != nil {
		t.Fatal(err)
	}
	live, stop := promtest.Live(t)
	recorded := promtest.Recorded(t)
	base := promtest.Prometheus(t, []string{live, recorded}, []string{path})

	has := func(expr string) func() bool {
		return func() bool {
			var answer struct{ Data struct{ Result []any } }
			promtest.Get(t, base+"/api/v1/query?query="+url.QueryEscape(expr), &answer)
			return len(answer.Data.Result) > 0
		}
	}
	// The live one has CPUs; queues with vectors are the recorded one's.
	for _, expr := range []string{
		`instance_cpu:netsteer_cpu_busy_net:rate4s{instance="` + live + `"} >= 0`,
		`instance_cpu:netsteer_softnet_dropped:ratio_rate4s{instance="` + live + `"} >= 0`,
		`instance_device:netsteer_cpu_busy_net:max_rate4s{instance="` + recorded + `",device="eth1"} == 0`,
	} {
		if !promtest.Eventually(has(expr)) {
			t.Errorf("nothing of %s", expr)
		}
	}
	var rules struct {
		Data struct {
			Groups []struct {
				Rules []struct{ Name, Health, LastError string }
			}
		}
	}
	promtest.Get(t, base+"/api/v1/rules", &rules)
	n := 0
	for _, g := range rules.Data.Groups {
		for _, r := range g.Rules {
			n++
			if r.Health != "ok" {
				t.Errorf("%s is %s: %s", r.Name, r.Health, r.LastError)
			}
		}
	}
	if n != len(table) {
		t.Errorf("Prometheus has %d rules, want %d", n, len(table))
	}
	if has(`ALERTS{severity!="info"}`)() {
		t.Error("an alert above info is pending while all is well")
	}

	stop()
	if !promtest.Eventually(has(`ALERTS{alertname="NetsteerDown",alertstate="firing",instance="` + live + `"}`)) {
		t.Error("NetsteerDown does not fire for a netsteer that has ended")
	}
	if has(`ALERTS{alertname="NetsteerAbsent"}`)() || has(`ALERTS{instance="`+recorded+`"}`)() {
		t.Error("an alert that is not NetsteerDown of the one that ended")
	}
}
