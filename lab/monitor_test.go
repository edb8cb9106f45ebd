//go:build lab || lablong

package lab_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"

	"github.com/netsteer/netsteer/internal/testenv"
	"github.com/netsteer/netsteer/lab"
)

// monitor is a Prometheus beside a guest, that scrapes it as the alerts' README
// says and has their rules loaded.
type monitor struct {
	r    *lab.Running
	base string
	// every is the interval of scrapes and rules.
	every time.Duration
	// window is that of the rules' rates, as their names have it.
	window string
}

// watch starts a Prometheus with the rules' windows and waits divided by scale.
// Their rates want four scrapes in a window of 5 min.
func watch(t *testing.T, r *lab.Running, scale int) *monitor {
	t.Helper()
	window := 5 * time.Minute / time.Duration(scale)
	m := &monitor{
		r: r, base: fmt.Sprintf("http://%s:9090", lab.HostAddress),
		every: max(2*time.Second, window/10), window: model.Duration(window).String(),
	}
	prometheus := testenv.Tool(t, "prometheus")
	dir := t.TempDir()
	gen := exec.Command("go", "run", "./alerts/gen", "-scale", strconv.Itoa(scale), "-out", dir)
	gen.Dir = testenv.ModuleRoot(t)
	if out, err := gen.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", gen, err, out)
	}
	auth := ""
	if r.User != nil {
		password, _ := r.User.Password()
		auth = fmt.Sprintf("  basic_auth: {username: %s, password: %s}\n", r.User.Username(), password)
	}
	config := filepath.Join(dir, "prometheus.yml")
	content := fmt.Sprintf(`global: {scrape_interval: %v, scrape_timeout: %[1]v, evaluation_interval: %[1]v}
rule_files: [netsteer.rules.yaml]
scrape_configs:
- job_name: netsteer
  static_configs:
  - targets: [%[2]q]
%[3]s`, m.every, r.Target(), auth)
	if err := os.WriteFile(config, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	address := strings.TrimPrefix(m.base, "http://")
	r.Start(t, exec.Command(prometheus, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address))
	lab.Eventually(t, time.Minute, func() error {
		status, _, err := r.Ask(http.MethodGet, m.base+"/-/ready", "")
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("Prometheus is not ready: %d", status)
		}
		return err
	})
	return m
}

// load is the network load of each CPU as the alerts see it, the busiest first,
// for the log.
func (m *monitor) load() string {
	samples, err := m.ask("sort_desc(instance_cpu:netsteer_cpu_busy_net:rate" + m.window + ")")
	if err != nil {
		return err.Error()
	}
	var list []string
	for _, s := range samples[:min(len(samples), 8)] {
		list = append(list, fmt.Sprintf("%s:%.3f", s.Metric["cpu"], s.Value))
	}
	return "load by CPU " + strings.Join(list, " ")
}

// sample is one series of an answer.
type sample struct {
	Metric map[string]string
	Value  float64
}

// ask gives what an expression is now.
func (m *monitor) ask(expr string) ([]sample, error) {
	var data struct {
		Result []struct {
			Metric map[string]string
			Value  [2]any
		}
	}
	if err := m.get("/api/v1/query?query="+url.QueryEscape(expr), &data); err != nil {
		return nil, fmt.Errorf("%s: %w", expr, err)
	}
	samples := make([]sample, len(data.Result))
	for i, s := range data.Result {
		value, err := strconv.ParseFloat(fmt.Sprint(s.Value[1]), 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", expr, err)
		}
		samples[i] = sample{s.Metric, value}
	}
	return samples, nil
}

// alert is one that is pending or firing.
type alert struct {
	Labels map[string]string
	State  string
	Value  string
}

func (a alert) String() string {
	l := a.Labels
	return fmt.Sprintf("%s %s%s%s %s (%s)", l["alertname"], l["device"], l["cpu"], l["cause"], a.State, a.Value)
}

// loud alerts are for somebody to act on.
func (a alert) loud() bool { return a.Labels["severity"] != "info" }

func (m *monitor) alerts() ([]alert, error) {
	var data struct{ Alerts []alert }
	err := m.get("/api/v1/alerts", &data)
	return data.Alerts, err
}

func (m *monitor) get(path string, data any) error {
	status, answer, err := m.r.Ask(http.MethodGet, m.base+path, "")
	if err != nil {
		return err
	}
	body := struct {
		Error string
		Data  any
	}{Data: data}
	if err := json.Unmarshal(answer, &body); err != nil {
		return fmt.Errorf("%d: %w", status, err)
	}
	if status != http.StatusOK {
		return fmt.Errorf("%d: %s", status, body.Error)
	}
	return nil
}
