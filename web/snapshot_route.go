package web

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"
)

// snapshotTimeout is how long the reading may take, as long as a scrape by
// default.
const snapshotTimeout = 10 * time.Second

// snapshot reads the counters anew, as a scrape does.
func snapshot(watcher Watcher) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), snapshotTimeout)
		defer cancel()
		state, release, err := watcher.Scrape(ctx)
		if err != nil {
			writeProblem(w, http.StatusServiceUnavailable, problemNotReady, notReadyDetail)
			return
		}
		// Rows that cannot be read are a missing key; the State's degraded list
		// says why.
		rows, _ := watcher.InterruptRows(ctx)
		document := NewSnapshot(state, rows)
		release()

		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		_ = WriteSnapshot(w, document) // the client may be gone
	}
}

// WriteSnapshot writes the document and a line break.
func WriteSnapshot(w io.Writer, s Snapshot) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(s)
}
