package collector

import (
	"slices"

	"github.com/netsteer/netsteer/watch"
)

// Families that say how the reading went: in every scrape, whatever is
// switched off.
var (
	selfGroup = &group{""}

	scrapeDuration = selfGroup.gauge("scrape_collector_duration_seconds",
		"Time the collector took to turn the reading into series. The reading itself is one for all collectors.",
		"collector")
	scrapeSuccess = selfGroup.gauge("scrape_collector_success",
		"0: a source that the collector shows could not be read by the scrape's deadline and its last values are too old.",
		"collector")
	sourceDegraded = selfGroup.gauge("source_degraded",
		"1 while a value is missing or guessed because of it; device is empty for a source of the whole host. Absent otherwise.",
		"source", "device", "reason")
	sourceLastSuccess = selfGroup.gauge("source_last_success_timestamp_seconds",
		"When the source was last read. Absent for one never read.",
		"source")
)

func emitSources(st *watch.State, s *sink) {
	for i := range st.Degraded {
		d := &st.Degraded[i]
		s.add(sourceDegraded, 1, string(d.Source), d.Device, string(d.Reason))
	}
	s.sources = s.sources[:0]
	for source := range st.LastSuccess {
		s.sources = append(s.sources, source)
	}
	slices.Sort(s.sources)
	for _, source := range s.sources {
		s.add(sourceLastSuccess, float64(st.LastSuccess[source].UnixNano())/1e9, string(source))
	}
}
