package main

import (
	"bufio"
	"context"
	"io"
	"time"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/expfmt"

	"github.com/netsteer/netsteer/advisor"
	"github.com/netsteer/netsteer/collector"
	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/watch"
)

type metrics struct {
	machine     *machineFlags
	from        *string
	window      time.Duration
	excludeCPUs *cpuset.Set
	collectors  *collectorFlags
}

func addMetrics(app *kingpin.Application, machine *machineFlags) command {
	cmd := app.Command("metrics", "Write the metrics to stdout once, for node_exporter's textfile collector.")
	m := &metrics{machine: machine, from: addFrom(cmd), excludeCPUs: addExcludeCPUs(cmd)}
	addWindow(cmd, &m.window)
	m.collectors = addCollectorFlags(cmd)
	return m.run
}

func (m *metrics) run(stdout, _ io.Writer) error {
	ctx := context.Background()
	seen, err := m.machine.observe(ctx, observation{
		from:   *m.from,
		window: m.window,
		skew:   m.machine.skew(*m.excludeCPUs),
		policy: advisor.Policy{Leave: m.machine.leave, ExcludeCPUs: *m.excludeCPUs},
	})
	if err != nil {
		return err
	}
	defer seen.close()
	exporter := collector.New(collector.Config{
		State:   func(context.Context) (*watch.State, func(), error) { return seen.state, func() {}, nil },
		Enabled: m.collectors.enabled(),
	})
	families, done, err := exporter.Gather(ctx)
	if err != nil {
		return err
	}
	defer done()
	out := bufio.NewWriter(stdout)
	for _, family := range families {
		if _, err := expfmt.MetricFamilyToText(out, family); err != nil {
			return err
		}
	}
	return out.Flush()
}
