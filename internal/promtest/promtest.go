// Package promtest runs a real Prometheus, and the netsteer it scrapes, for the
// tests of rules and dashboards.
package promtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/netsteer/netsteer/internal/testenv"
)

// Interval of scrapes and of rules.
const Interval = time.Second

// patience for what starts or settles by itself, on a busy machine.
const patience = 15 * time.Second

var client = http.Client{Timeout: 10 * time.Second}

// Prometheus starts the installed Prometheus with one job, netsteer, and gives
// its URL. Without Prometheus the test is skipped.
func Prometheus(t testing.TB, targets, rules []string) string {
	t.Helper()
	path := testenv.Tool(t, "prometheus")
	dir := t.TempDir()
	config := filepath.Join(dir, "prometheus.yml")
	content := fmt.Sprintf(`global: {scrape_interval: %v, scrape_timeout: %[1]v, evaluation_interval: %[1]v}
rule_files: [%s]
scrape_configs:
- job_name: netsteer
  static_configs:
  - targets: [%s]
`, Interval, strings.Join(rules, ", "), strings.Join(targets, ", "))
	if err := os.WriteFile(config, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	start(t, path, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address)
	waitReady(t, "http://"+address+"/-/ready")
	return "http://" + address
}

// Live starts the built netsteer on this machine, and gives its address and what
// stops it; the test's end does so too.
func Live(t testing.TB) (address string, stop func()) {
	t.Helper()
	address = freeAddress(t)
	stop = start(t, binary(t), "--web.listen-address="+address, "--sample.interval=1s", "--sample.window=4s")
	waitReady(t, "http://"+address+"/-/ready")
	return address, stop
}

// Recorded serves what the built netsteer exports of the recorded host, which
// has NICs and faults, and gives the address. It stands still: rates are 0.
func Recorded(t testing.TB) string {
	t.Helper()
	text, err := exec.Command(binary(t), "metrics", "--from="+filepath.Join(testenv.ModuleRoot(t), "testdata", "hosts", "two-nic-8cpu")).Output()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		_, _ = w.Write(text)
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// Get reads the JSON at url into answer.
func Get(t testing.TB, url string, answer any) {
	t.Helper()
	resp, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(answer); err != nil {
		t.Fatalf("%s: %s: %v", url, resp.Status, err)
	}
}

// Eventually asks until ok is true; false if that takes too long.
func Eventually(ok func() bool) bool {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(250 * time.Millisecond) {
		if ok() {
			return true
		}
	}
	return false
}

func binary(t testing.TB) string {
	t.Helper()
	path := filepath.Join(testenv.ModuleRoot(t), "netsteer")
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v; run make build first", err)
	}
	return path
}

// start runs a program until stop is called or the test ends, and shows what it
// said if the test fails.
func start(t testing.TB, path string, args ...string) (stop func()) {
	t.Helper()
	var output bytes.Buffer
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop = func() {
		_ = cmd.Process.Kill() // the second time it has ended
		_ = cmd.Wait()
	}
	t.Cleanup(func() {
		stop()
		if t.Failed() {
			t.Logf("%s said:\n%s", filepath.Base(path), output.String())
		}
	})
	return stop
}

func waitReady(t testing.TB, url string) {
	t.Helper()
	last := ""
	ready := Eventually(func() bool {
		resp, err := client.Get(url)
		if err != nil {
			last = err.Error()
			return false
		}
		resp.Body.Close()
		last = resp.Status
		return resp.StatusCode == http.StatusOK
	})
	if !ready {
		t.Fatalf("%s is not ready: %s", url, last)
	}
}

func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return l.Addr().String()
}
