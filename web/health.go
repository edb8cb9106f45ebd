package web

import (
	"io"
	"net/http"
)

// healthy says that the process answers, whatever it can read.
func healthy(w http.ResponseWriter, _ *http.Request) {
	writeText(w, "netsteer is healthy.\n")
}

// ready says whether there is something to show: the first Inventory and Sample.
func ready(watcher Watcher) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if !watcher.Ready() {
			writeProblem(w, http.StatusServiceUnavailable, problemNotReady, notReadyDetail)
			return
		}
		writeText(w, "netsteer is ready.\n")
	}
}

const notReadyDetail = "the first inventory and sample are not read yet; try again in a second"

func writeText(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, text) // the client may be gone
}
