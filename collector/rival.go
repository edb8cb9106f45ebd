package collector

import (
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/watch"
)

var (
	rivalGroup = &group{"rival"}

	rivalActive = rivalGroup.gauge("rival_active",
		"1 while another program that writes the same files runs, 0 for each known one that does not. Absent if processes cannot be seen.",
		"name")
)

var rivalCollector = collector{
	group:   rivalGroup,
	sources: []host.Source{host.SourceRivals},
	emit:    emitRivals,
}

func emitRivals(st *watch.State, s *sink) {
	for i := range st.Inventory.Rivals {
		r := &st.Inventory.Rivals[i]
		s.flag(rivalActive, r.Active, r.Name)
	}
}
