package watch

import (
	"context"
	"fmt"
	"time"

	"github.com/netsteer/netsteer/host"
)

// Changed reads the settings again after a transaction; the window starts anew.
func (w *Watcher) Changed() { w.refresh(true) }

// Inventory returns the last one read, nil before the first.
func (w *Watcher) Inventory() *host.Inventory {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.view == nil {
		return nil
	}
	return w.view.inv
}

// Fresh is Scrape with settings that are at most so old: what a plan is made
// from. Reading them takes RTNL.
func (w *Watcher) Fresh(ctx context.Context, maxAge time.Duration) (*State, func(), error) {
	if !w.Ready() {
		return nil, nil, ErrNotReady
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.refreshing.Lock()
		defer w.refreshing.Unlock()
		if time.Since(w.Inventory().Time) >= maxAge {
			w.refreshNow(false)
		}
	}()
	select {
	case <-done:
	case <-ctx.Done():
		return nil, nil, fmt.Errorf("reading the settings: %w", ctx.Err())
	}
	return w.read(ctx, false)
}

func (w *Watcher) refresh(restart bool) {
	w.refreshing.Lock()
	defer w.refreshing.Unlock()
	w.refreshNow(restart)
}

// refreshNow reads the Inventory and replaces the view if its shape has changed.
// Counters go on being read meanwhile. w.refreshing is held.
func (w *Watcher) refreshNow(restart bool) {
	begun := time.Now()
	inv := w.config.Scanner.Inventory()
	inv.Time = begun

	// The reader whose turn it is must not see the view change under it.
	<-w.turn
	defer func() { w.turn <- struct{}{} }()
	w.mu.Lock()
	old := w.view
	if old != nil && old.inv.Shape == inv.Shape {
		old.inv = inv
		if restart {
			old.clear()
		}
		w.mu.Unlock()
		return
	}
	w.mu.Unlock()

	v := newView(w.config.Scanner, inv, old)
	w.mu.Lock()
	w.view = v
	if old != nil {
		old.clear()
	}
	w.mu.Unlock()
	if old != nil {
		w.config.Logger.Info("Queues, vectors or CPUs have changed; the window starts anew", "generation", inv.Generation)
	}
}
