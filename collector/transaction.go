package collector

import (
	"github.com/netsteer/netsteer/apply"
	"github.com/netsteer/netsteer/watch"
)

var (
	transactionGroup = &group{"transaction"}

	applyTotal = transactionGroup.counter("apply_total",
		"Transactions by how they ended, from the journal: those of commands and before a restart count too. rejected are requests that this process refused before it wrote anything.",
		"result")
	applyLast = transactionGroup.gauge("apply_last_timestamp_seconds",
		"When the last transaction ended so. Absent if none has.",
		"result")
)

var transactionCollector = collector{group: transactionGroup, emit: emitTransactions}

func emitTransactions(st *watch.State, s *sink) {
	if st.Transactions == nil {
		return
	}
	for _, result := range apply.CountResults {
		c := st.Transactions[result]
		s.add(applyTotal, float64(c.N), result)
		if !c.Last.IsZero() {
			s.add(applyLast, float64(c.Last.UnixNano())/1e9, result)
		}
	}
}
