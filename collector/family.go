package collector

import (
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
)

// family is the constant part of a metric family.
type family struct {
	id        int // index in families
	name      string
	kind      dto.MetricType
	help      string
	labels    []string
	sorted    []int // indices of labels, by name: the order in which they are exposed
	collector string
}

// families holds every family by id.
var families []*family

// group declares the families of one collector.
type group struct{ name string }

func (g *group) counter(name, help string, labels ...string) *family {
	return g.declare(dto.MetricType_COUNTER, name, help, labels)
}

func (g *group) gauge(name, help string, labels ...string) *family {
	return g.declare(dto.MetricType_GAUGE, name, help, labels)
}

func (g *group) declare(kind dto.MetricType, name, help string, labels []string) *family {
	f := &family{
		id:        len(families),
		name:      "netsteer_" + name,
		kind:      kind,
		help:      help,
		labels:    labels,
		sorted:    make([]int, len(labels)),
		collector: g.name,
	}
	for i := range f.sorted {
		f.sorted[i] = i
	}
	slices.SortFunc(f.sorted, func(a, b int) int { return strings.Compare(labels[a], labels[b]) })
	families = append(families, f)
	return f
}
