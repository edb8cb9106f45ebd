package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/statetimeline"
	"github.com/grafana/grafana-foundation-sdk/go/statushistory"
	"github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

// panel is one entry of a row.
type panel struct {
	kind   kind
	title  string
	width  uint32 // of 24
	height uint32
	unit   string
	// about says what is shown, and how to read it; do, what to do about it.
	about, do string
	// fault is what must be wrong, or set, for the panel to show anything. It ends
	// the description, and a test makes that fault before it looks.
	fault string
	// ratio: from 0 to 1 whatever the data.
	ratio bool
	stack bool
	// limits colour what is at or above them; below the first it is green. A
	// panel without has a colour for each series.
	limits []limit
	// words stand for numbers.
	words map[string]word
	// columns of a list, by the label or the query's legend, in this order, with
	// their heading; others are hidden.
	columns []column
	queries []query
}

// kind is how a panel shows its data.
type kind uint8

const (
	lines    kind = iota // over time
	number               // now
	heat                 // a line of cells for each series, coloured by limits
	timeline             // a bar for each series, as long as its value lasts
	list                 // a table of now
)

// query is an expression in which @host stands for the matchers of the chosen
// host, and @nic for those and the chosen devices. In a list, legend names the
// column of the value.
type query struct{ expr, legend string }

type limit struct {
	from  float64
	color string
}

type word struct{ text, color string }

type column struct{ name, heading string }

var matchers = strings.NewReplacer(
	"@host", `job="$job",instance="$instance"`,
	"@nic", `job="$job",instance="$instance",device=~"$device"`,
)

// laidOut is a panel that has been built already, for the dashboard's builder.
type laidOut dashboard.Panel

func (p laidOut) Build() (dashboard.Panel, error) { return dashboard.Panel(p), nil }

func (p panel) build(id uint32) (laidOut, error) {
	built, err := p.visualization().Build()
	if err != nil {
		return laidOut{}, err
	}
	built.Id = &id
	built.Title = &p.title
	built.Description = new(p.description())
	built.Datasource = &datasource
	built.GridPos = &dashboard.GridPos{W: p.width, H: p.height}
	for i := range p.queries {
		target, err := p.target(i).Build()
		if err != nil {
			return laidOut{}, err
		}
		built.Targets = append(built.Targets, target)
	}
	if built.FieldConfig == nil {
		built.FieldConfig = dashboard.NewFieldConfigSource()
	}
	p.fields(&built.FieldConfig.Defaults)
	if p.kind == list {
		built.Transformations = p.arrange()
	}
	return laidOut(built), nil
}

func (p panel) description() string {
	parts := []string{p.about}
	if p.do != "" {
		parts = append(parts, "**Do:** "+p.do)
	}
	if p.fault != "" {
		parts = append(parts, "Needs a fault: "+p.fault)
	}
	return strings.Join(parts, "\n\n")
}

// visualization gives the options that only this kind has.
func (p panel) visualization() cog.Builder[dashboard.Panel] {
	switch p.kind {
	case number:
		return stat.NewPanelBuilder().
			ReduceOptions(common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"})).
			Orientation(common.VizOrientationAuto).
			GraphMode(common.BigValueGraphModeNone).
			ColorMode(common.BigValueColorModeValue)
	case heat:
		return statushistory.NewPanelBuilder().
			MaxDataPoints(90). // more cells than pixels are an error
			Tooltip(common.NewVizTooltipOptionsBuilder().Mode(common.TooltipDisplayModeSingle).Sort(common.SortOrderNone)).
			ShowValue(common.VisibilityModeNever).
			Legend(common.NewVizLegendOptionsBuilder().ShowLegend(false))
	case timeline:
		return statetimeline.NewPanelBuilder().
			Tooltip(common.NewVizTooltipOptionsBuilder().Mode(common.TooltipDisplayModeSingle).Sort(common.SortOrderNone)).
			MergeValues(true).
			ShowValue(common.VisibilityModeAuto).
			Legend(common.NewVizLegendOptionsBuilder().ShowLegend(false))
	case list:
		return table.NewPanelBuilder()
	default:
		b := timeseries.NewPanelBuilder().
			ShowPoints(common.VisibilityModeNever).
			Legend(common.NewVizLegendOptionsBuilder().ShowLegend(true).
				DisplayMode(common.LegendDisplayModeList).Placement(common.LegendPlacementBottom)).
			Tooltip(common.NewVizTooltipOptionsBuilder().
				Mode(common.TooltipDisplayModeMulti).Sort(common.SortOrderDescending))
		if p.stack {
			b.Stacking(common.NewStackingConfigBuilder().Mode(common.StackingModeNormal)).FillOpacity(30)
		}
		if len(p.limits) > 0 {
			b.ThresholdsStyle(common.NewGraphThresholdsStyleConfigBuilder().Mode(common.GraphThresholdsStyleModeDashed))
		}
		return b
	}
}

func (p panel) target(i int) *prometheus.DataqueryBuilder {
	q := p.queries[i]
	b := prometheus.NewDataqueryBuilder().
		RefId(refID(i)).
		Datasource(datasource).
		Expr(strings.TrimSpace(matchers.Replace(q.expr)))
	switch p.kind {
	case list:
		return b.Instant().Format(prometheus.PromQueryFormatTable)
	case number:
		return b.Instant().LegendFormat(q.legend)
	default:
		return b.Range().LegendFormat(q.legend)
	}
}

func refID(i int) string { return string(rune('A' + i)) }

// fields says how values look.
func (p panel) fields(f *dashboard.FieldConfig) {
	if p.unit != "" {
		f.Unit = &p.unit
	}
	if p.ratio {
		f.Min, f.Max = new(0.0), new(1.0)
	}
	if p.kind == lines {
		f.Color = &dashboard.FieldColor{Mode: dashboard.FieldColorModeIdPaletteClassic}
		if !p.ratio {
			f.Min = new(0.0)
		}
	} else {
		f.Color = &dashboard.FieldColor{Mode: dashboard.FieldColorModeIdThresholds}
	}
	base := "green"
	if len(p.limits) == 0 {
		base = "text"
	}
	steps := []dashboard.Threshold{{Color: base}}
	for _, l := range p.limits {
		steps = append(steps, dashboard.Threshold{Value: &l.from, Color: l.color})
	}
	f.Thresholds = &dashboard.ThresholdsConfig{Mode: dashboard.ThresholdsModeAbsolute, Steps: steps}

	if len(p.words) > 0 {
		m := dashboard.NewValueMap()
		for i, value := range slices.Sorted(maps.Keys(p.words)) {
			w := p.words[value]
			m.Options[value] = dashboard.ValueMappingResult{Text: &w.text, Color: &w.color, Index: new(int32(i))}
		}
		f.Mappings = []dashboard.ValueMapping{{ValueMap: m}}
	}
}

// arrange makes one table of all queries, with the columns in their order.
// Labels are columns all of them; time, and values that no column names, are not
// shown.
func (p panel) arrange() []dashboard.DataTransformerConfig {
	index, rename, exclude := map[string]any{}, map[string]any{}, map[string]any{"Time": true}
	fields := map[string]string{} // of the values, by legend
	for i, q := range p.queries {
		fields[q.legend] = "Value"
		if len(p.queries) > 1 {
			fields[q.legend] = "Value #" + refID(i)
		}
		exclude[fields[q.legend]] = true
	}
	for i, c := range p.columns {
		field, isValue := fields[c.name]
		if !isValue {
			field = c.name
		}
		index[field], rename[field] = i, c.heading
		delete(exclude, field)
	}
	return []dashboard.DataTransformerConfig{
		{Id: "merge", Options: map[string]any{}},
		{Id: "organize", Options: map[string]any{"excludeByName": exclude, "indexByName": index, "renameByName": rename}},
	}
}
