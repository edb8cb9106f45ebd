package watch

import "github.com/netsteer/netsteer/host"

// lease is a State with the buffers it lives in. They are used again once
// nobody holds it: not a scrape, nor the ring. Guarded by Watcher.mu.
type lease struct {
	state      *State // replaced, never written, once it is published
	sample     host.Sample
	interrupts []uint64
	refs       int
	free       *[]*lease
}

// acquire takes a reference; w.mu is held.
func (l *lease) acquire(w *Watcher) (*State, func(), error) {
	l.refs++
	released := false
	return l.state, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if !released {
			released = true
			l.drop()
		}
	}, nil
}

// drop gives a reference back; w.mu is held.
func (l *lease) drop() {
	if l.refs--; l.refs == 0 {
		*l.free = append(*l.free, l)
	}
}

// take returns a lease with one reference; w.mu is held.
func take(free *[]*lease) *lease {
	if n := len(*free); n > 0 {
		l := (*free)[n-1]
		*free = (*free)[:n-1]
		l.refs = 1
		return l
	}
	return &lease{refs: 1, free: free}
}
