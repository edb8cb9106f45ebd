//go:build e2e

package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/netsteer/netsteer/internal/testenv"
)

func TestMetrics(t *testing.T) {
	_, address := serve(t)
	text := get(t, "http://"+address+"/metrics")
	checkMetrics(t, text)
	for _, metric := range []string{
		"netsteer_build_info", "netsteer_cpu_info", "netsteer_cpu_softirqs_total", "netsteer_cpu_time_seconds_total",
		"netsteer_softnet_processed_total", "netsteer_allowed_cpus", "netsteer_scrape_collector_success",
		"go_goroutines", "process_cpu_seconds_total",
	} {
		if !has(text, metric) {
			t.Errorf("/metrics has no sample of %s", metric)
		}
	}
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") && strings.Contains(line, "NaN") {
			t.Errorf("a value is NaN: %s", line)
		}
		if strings.HasPrefix(line, "netsteer_scrape_collector_success") && !strings.HasSuffix(line, " 1\n") {
			t.Errorf("a collector failed: %s", line)
		}
	}
}

func TestCollectQueryChoosesCollectors(t *testing.T) {
	_, address := serve(t)
	text := get(t, "http://"+address+"/metrics?collect[]=softnet")
	if !has(text, "netsteer_softnet_processed_total") || has(text, "netsteer_cpu_softirqs_total") {
		t.Errorf("collect[]=softnet gives\n%s", text)
	}
	if status, body, err := fetch("http://" + address + "/metrics?collect[]=nonsense"); err != nil || status != http.StatusBadRequest || !strings.Contains(body, "softnet") {
		t.Errorf("collect[]=nonsense: status %d, error %v, body %q; want 400 with the names there are", status, err, body)
	}
}

func TestRoutes(t *testing.T) {
	_, address := serve(t)
	for path, want := range map[string]int{
		"/": http.StatusOK, "/-/healthy": http.StatusOK, "/-/ready": http.StatusOK,
		"/snapshot": http.StatusOK, "/nothing-here": http.StatusNotFound,
	} {
		if status, body, err := fetch("http://" + address + path); err != nil || status != want {
			t.Errorf("GET %s: status %d, want %d, error %v\n%s", path, status, want, err, body)
		}
	}
}

func TestHealthcheck(t *testing.T) {
	p, address := serve(t)
	if r := run(t, "", binary(t), "healthcheck", "--web.listen-address="+address); r.exit != 0 {
		t.Errorf("while it serves: exit %d, %s", r.exit, r.stderr)
	}
	if exit := p.stop(t); exit != 0 {
		t.Errorf("exit %d on SIGTERM, want 0", exit)
	}
	r := run(t, "", binary(t), "healthcheck", "--web.listen-address="+address)
	if r.exit != 1 || strings.Count(r.stderr, "\n") != 1 {
		t.Errorf("after it ended: exit %d, stderr %q; want 1 and one line", r.exit, r.stderr)
	}
}

func TestSecondServerOnTheSameAddress(t *testing.T) {
	_, address := serve(t)
	r := run(t, "", binary(t), "--web.listen-address="+address)
	if r.exit != 1 || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, "already in use") {
		t.Errorf("exit %d, stderr %q; want 1 and one line about the address", r.exit, r.stderr)
	}
}

// A host of many containers has a veth for each: the scrape stays quick and its
// size bounded by --device.limit.
func TestThousandVeths(t *testing.T) {
	ns := testenv.Netns(t)
	curl := testenv.Tool(t, "curl")
	ns.Run(t, "sh", "-c", `for i in $(seq 500); do
		echo "link add a$i numtxqueues 2 numrxqueues 2 type veth peer name b$i numtxqueues 2 numrxqueues 2"
	done | ip -batch -`)

	p := start(t, testenv.Tool(t, "ip"), "netns", "exec", ns.Name, binary(t), "--web.listen-address=127.0.0.1:10420")
	ask := func(path string, more ...string) string {
		args := append([]string{"--silent", "--show-error", "--fail", "--max-time", "10"}, more...)
		return ns.Run(t, curl, append(args, "http://127.0.0.1:10420"+path)...)
	}
	// 503 and a refused connection are tried again, nothing else.
	ask("/-/ready", "--retry", "20", "--retry-connrefused", "--retry-delay", "1", "--retry-max-time", "20")
	text := ask("/metrics", "-H", "X-Prometheus-Scrape-Timeout-Seconds: 10")
	checkMetrics(t, text)
	if !strings.Contains(text, "\nnetsteer_devices_ignored{reason=\"over-limit\"} 936\n") {
		t.Error("devices_ignored does not say 936 over the limit of 64")
	}
	if n := strings.Count(text, "\nnetsteer_device_info{"); n != 64 {
		t.Errorf("%d devices are reported, want 64", n)
	}
	if exit := p.stop(t); exit != 0 {
		t.Errorf("exit %d on SIGTERM, want 0", exit)
	}
}
