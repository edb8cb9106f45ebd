package web

import (
	"slices"
	"sync"

	"github.com/netsteer/netsteer/advisor"
)

// keptPlans is how many of the plans given out are remembered.
const keptPlans = 16

// plans are the last ones given out: a POST with a fingerprint applies the very
// plan that somebody has read.
type plans struct {
	mu   sync.Mutex
	last []*advisor.Advice // newest first, each fingerprint once
}

// remember keeps a plan; nobody changes it any more.
func (p *plans) remember(a *advisor.Advice) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = slices.DeleteFunc(p.last, func(old *advisor.Advice) bool { return old.Fingerprint == a.Fingerprint })
	p.last = slices.Insert(p.last, 0, a)
	p.last = p.last[:min(len(p.last), keptPlans)]
}

func (p *plans) find(fingerprint string) *advisor.Advice {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.last {
		if a.Fingerprint == fingerprint {
			return a
		}
	}
	return nil
}
