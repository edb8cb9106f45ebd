//go:build e2e

package check

import (
	"testing"

	"github.com/netsteer/netsteer/internal/promtest"
)

// A real Prometheus has data for every expression, from two targets: netsteer on
// this machine, which has all about netsteer itself, and what netsteer exports
// of the recorded host, which has NICs and faults. That one stands still: values
// are the lab's matter, labels and joins are this test's.
func TestEveryExpressionHasData(t *testing.T) {
	live, _ := promtest.Live(t)
	recorded := promtest.Recorded(t)
	base := promtest.Prometheus(t, []string{live, recorded}, nil)

	for _, e := range expressions(t) {
		c := Choice{Job: "netsteer", Instance: recorded, Device: ".+", RateInterval: 4 * promtest.Interval}
		switch {
		case e.Panel == "Vectors without a queue":
			continue // it has none
		case e.Row == "netsteer itself", e.Panel == "Others that write masks":
			c.Instance = live // a recording holds no processes
		}
		has := promtest.Eventually(func() bool {
			n, err := Count(base, c.Fill(e.Expr))
			if err != nil {
				t.Fatal(err)
			}
			return n > 0
		})
		if !has {
			t.Errorf("%s: nothing of %s", e.Panel, e.Expr)
		}
	}

	// Else all of the above would prove nothing.
	if n, err := Count(base, `netsteer_queue_irq_info{instance="nobody"}`); n != 0 || err != nil {
		t.Errorf("%d series of a host that is none, %v", n, err)
	}
	if _, err := Count(base, `sum by (`); err == nil {
		t.Error("half an expression is no error")
	}
}
