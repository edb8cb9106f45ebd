package main

import "github.com/grafana/grafana-foundation-sdk/go/units"

// exporter is about netsteer itself.
var exporter = row{
	title: "netsteer itself",
	panels: []panel{
		{
			kind: timeline, title: "Scrapes", width: 6, height: 6, words: map[string]word{"0": {"failed", "red"}, "1": {"answered", "green"}},
			about:   "Whether Prometheus could scrape this host.",
			queries: []query{{`max by (instance) (up{@host})`, "{{instance}}"}},
		},
		{
			kind: timeline, title: "Collectors", width: 6, height: 6, words: map[string]word{"0": {"without data", "red"}, "1": {"fine", "green"}},
			about:   "A collector is without data when a source that it shows could not be read by the scrape's deadline and its last values are too old. Its series are absent then.",
			do:      "The log of netsteer says which source; a longer scrape_timeout helps a slow one.",
			queries: []query{{`min by (collector) (netsteer_scrape_collector_success{@host})`, "{{collector}}"}},
		},
		{
			kind: lines, title: "Duration of a scrape", width: 6, height: 6, unit: units.Seconds,
			about: "As Prometheus sees it, and of it the time in which collectors turn the reading into series.",
			queries: []query{
				{`max(scrape_duration_seconds{@host})`, "scrape"},
				{`sum(netsteer_scrape_collector_duration_seconds{@host})`, "collectors"},
			},
		},
		{
			kind: lines, title: "Age of each source", width: 6, height: 6, unit: units.Seconds, limits: []limit{{90, "orange"}},
			about:   "Time since it was last read. Counters are read at each scrape, settings every 60 s and after each change.",
			queries: []query{{`max by (source) (time() - netsteer_source_last_success_timestamp_seconds{@host})`, "{{source}}"}},
		},
		{
			kind: lines, title: "CPU", width: 6, height: 6, unit: units.PercentUnit,
			about:   "Of one CPU.",
			queries: []query{{`max(rate(process_cpu_seconds_total{@host}[$__rate_interval]))`, "netsteer"}},
		},
		{
			kind: lines, title: "Memory", width: 6, height: 6, unit: units.BytesIEC,
			about:   "Resident.",
			queries: []query{{`max(process_resident_memory_bytes{@host})`, "netsteer"}},
		},
		{
			kind: lines, title: "Series", width: 6, height: 6, unit: units.Short,
			about:   "Samples in a scrape. They grow with queues, CPUs and devices, never with traffic or time.",
			queries: []query{{`max(scrape_samples_scraped{@host})`, "samples"}},
		},
		{
			kind: number, title: "Plans applied", width: 6, height: 6, unit: units.Short,
			about:   "Transactions by how they ended, from the journal on the host. `rolled_back`: it made things worse and was undone. `failed`: the undo is incomplete, look at `netsteer transactions`.",
			queries: []query{{`sum by (result) (netsteer_apply_total{@host})`, "{{result}}"}},
		},
	},
}
