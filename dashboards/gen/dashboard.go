package main

import (
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// row is a titled group of panels, from left to right and down; widths of each
// line of them sum up to 24.
type row struct {
	title  string
	panels []panel
}

// rows, from the verdict to what it rests on.
var rows = []row{verdict, host, device, exporter}

var datasource = common.DataSourceRef{Type: new("prometheus"), Uid: new("${datasource}")}

// classic is the JSON that every Grafana imports. The SDK prefers the second
// schema, which Grafana has since 12 only.
type classic = dashboard.Dashboard //nolint:staticcheck // see above

// build lays the rows out. An id is the place in the list, so that a link to a
// panel holds as long as none is put before it.
func build() (classic, error) {
	b := dashboard.NewDashboardBuilder("netsteer") //nolint:staticcheck // see classic
	b.Uid("netsteer").
		Description("NIC queues and the CPUs that serve them: who is overloaded, why, and what to change.").
		Tags([]string{"netsteer", "network"}).
		Time("now-1h", "now").
		Refresh("30s").
		Timezone("browser").
		Tooltip(dashboard.DashboardCursorSyncCrosshair)
	for _, v := range variables() {
		b.WithVariable(v)
	}
	id := uint32(0)
	for _, r := range rows {
		id++
		b.WithRow(dashboard.NewRowBuilder(r.title).Id(id))
		for _, p := range r.panels {
			id++
			built, err := p.build(id)
			if err != nil {
				return classic{}, fmt.Errorf("%s: %s: %w", r.title, p.title, err)
			}
			b.WithPanel(built)
		}
	}
	return b.Build()
}

func variables() []cog.Builder[dashboard.VariableModel] {
	query := func(name, label, expr string) *dashboard.QueryVariableBuilder {
		return dashboard.NewQueryVariableBuilder(name).
			Label(label).
			Datasource(datasource).
			Query(dashboard.StringOrMap{String: new(expr)}).
			Refresh(dashboard.VariableRefreshOnTimeRangeChanged).
			Sort(dashboard.VariableSortNaturalAsc)
	}
	return []cog.Builder[dashboard.VariableModel]{
		dashboard.NewDatasourceVariableBuilder("datasource").Label("Data source").Type("prometheus"),
		query("job", "Job", `label_values(netsteer_build_info, job)`),
		query("instance", "Host", `label_values(netsteer_build_info{job="$job"}, instance)`),
		query("device", "Device", `label_values(netsteer_device_info{job="$job",instance="$instance"}, device)`).
			Multi(true).IncludeAll(true),
	}
}
