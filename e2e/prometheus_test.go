//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/netsteer/netsteer/internal/testenv"
)

// A real Prometheus scrapes, keeps and joins what netsteer exports.
func TestPrometheusScrapes(t *testing.T) {
	prometheus := testenv.Tool(t, "prometheus")
	_, target := serve(t, "--sample.interval=1s", "--sample.window=5s")

	dir := t.TempDir()
	config := filepath.Join(dir, "prometheus.yml")
	content := fmt.Sprintf("global: {scrape_interval: 1s, scrape_timeout: 1s}\n"+
		"scrape_configs:\n- job_name: netsteer\n  static_configs:\n  - targets: [%q]\n", target)
	if err := os.WriteFile(config, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	p := start(t, prometheus, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address)
	waitReady(t, p, "http://"+address+"/-/ready")

	for _, expr := range []string{
		`up{job="netsteer"} == 1`,
		`scrape_samples_scraped{job="netsteer"} > 50`,
		`count by (cpu) (rate(netsteer_cpu_softirqs_total{type="NET_RX"}[10s]))`,
		`sum by (node) (rate(netsteer_cpu_softirqs_total[10s]) * on (instance, cpu) group_left (node) netsteer_cpu_info)`,
		`min(netsteer_scrape_collector_success) == 1`,
	} {
		if !eventually(t, "http://"+address, expr) {
			t.Errorf("no result within 15 s: %s", expr)
		}
	}
}

// eventually asks a query until it has a result.
func eventually(t *testing.T, base, expr string) bool {
	t.Helper()
	for deadline := time.Now().Add(15 * time.Second); time.Now().Before(deadline); time.Sleep(500 * time.Millisecond) {
		var answer struct {
			Data struct{ Result []json.RawMessage }
		}
		body := get(t, base+"/api/v1/query?query="+url.QueryEscape(expr))
		if err := json.Unmarshal([]byte(body), &answer); err != nil {
			t.Fatal(err)
		}
		if len(answer.Data.Result) > 0 {
			return true
		}
	}
	return false
}
