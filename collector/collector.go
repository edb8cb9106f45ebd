// Package collector turns State into metric families. One path does it for
// every reader: each collector emits into a sink of kept families, which only
// overwrites values while the shape stays the same.
package collector

import (
	"slices"
	"strings"

	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/watch"
)

// collector is one part of the exposition that can be switched off by name.
type collector struct {
	*group
	// off: not collected unless it is asked for.
	off bool
	// sources are what the collector shows: without one of them it did not succeed.
	sources []host.Source
	emit    func(*watch.State, *sink)
}

// all lists the collectors in the order in which people see them.
var all = []*collector{
	&queueCollector,
	&interruptsCollector,
	&affinityCollector,
	&skewCollector,
	&softirqCollector,
	&softnetCollector,
	&cpuCollector,
	&deviceCollector,
	&sysctlCollector,
	&rivalCollector,
	&advisorCollector,
	&transactionCollector,
	&irqMatrixCollector,
}

// succeeded reports whether the reading has every source the collector shows.
func (c *collector) succeeded(st *watch.State) bool {
	for _, source := range c.sources {
		if st.Failed[source] {
			return false
		}
	}
	return true
}

// Names lists every collector, for --[no-]collector.NAME.
func Names() []string {
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = c.name
	}
	return names
}

// DefaultEnabled reports whether the collector is on when no flag names it.
// It is false for an unknown name.
func DefaultEnabled(name string) bool {
	return slices.ContainsFunc(all, func(c *collector) bool { return c.name == name && !c.off })
}

// Desc describes one metric family.
type Desc struct {
	Name   string   // with the prefix netsteer_
	Type   string   // "counter" or "gauge"
	Help   string   // one line
	Labels []string // label names, in the order of the contract
	// Collector is the one that emits it, "" for what every scrape has.
	Collector string
}

// Describe lists every family that a collector can emit, those off by default
// included, sorted by name. What client_golang says of the process
// (netsteer_build_info, go_*, process_*) is not among them.
func Describe() []Desc {
	descs := make([]Desc, len(families))
	for i, f := range families {
		descs[i] = Desc{
			Name:      f.name,
			Type:      strings.ToLower(f.kind.String()),
			Help:      f.help,
			Labels:    slices.Clone(f.labels),
			Collector: f.collector,
		}
	}
	slices.SortFunc(descs, func(a, b Desc) int { return strings.Compare(a.Name, b.Name) })
	return descs
}
