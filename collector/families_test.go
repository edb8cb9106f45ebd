package collector

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"github.com/netsteer/netsteer/internal/testenv"
)

// gather returns copies of what a State gives, by series text.
func gather(t testing.TB, e *Exporter) map[string]float64 {
	t.Helper()
	mfs, done, err := e.Gather(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	return flatten(t, mfs)
}

// flatten maps name{label="value",...} to the value, and asserts what holds for
// every scrape: sorted families that are not empty, labels sorted, no series
// twice, every value a number.
func flatten(t testing.TB, mfs []*dto.MetricFamily) map[string]float64 {
	t.Helper()
	out := map[string]float64{}
	last := ""
	for _, mf := range mfs {
		if mf.GetName() <= last {
			t.Errorf("%s after %s: not sorted or twice", mf.GetName(), last)
		}
		last = mf.GetName()
		if len(mf.Metric) == 0 {
			t.Errorf("%s has no metric", mf.GetName())
		}
		for _, m := range mf.Metric {
			key := seriesText(mf.GetName(), m)
			if _, twice := out[key]; twice {
				t.Errorf("twice: %s", key)
			}
			v := m.GetCounter().GetValue() + m.GetGauge().GetValue()
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%s is %v", key, v)
			}
			if (m.Counter != nil) != (mf.GetType() == dto.MetricType_COUNTER) || (m.Gauge != nil) != (mf.GetType() == dto.MetricType_GAUGE) {
				t.Errorf("%s is not of its family's type", key)
			}
			names := make([]string, len(m.Label))
			for i, l := range m.Label {
				names[i] = l.GetName()
			}
			if !slices.IsSorted(names) {
				t.Errorf("%s: labels not sorted", key)
			}
			out[key] = v
		}
	}
	return out
}

func seriesText(name string, m *dto.Metric) string {
	var b strings.Builder
	b.WriteString(name)
	for i, l := range m.Label {
		b.WriteString(map[bool]string{true: "{", false: ","}[i == 0])
		fmt.Fprintf(&b, "%s=%q", l.GetName(), l.GetValue())
	}
	if len(m.Label) > 0 {
		b.WriteString("}")
	}
	return b.String()
}

// A State that has everything shows every declared family, and both linters of
// the Prometheus project find nothing to say about names, types and HELP.
func TestEveryFamilyIsClean(t *testing.T) {
	for _, split := range []bool{false, true} {
		e := New(Config{State: reading(generate(shape{devices: 2, pairs: 2, cpus: 4, spread: 2, split: split})), Enabled: everything()})
		mfs, done, err := e.Gather(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		defer done()
		flatten(t, mfs)
		seen := map[string]bool{}
		for _, mf := range mfs {
			seen[mf.GetName()] = true
		}
		for _, d := range Describe() {
			if !seen[d.Name] {
				t.Errorf("split=%v: no series of %s", split, d.Name)
			}
		}
		problems, err := promlint.NewWithMetricFamilies(mfs).Lint()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range problems {
			t.Errorf("promlint: %s: %s", p.Metric, p.Text)
		}
	}
}

func TestPromtoolFindsNothing(t *testing.T) {
	promtool := testenv.Tool(t, "promtool")
	e := New(Config{State: reading(generate(shape{devices: 2, pairs: 2, cpus: 4, spread: 2})), Enabled: everything()})
	mfs, done, err := e.Gather(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	var text bytes.Buffer
	enc := expfmt.NewEncoder(&text, expfmt.NewFormat(expfmt.TypeTextPlain))
	for _, mf := range mfs {
		if err := enc.Encode(mf); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(promtool, "check", "metrics")
	cmd.Stdin = &text
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
}

// The list of metrics is a contract: names, types, labels and HELP change only
// with a line in the changelog.
func TestMetricsContract(t *testing.T) {
	var b strings.Builder
	for _, d := range Describe() {
		collector := d.Collector
		if collector == "" {
			collector = "-"
		}
		fmt.Fprintf(&b, "%s{%s} %s %s\n\t%s\n", d.Name, strings.Join(d.Labels, ","), d.Type, collector, d.Help)
	}
	testenv.Golden(t, "metrics.txt", b.String())
}

func TestDescribe(t *testing.T) {
	names := map[string]bool{}
	for _, d := range Describe() {
		if names[d.Name] {
			t.Errorf("%s is declared twice", d.Name)
		}
		names[d.Name] = true
		if strings.HasSuffix(d.Name, "_total") != (d.Type == "counter") {
			t.Errorf("%s is a %s", d.Name, d.Type)
		}
		if d.Collector != "" && !slices.Contains(Names(), d.Collector) {
			t.Errorf("%s belongs to the unknown collector %q", d.Name, d.Collector)
		}
		if strings.ContainsAny(d.Help, "\n\\") || !strings.HasSuffix(d.Help, ".") {
			t.Errorf("%s: HELP is not one line of sentences: %q", d.Name, d.Help)
		}
	}
	for _, name := range Names() {
		if want := name != "irq-matrix"; DefaultEnabled(name) != want {
			t.Errorf("DefaultEnabled(%q) = %v", name, !want)
		}
	}
	if DefaultEnabled("nope") {
		t.Error("an unknown collector is enabled")
	}
}

// No more series than the contract's bound, on the largest machine it is made
// for and with a vector for each queue: every CPU hit by every device,
// every source degraded for every device.
func TestCardinalityBound(t *testing.T) {
	for _, m := range []shape{
		{devices: 64, pairs: 128, cpus: 512, spread: 512},
		{devices: 4, pairs: 128, cpus: 64, spread: 64, split: true},
		{devices: 64, pairs: 1, cpus: 2, spread: 2, split: true},
		{devices: 1, pairs: 1, cpus: 1, spread: 1},
		{devices: 2, pairs: 8, cpus: 512, spread: 8},
	} {
		st := generate(m)
		st.Degraded = nil
		for i := range st.Inventory.Devices {
			for _, source := range allSources {
				st.Degraded = append(st.Degraded, degraded(source, st.Inventory.Devices[i].Name))
			}
		}
		for _, source := range allSources {
			st.LastSuccess[source] = noon
		}
		mfs, done, err := New(Config{State: reading(st)}).Gather(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		for _, mf := range mfs {
			got += len(mf.Metric)
		}
		done()
		devices := len(st.Inventory.Devices)
		bound := 26*m.devices*m.pairs + 16*m.cpus + 120*devices + m.devices*m.spread + 200
		t.Logf("%+v: %d series of at most %d", m, got, bound)
		if got > bound {
			t.Errorf("%+v: %d series, the bound is %d", m, got, bound)
		}
	}
}

// A collector that is off hides its series and nothing else.
func TestSwitchedOff(t *testing.T) {
	st := generate(shape{devices: 1, pairs: 2, cpus: 2, spread: 1})
	whole := gather(t, New(Config{State: reading(st), Enabled: everything(), Now: stopped}))
	for _, off := range Names() {
		enabled := everything()
		enabled[off] = false
		rest := gather(t, New(Config{State: reading(st), Enabled: enabled, Now: stopped}))
		want := maps.Clone(whole)
		for _, d := range Describe() {
			maps.DeleteFunc(want, func(key string, _ float64) bool {
				name, _, _ := strings.Cut(key, "{")
				return name == d.Name && d.Collector == off || strings.Contains(key, fmt.Sprintf("{collector=%q}", off))
			})
		}
		if len(want) == len(whole) || !maps.Equal(rest, want) {
			t.Errorf("without %s: %d series, want %d of %d", off, len(rest), len(want), len(whole))
		}
	}
}
