package lab

import (
	"bytes"
	"fmt"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Metrics is one scrape, parsed by Prometheus' own reader of the text format.
type Metrics map[string]*dto.MetricFamily

// Series is one series of a scrape.
type Series struct {
	Labels map[string]string
	Value  float64
}

// Metrics scrapes the program under test.
func (r *Running) Metrics() (Metrics, error) {
	text, err := r.Get("/metrics")
	if err != nil {
		return nil, err
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("/metrics: %w", err)
	}
	return families, nil
}

// Value gives the one series of that name which has these labels, given as
// name, value, name, value ...; false when there is none, or more than one.
func (m Metrics) Value(name string, labels ...string) (float64, bool) {
	series := m.Series(name, labels...)
	if len(series) != 1 {
		return 0, false
	}
	return series[0].Value, true
}

// Series gives all series of that name which have these labels, in the order
// of the scrape. Only counters, gauges and untyped metrics have a value.
func (m Metrics) Series(name string, labels ...string) []Series {
	if len(labels)%2 != 0 {
		panic("lab: labels are pairs of name and value")
	}
	var found []Series
	for _, metric := range m[name].GetMetric() {
		s := Series{Labels: map[string]string{}}
		for _, l := range metric.GetLabel() {
			s.Labels[l.GetName()] = l.GetValue()
		}
		switch {
		case metric.Counter != nil:
			s.Value = metric.Counter.GetValue()
		case metric.Gauge != nil:
			s.Value = metric.Gauge.GetValue()
		default:
			s.Value = metric.GetUntyped().GetValue()
		}
		if s.has(labels) {
			found = append(found, s)
		}
	}
	return found
}

func (s Series) has(labels []string) bool {
	for i := 0; i < len(labels); i += 2 {
		if s.Labels[labels[i]] != labels[i+1] {
			return false
		}
	}
	return true
}
