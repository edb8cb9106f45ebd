package collector

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
)

// benchShapes give about 5,000 and 50,000 series.
var benchShapes = map[string]shape{
	"5k":  {devices: 4, pairs: 48, cpus: 32, spread: 16},
	"50k": {devices: 16, pairs: 125, cpus: 128, spread: 32},
}

// discard is a client that costs nothing.
type discard struct {
	header http.Header
	bytes  int
}

func (w *discard) Header() http.Header         { return w.header }
func (w *discard) Write(b []byte) (int, error) { w.bytes += len(b); return len(b), nil }
func (w *discard) WriteHeader(int)             {}

func serve(b *testing.B, h http.Handler, coding string) {
	r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	r.Header.Set("Accept-Encoding", coding)
	b.ReportAllocs()
	began := cpuTimeUsed(b)
	for b.Loop() {
		h.ServeHTTP(&discard{header: http.Header{}}, r)
	}
	b.ReportMetric((cpuTimeUsed(b)-began)/float64(b.N), "cpu-ns/op")
}

// cpuTimeUsed is the process's CPU time in ns: what counts on a machine that
// others use too, where the clock on the wall measures them.
func cpuTimeUsed(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkHandler is the whole answer, emission and process metrics included,
// beside the same series as client_golang's const metrics with cached Descs.
func BenchmarkHandler(b *testing.B) {
	for _, size := range []string{"5k", "50k"} {
		st := generate(benchShapes[size])
		e := New(Config{State: reading(st)})
		own := e.Handler()
		constant := newConstant(b, e)
		b.Run(size+"/kept", func(b *testing.B) {
			serve(b, own, "")
			b.ReportMetric(float64(constant.n), "series")
		})
		b.Run(size+"/const", func(b *testing.B) {
			registry := prometheus.NewRegistry()
			registry.MustRegister(constant)
			serve(b, promhttp.HandlerFor(registry, promhttp.HandlerOpts{}), "")
		})
		b.Run(size+"/kept-gzip", func(b *testing.B) { serve(b, own, "gzip") })
		b.Run(size+"/kept-zstd", func(b *testing.B) { serve(b, own, "zstd") })
	}
}

// BenchmarkEmit is the way from State to families alone.
func BenchmarkEmit(b *testing.B) {
	for _, size := range []string{"5k", "50k"} {
		b.Run(size, func(b *testing.B) {
			e := New(Config{State: reading(generate(benchShapes[size]))})
			b.ReportAllocs()
			began := cpuTimeUsed(b)
			for b.Loop() {
				_, done, err := e.Gather(context.Background())
				if err != nil {
					b.Fatal(err)
				}
				done()
			}
			b.ReportMetric((cpuTimeUsed(b)-began)/float64(b.N), "cpu-ns/op")
		})
	}
}

// constant gives the series of one scrape as const metrics.
type constant struct {
	metrics []constMetric
	n       int
}

type constMetric struct {
	desc   *prometheus.Desc
	kind   prometheus.ValueType
	value  float64
	labels []string
}

func newConstant(b testing.TB, e *Exporter) *constant {
	mfs, done, err := e.Gather(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	defer done()
	c := &constant{}
	for _, mf := range mfs {
		var desc *prometheus.Desc
		for _, m := range mf.Metric {
			names, values := make([]string, len(m.Label)), make([]string, len(m.Label))
			for i, l := range m.Label {
				names[i], values[i] = l.GetName(), l.GetValue()
			}
			if desc == nil {
				desc = prometheus.NewDesc(mf.GetName(), mf.GetHelp(), names, nil)
			}
			kind := prometheus.GaugeValue
			if mf.GetType() == dto.MetricType_COUNTER {
				kind = prometheus.CounterValue
			}
			c.metrics = append(c.metrics, constMetric{desc, kind, m.GetCounter().GetValue() + m.GetGauge().GetValue(), values})
		}
	}
	c.n = len(c.metrics)
	return c
}

func (c *constant) Describe(ch chan<- *prometheus.Desc) {
	for i := range c.metrics {
		if i == 0 || c.metrics[i].desc != c.metrics[i-1].desc {
			ch <- c.metrics[i].desc
		}
	}
}

func (c *constant) Collect(ch chan<- prometheus.Metric) {
	for i := range c.metrics {
		m := &c.metrics[i]
		ch <- prometheus.MustNewConstMetric(m.desc, m.kind, m.value, m.labels...)
	}
}

// The two ways that BenchmarkHandler compares say the same.
func TestConstSaysTheSame(t *testing.T) {
	e := New(Config{State: reading(generate(shape{devices: 2, pairs: 4, cpus: 4, spread: 2})), Now: stopped})
	registry := prometheus.NewRegistry()
	registry.MustRegister(newConstant(t, e))
	mfs, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := flatten(t, mfs), gather(t, e); !maps.Equal(got, want) {
		t.Errorf("const metrics give %d series, kept ones %d, and not the same", len(got), len(want))
	}
}
