package web

import (
	"context"
	"io"
	"net/http"
	"time"
)

// readTimeout is how long the reading may take, as long as a scrape by default.
const readTimeout = 10 * time.Second

// snapshot reads the counters anew, as a scrape does.
func snapshot(watcher Watcher) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), readTimeout)
		defer cancel()
		state, release, err := watcher.Scrape(ctx)
		if err != nil {
			problem(problemNotReady, notReadyDetail).write(w)
			return
		}
		// Rows that cannot be read are a missing key; the State's degraded list
		// says why.
		rows, _ := watcher.InterruptRows(ctx)
		document := NewSnapshot(state, rows)
		release()
		writeDocument(w, http.StatusOK, "application/json", document)
	}
}

// WriteSnapshot writes the document and a line break.
func WriteSnapshot(w io.Writer, s Snapshot) error { return encode(w, s) }
