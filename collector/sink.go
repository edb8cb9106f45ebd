package collector

import (
	"math"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"

	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/skew"
)

// sink holds one set of metric families from scrape to scrape. The nth metric
// that a family is given goes where its nth metric went last time, so that a
// scrape allocates only for series beyond the most there ever were.
type sink struct {
	kept   []kept  // by family.id
	sorted []*kept // by name
	out    []*dto.MetricFamily
	// sources is room for sorting the keys of a map.
	sources []host.Source
}

// kept is a family with all metrics it ever had; the first n are the present ones.
type kept struct {
	family *family
	mf     dto.MetricFamily
	series []*series
	metric []*dto.Metric // of the same series
	n      int
}

// series is one metric. Everything that dto refers to lies in here and is
// overwritten in place.
type series struct {
	dto     dto.Metric
	counter dto.Counter
	gauge   dto.Gauge
	value   float64
	labels  []string // values, in the order of family.labels
}

func newSink() *sink {
	s := &sink{
		kept:   make([]kept, len(families)),
		sorted: make([]*kept, len(families)),
		out:    make([]*dto.MetricFamily, 0, len(families)),
	}
	for i, f := range families {
		k := &s.kept[i]
		k.family = f
		k.mf.Name, k.mf.Help, k.mf.Type = &f.name, &f.help, &f.kind
		s.sorted[i] = k
	}
	slices.SortFunc(s.sorted, func(a, b *kept) int { return strings.Compare(a.family.name, b.family.name) })
	return s
}

func newSeries(f *family) *series {
	m := &series{labels: make([]string, len(f.labels))}
	if f.kind == dto.MetricType_COUNTER {
		m.counter.Value = &m.value
		m.dto.Counter = &m.counter
	} else {
		m.gauge.Value = &m.value
		m.dto.Gauge = &m.gauge
	}
	pairs := make([]dto.LabelPair, len(f.labels))
	m.dto.Label = make([]*dto.LabelPair, len(f.labels))
	for i, l := range f.sorted {
		pairs[i].Name, pairs[i].Value = &f.labels[l], &m.labels[l]
		m.dto.Label[i] = &pairs[i]
	}
	return m
}

// begin forgets the last scrape's series, not their room.
func (s *sink) begin() {
	for i := range s.kept {
		s.kept[i].n = 0
	}
}

// end returns the families that were given a metric, sorted by name. They and
// the slice are valid until the next begin.
func (s *sink) end() []*dto.MetricFamily {
	s.out = s.out[:0]
	for _, k := range s.sorted {
		if k.n > 0 {
			k.mf.Metric = k.metric[:k.n]
			s.out = append(s.out, &k.mf)
		}
	}
	return s.out
}

// add emits one series: label values in the order the family declares. What is
// no number is unknown, and so absent.
func (s *sink) add(f *family, value float64, labels ...string) {
	if len(labels) != len(f.labels) {
		panic("collector: wrong number of label values for " + f.name)
	}
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return
	}
	k := &s.kept[f.id]
	if k.n == len(k.series) {
		m := newSeries(f)
		k.series = append(k.series, m)
		k.metric = append(k.metric, &m.dto)
	}
	m := k.series[k.n]
	k.n++
	m.value = value
	// Mostly the very strings of the last scrape; to look first saves nothing.
	copy(m.labels, labels)
}

// count emits a number the kernel may not tell.
func (s *sink) count(f *family, c host.Count, labels ...string) {
	if c.OK {
		s.add(f, float64(c.N), labels...)
	}
}

// known emits a computed number that may not exist.
func (s *sink) known(f *family, v skew.Value, labels ...string) {
	if v.OK {
		s.add(f, v.V, labels...)
	}
}

// cpus emits how many CPUs a mask holds.
func (s *sink) cpus(f *family, m host.Mask, labels ...string) {
	if m.OK {
		s.add(f, float64(m.Set.Len()), labels...)
	}
}

// flag emits 1 or 0.
func (s *sink) flag(f *family, b bool, labels ...string) {
	v := 0.0
	if b {
		v = 1
	}
	s.add(f, v, labels...)
}
