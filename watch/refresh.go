package watch

import (
	"time"
)

// refresh reads the Inventory and replaces the view if its shape has changed.
// Counters go on being read meanwhile.
func (w *Watcher) refresh() {
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
