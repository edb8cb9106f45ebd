package web

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/netsteer/netsteer/advisor"
	"github.com/netsteer/netsteer/apply"
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/record"
	"github.com/netsteer/netsteer/host/scan"
	"github.com/netsteer/netsteer/internal/testenv"
	"github.com/netsteer/netsteer/watch"
)

// newWatcher watches the recorded host; it runs only when told to.
func newWatcher(t *testing.T) *watch.Watcher {
	t.Helper()
	recording, err := record.Open(filepath.Join(testenv.ModuleRoot(t), "testdata", "hosts", "two-nic-8cpu"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { recording.Close() })
	return watch.New(watch.Config{
		Scanner:  scan.New(recording.Machine(), scan.Options{}),
		Interval: time.Second,
		Window:   10 * time.Second,
		MaxAge:   30 * time.Second,
	})
}

func runWatcher(t *testing.T, w *watch.Watcher) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = w.Run(ctx)
	}()
	t.Cleanup(func() { cancel(); <-done })
	for deadline := time.Now().Add(20 * time.Second); !w.Ready(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the watcher is not ready after 20 s")
		}
	}
}

func newRouter(w Watcher) chi.Router {
	return New(Options{
		Watcher: w,
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			writeText(w, "netsteer_test 1\n")
		}),
		MetricsPath: "/metrics",
		Version:     "1.2.3",
		Engine:      apply.New(apply.Options{Dir: "/nonexistent"}),
	})
}

func do(h http.Handler, method, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
	return w
}

// TestRoutes proves status and type of every answer, and that an error is a
// problem document.
func TestRoutes(t *testing.T) {
	idle, running := newWatcher(t), newWatcher(t)
	runWatcher(t, running)
	const (
		text    = "text/plain; charset=utf-8"
		html    = "text/html; charset=utf-8"
		jsonDoc = "application/json"
		problem = "application/problem+json"
	)
	tests := []struct {
		method, path string
		notReady     bool
		status       int
		contentType  string
		problem      string
		allow        string
	}{
		{method: "GET", path: "/metrics", status: 200, contentType: text},
		{method: "GET", path: "/", status: 200, contentType: html},
		{method: "GET", path: "/", notReady: true, status: 200, contentType: html},
		{method: "GET", path: "/snapshot", status: 200, contentType: jsonDoc},
		{method: "GET", path: "/snapshot", notReady: true, status: 503, contentType: problem, problem: "not-ready"},
		{method: "GET", path: "/advice", status: 200, contentType: jsonDoc},
		{method: "GET", path: "/advice", notReady: true, status: 503, contentType: problem, problem: "not-ready"},
		{method: "GET", path: "/transactions", status: 200, contentType: jsonDoc},
		{method: "GET", path: "/transactions/20260101T000000Z-0000", status: 404, contentType: problem, problem: "unknown-transaction"},
		{method: "GET", path: "/transactions/..%2fx", status: 404, contentType: problem, problem: "unknown-transaction"},
		{method: "GET", path: "/apply", status: 405, contentType: problem, problem: "method-not-allowed", allow: "POST"},
		{method: "PUT", path: "/rollback", status: 405, contentType: problem, problem: "method-not-allowed", allow: "POST"},
		{method: "GET", path: "/-/healthy", status: 200, contentType: text},
		{method: "GET", path: "/-/healthy", notReady: true, status: 200, contentType: text},
		{method: "GET", path: "/-/ready", status: 200, contentType: text},
		{method: "GET", path: "/-/ready", notReady: true, status: 503, contentType: problem, problem: "not-ready"},
		{method: "GET", path: "/nothing", status: 404, contentType: problem, problem: "not-found"},
		{method: "GET", path: "/metrics/", status: 404, contentType: problem, problem: "not-found"},
		{method: "GET", path: "/%2e%2e/etc/passwd", status: 404, contentType: problem, problem: "not-found"},
		{method: "POST", path: "/nothing", status: 404, contentType: problem, problem: "not-found"},
		{method: "POST", path: "/metrics", status: 405, contentType: problem, problem: "method-not-allowed", allow: "GET, HEAD"},
		{method: "DELETE", path: "/", status: 405, contentType: problem, problem: "method-not-allowed", allow: "GET, HEAD"},
		{method: "BREW", path: "/snapshot", status: 405, contentType: problem, problem: "method-not-allowed", allow: "GET, HEAD"},
	}
	for _, tt := range tests {
		name := tt.method + " " + tt.path
		watcher := running
		if tt.notReady {
			watcher = idle
			name += " before the first reading"
		}
		t.Run(name, func(t *testing.T) {
			got := do(newRouter(watcher), tt.method, tt.path)
			if got.Code != tt.status {
				t.Errorf("status %d, want %d", got.Code, tt.status)
			}
			if ct := got.Header().Get("Content-Type"); ct != tt.contentType {
				t.Errorf("Content-Type %q, want %q", ct, tt.contentType)
			}
			if allow := got.Header().Get("Allow"); allow != tt.allow {
				t.Errorf("Allow %q, want %q", allow, tt.allow)
			}
			if got.Header().Get("X-Content-Type-Options") != "nosniff" {
				t.Error("no nosniff")
			}
			if tt.problem == "" {
				return
			}
			var p Problem
			if err := json.Unmarshal(got.Body.Bytes(), &p); err != nil {
				t.Fatal(err)
			}
			if p.Type != "urn:netsteer:problem:"+tt.problem || p.Status != tt.status || p.Title == "" || p.Detail == "" {
				t.Errorf("problem %+v, want type %s and status %d", p, tt.problem, tt.status)
			}
		})
	}
}

// TestHead proves that HEAD is answered as GET, over the wire without a body.
func TestHead(t *testing.T) {
	watcher := newWatcher(t)
	runWatcher(t, watcher)
	server := httptest.NewServer(newRouter(watcher))
	defer server.Close()
	for _, path := range []string{"/", "/metrics", "/snapshot", "/-/healthy", "/-/ready"} {
		response, err := server.Client().Head(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		want := do(newRouter(watcher), http.MethodGet, path).Header().Get("Content-Type")
		if got := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || got != want {
			t.Errorf("HEAD %s: %s, %q; want 200 and %q", path, response.Status, got, want)
		}
	}
}

// TestAllAtOnce proves, under the race detector, that answers share the watcher's
// State with its own sampling.
func TestAllAtOnce(t *testing.T) {
	watcher := newWatcher(t)
	runWatcher(t, watcher)
	router := newRouter(watcher)
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for end := time.Now().Add(1500 * time.Millisecond); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
				for _, path := range []string{"/snapshot", "/", "/-/ready"} {
					if got := do(router, http.MethodGet, path); got.Code != http.StatusOK {
						t.Errorf("%s: %d: %s", path, got.Code, got.Body)
						return
					}
				}
			}
		})
	}
	clients.Wait()
}

// TestLandingPage proves that the page shows the version and the devices, and
// that its policy admits its own style and nothing else.
func TestLandingPage(t *testing.T) {
	watcher := newWatcher(t)
	runWatcher(t, watcher)
	got := do(newRouter(watcher), http.MethodGet, "/")
	page := got.Body.String()
	for _, want := range []string{"1.2.3", `href="/metrics"`, "<td>eth0</td><td>virtio_net</td>", "over eth1"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s:\n%s", want, page)
		}
	}
	_, style, _ := strings.Cut(page, "<style>")
	style, _, _ = strings.Cut(style, "</style>")
	policy := got.Header().Get("Content-Security-Policy")
	if want := "style-src 'sha256-" + hash(style) + "'"; !strings.Contains(policy, want) {
		t.Errorf("policy %q has no %s", policy, want)
	}
	if !strings.HasPrefix(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
		t.Errorf("policy %q is not strict", policy)
	}
	if strings.Contains(page, "<script") || strings.Contains(page, "style=") {
		t.Error("the page has what its policy forbids")
	}
}

func TestCheckMetricsPath(t *testing.T) {
	for path, ok := range map[string]bool{
		"/metrics": true, "/a/b": true, "": false, "metrics": false, "/": false, "/snapshot": false,
		"/advice": false, "/-/ready": false, "/transactions/x": false, "/{x}": false, "/*": false, "/a?b": false,
	} {
		if err := CheckMetricsPath(path); (err == nil) != ok {
			t.Errorf("%q: %v, want ok %v", path, err, ok)
		}
	}
}

// TestRoutesContract lists every route; a change needs a CHANGELOG line.
func TestRoutesContract(t *testing.T) {
	var routes []string
	err := chi.Walk(newRouter(newWatcher(t)), func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		routes = append(routes, method+" "+route+"\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(routes)
	testenv.Golden(t, "routes.txt", strings.Join(routes, ""))
}

// A host of which not all can be read is not said to be well.
func TestVerdictOfABlindHost(t *testing.T) {
	plan := &advisor.Advice{}
	if got := verdict(plan, 1, false); got != "Nothing to change: no setting is known to be wrong." {
		t.Errorf("all read: %q", got)
	}
	if got := verdict(plan, 1, true); got != "Nothing to change is known, but not all could be read." {
		t.Errorf("blind: %q", got)
	}
	all := []host.Degraded{
		{Source: host.SourceInterrupts, Reason: host.ReasonMasked},
		{Source: host.SourceStats, Device: "veth0", Reason: host.ReasonNoCounters},
		{Source: host.SourceStats, Device: "eth0", Reason: host.ReasonSlow},
		{Source: host.SourceRivals, Reason: host.ReasonPermission},
	}
	if got := blindSpots(all); len(got) != 1 || got[0].Source != host.SourceInterrupts {
		t.Errorf("blind spots %v", got)
	}
}
