package lab

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type answerWith string

func (a answerWith) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(string(a)))}, nil
}

// A value is given only where exactly one series has the labels: a test that
// asks too loosely must not get the first of many.
func TestMetricsValue(t *testing.T) {
	r := &Running{ctx: t.Context(), client: &http.Client{Transport: answerWith(`# TYPE q_total counter
q_total{device="eth0",queue="0"} 5
q_total{device="eth0",queue="1"} 7
# TYPE up gauge
up 1
loose 3
`)}}
	m, err := r.Metrics()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		labels []string
		value  float64
		ok     bool
	}{
		{"q_total", []string{"device", "eth0", "queue", "1"}, 7, true},
		{"q_total", []string{"device", "eth0"}, 0, false},
		{"q_total", []string{"device", "eth1"}, 0, false},
		{"up", nil, 1, true},
		{"loose", nil, 3, true},
		{"absent", nil, 0, false},
	} {
		if value, ok := m.Value(c.name, c.labels...); value != c.value || ok != c.ok {
			t.Errorf("%s%v: %v, %v; want %v, %v", c.name, c.labels, value, ok, c.value, c.ok)
		}
	}
	want := []Series{{map[string]string{"device": "eth0", "queue": "0"}, 5}, {map[string]string{"device": "eth0", "queue": "1"}, 7}}
	if diff := cmp.Diff(want, m.Series("q_total", "device", "eth0")); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
}
