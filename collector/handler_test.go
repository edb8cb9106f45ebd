package collector

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/netsteer/netsteer/watch"
)

func get(h http.Handler, query string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "/metrics"+query, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// parse reads the text format, as a check of its own.
func parse(t *testing.T, text io.Reader) map[string]*dto.MetricFamily {
	t.Helper()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	mfs, err := parser.TextToMetricFamilies(text)
	if err != nil {
		t.Fatal(err)
	}
	return mfs
}

func TestCollectAndExclude(t *testing.T) {
	st := generate(shape{devices: 1, pairs: 2, cpus: 2, spread: 1})
	h := New(Config{State: reading(st), Enabled: map[string]bool{"softnet": false}}).Handler()
	const on = "queue, interrupts, affinity, skew, softirq, cpu, device, sysctl, rival, advisor, transaction"
	for _, tt := range []struct {
		query   string
		status  int
		message string   // of a 400, whole
		has     []string // collectors of the answer
		hasNot  []string
	}{
		{query: "", status: 200, has: []string{"queue", "sysctl"}, hasNot: []string{"softnet", "irq-matrix"}},
		{query: "?collect[]=cpu", status: 200, has: []string{"cpu"}, hasNot: []string{"queue", "sysctl"}},
		{query: "?collect[]=cpu&collect[]=queue&collect[]=cpu", status: 200, has: []string{"cpu", "queue"}, hasNot: []string{"sysctl"}},
		{query: "?exclude[]=cpu", status: 200, has: []string{"queue", "sysctl"}, hasNot: []string{"cpu"}},
		{query: "?exclude[]=softnet", status: 200, has: []string{"queue", "cpu"}, hasNot: []string{"softnet"}},
		{
			query: "?collect[]=cpu&exclude[]=queue", status: 400,
			message: "collect[] and exclude[] cannot be combined; collectors: " + on,
		},
		{query: "?collect[]=cpus", status: 400, message: `missing collector: "cpus"; collectors: ` + on},
		{query: "?exclude[]=", status: 400, message: `missing collector: ""; collectors: ` + on},
		{query: "?collect[]=x%0Ay", status: 400, message: `missing collector: "x\ny"; collectors: ` + on},
		{query: "?collect[]=softnet", status: 400, message: "disabled collector: softnet; collectors: " + on},
		{query: "?collect[]=irq-matrix", status: 400, message: "disabled collector: irq-matrix; collectors: " + on},
	} {
		t.Run(tt.query, func(t *testing.T) {
			w := get(h, tt.query)
			if w.Code != tt.status {
				t.Fatalf("status %d, want %d: %s", w.Code, tt.status, w.Body)
			}
			if tt.status != 200 {
				if got := w.Body.String(); got != tt.message+"\n" {
					t.Errorf("%q, want %q", got, tt.message)
				}
				return
			}
			mfs := parse(t, w.Body)
			for _, d := range Describe() {
				_, is := mfs[d.Name]
				if slices.Contains(tt.has, d.Collector) && !is || slices.Contains(tt.hasNot, d.Collector) && is {
					t.Errorf("%s of collector %s: present is %v", d.Name, d.Collector, is)
				}
			}
			if len(mfs["netsteer_scrape_collector_success"].Metric) == 0 || mfs["netsteer_source_degraded"] == nil || mfs["go_goroutines"] == nil {
				t.Error("what every scrape has is missing")
			}
		})
	}
}

// All formats and codings carry the same families.
func TestNegotiation(t *testing.T) {
	const (
		openmetrics = "application/openmetrics-text;version=1.0.0"
		protobuf    = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"
	)
	st := generate(shape{devices: 2, pairs: 2, cpus: 4, spread: 2})
	h := New(Config{State: reading(st), Enabled: everything()}).Handler()
	for _, tt := range []struct{ accept, coding, contentType string }{
		{"", "", "text/plain; version=0.0.4"},
		{"", "gzip", "text/plain; version=0.0.4"},
		{"", "zstd", "text/plain; version=0.0.4"},
		{openmetrics, "", "application/openmetrics-text; version=1.0.0"},
		{openmetrics, "gzip", "application/openmetrics-text; version=1.0.0"},
		{protobuf, "", "application/vnd.google.protobuf"},
		{protobuf, "zstd", "application/vnd.google.protobuf"},
	} {
		w := get(h, "", "Accept", tt.accept, "Accept-Encoding", tt.coding)
		if w.Code != 200 || w.Header().Get("Content-Encoding") != tt.coding || !strings.HasPrefix(w.Header().Get("Content-Type"), tt.contentType) {
			t.Errorf("%+v: status %d, %v", tt, w.Code, w.Header())
			continue
		}
		body := decode(t, tt.coding, w.Body)
		names := map[string]bool{}
		switch tt.accept {
		case protobuf:
			dec := expfmt.NewDecoder(bytes.NewReader(body), expfmt.NewFormat(expfmt.TypeProtoDelim))
			for {
				var mf dto.MetricFamily
				if err := dec.Decode(&mf); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatal(err)
				}
				names[mf.GetName()] = true
			}
		default:
			if strings.HasSuffix(string(body), "# EOF\n") != (tt.accept == openmetrics) {
				t.Errorf("%+v: ends with %q", tt, body[len(body)-20:])
			}
			for line := range strings.Lines(string(body)) {
				if f := strings.Fields(line); len(f) > 3 && f[1] == "TYPE" {
					name := f[2]
					if tt.accept == openmetrics && f[3] == "counter" {
						name += "_total"
					}
					names[name] = true
				}
			}
		}
		for _, d := range Describe() {
			if !names[d.Name] {
				t.Errorf("%+v: no %s", tt, d.Name)
			}
		}
		for _, name := range []string{"netsteer_build_info", "go_goroutines", "process_start_time_seconds"} {
			if !names[name] {
				t.Errorf("%+v: no %s", tt, name)
			}
		}
	}
}

func decode(t *testing.T, coding string, body io.Reader) []byte {
	t.Helper()
	r := body
	var err error
	switch coding {
	case "gzip":
		r, err = gzip.NewReader(body)
	case "zstd":
		r, err = zstd.NewReader(body)
	}
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The reading's deadline is what the client says it waits, less the time to answer.
func TestDeadline(t *testing.T) {
	for header, want := range map[string]time.Duration{
		"":       9500 * time.Millisecond,
		"15":     14500 * time.Millisecond,
		"2.25":   1750 * time.Millisecond,
		"0.5":    100 * time.Millisecond,
		"0.001":  100 * time.Millisecond,
		"0":      9500 * time.Millisecond,
		"-3":     9500 * time.Millisecond,
		"NaN":    9500 * time.Millisecond,
		"soon":   9500 * time.Millisecond,
		"1e300":  time.Hour - 500*time.Millisecond,
		"+Inf":   time.Hour - 500*time.Millisecond,
		"1e-300": 100 * time.Millisecond,
	} {
		var left time.Duration
		st := generate(shape{devices: 1, pairs: 1, cpus: 2})
		h := New(Config{State: func(ctx context.Context) (*watch.State, func(), error) {
			deadline, ok := ctx.Deadline()
			if !ok {
				t.Errorf("%q: no deadline", header)
			}
			left = time.Until(deadline)
			return st, func() {}, nil
		}}).Handler()
		if w := get(h, "", "X-Prometheus-Scrape-Timeout-Seconds", header); w.Code != 200 {
			t.Errorf("%q: status %d", header, w.Code)
		}
		if left > want || left < want-90*time.Millisecond {
			t.Errorf("%q: %v left to read, want %v", header, left, want)
		}
	}
}

// Without any State the process still tells how it is, each collector failed,
// and the log has one line why.
func TestNoState(t *testing.T) {
	var log bytes.Buffer
	h := New(Config{
		State:  func(context.Context) (*watch.State, func(), error) { return nil, nil, errors.New("no Sample yet") },
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
	}).Handler()
	w := get(h, "?exclude[]=cpu")
	if w.Code != 200 {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	mfs := parse(t, w.Body)
	success := mfs["netsteer_scrape_collector_success"].GetMetric()
	if len(success) != len(Names())-2 { // irq-matrix is off, cpu excluded
		t.Errorf("%d collectors, want %d", len(success), len(Names())-2)
	}
	for _, m := range success {
		if m.GetGauge().GetValue() != 0 {
			t.Errorf("collector %s succeeded", m.Label[0].GetValue())
		}
	}
	for name := range mfs {
		if strings.HasPrefix(name, "netsteer_") && name != "netsteer_build_info" && name != "netsteer_scrape_collector_success" {
			t.Errorf("%s without State", name)
		}
	}
	if mfs["process_start_time_seconds"] == nil {
		t.Error("no process_start_time_seconds")
	}
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, `err="no Sample yet"`) {
		t.Errorf("log is %q, want one line with the reason", got)
	}
}

// An extra gatherer's families are served beside; its error is logged and costs
// nothing else.
func TestExtraGatherer(t *testing.T) {
	extra := prometheus.NewRegistry()
	extra.MustRegister(prometheus.NewCounter(prometheus.CounterOpts{Name: "netsteer_extra_total", Help: "Extra."}))
	broken := errors.New("broken")
	var log bytes.Buffer
	h := New(Config{
		State: reading(generate(shape{devices: 1, pairs: 1, cpus: 2})),
		Gatherer: prometheus.Gatherers{extra, prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
			return nil, broken
		})},
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
	}).Handler()
	w := get(h, "")
	mfs := parse(t, w.Body)
	if mfs["netsteer_extra_total"] == nil || mfs["netsteer_queue_packets_total"] == nil {
		t.Errorf("status %d, %d families: the extra one or ours are missing", w.Code, len(mfs))
	}
	if !strings.Contains(log.String(), "broken") {
		t.Errorf("log is %q", log.String())
	}
}

// A client that does not read keeps its slot and its families, not others': they
// are served up to the limit, and 503 above.
func TestSlowClients(t *testing.T) {
	st := generate(shape{devices: 2, pairs: 8, cpus: 8, spread: 2})
	h := New(Config{State: reading(st), MaxRequests: 3}).Handler()
	release := make(chan struct{})
	var slow sync.WaitGroup
	for range 2 {
		reached := make(chan struct{})
		slow.Go(func() {
			w := &stuck{ResponseRecorder: httptest.NewRecorder(), reached: reached, release: release}
			h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
			if n := len(parse(t, w.Body)); n < 50 {
				t.Errorf("a slow client got %d families", n)
			}
		})
		<-reached
	}
	for range 3 {
		if w := get(h, ""); w.Code != 200 || len(parse(t, w.Body)) < 50 {
			t.Errorf("status %d beside two slow clients", w.Code)
		}
	}
	reached := make(chan struct{})
	slow.Go(func() {
		w := &stuck{ResponseRecorder: httptest.NewRecorder(), reached: reached, release: release}
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	})
	<-reached
	if w := get(h, ""); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "--web.max-requests") {
		t.Errorf("status %d above the limit: %s", w.Code, w.Body)
	}
	close(release)
	slow.Wait()
	if w := get(h, ""); w.Code != 200 {
		t.Errorf("status %d after the slow clients", w.Code)
	}
}

// stuck is a client that reads nothing until it is released.
type stuck struct {
	*httptest.ResponseRecorder
	reached, release chan struct{}
	once             sync.Once
}

func (w *stuck) Write(b []byte) (int, error) {
	w.once.Do(func() {
		close(w.reached)
		<-w.release
	})
	return w.ResponseRecorder.Write(b)
}

// A client that went away is one line in the log, not one per family.
func TestClientWentAway(t *testing.T) {
	var log bytes.Buffer
	h := New(Config{
		State:  reading(generate(shape{devices: 2, pairs: 8, cpus: 8, spread: 2})),
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
	}).Handler()
	h.ServeHTTP(&gone{httptest.NewRecorder()}, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "broken pipe") {
		t.Errorf("log is %q", got)
	}
}

type gone struct{ *httptest.ResponseRecorder }

func (*gone) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }
