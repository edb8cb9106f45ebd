package advisor

import (
	"fmt"
	"testing"

	"github.com/netsteer/netsteer/skew"
)

// A large host at its worst: every vector of 8 NICs on one CPU.
func BenchmarkAdviseLargeHost(b *testing.B) {
	m := newMachine(2, 8, 12, 2)
	for i := range 8 {
		m.nic(fmt.Sprintf("eth%d", i), i%2, same(64, 0)...)
	}
	f := m.facts(skew.Options{})
	b.ReportAllocs()
	for b.Loop() {
		Advise(f, Policy{})
	}
}
