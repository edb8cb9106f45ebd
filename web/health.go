package web

import "net/http"

// healthy says that the process answers, whatever it can read.
func healthy(w http.ResponseWriter, _ *http.Request) {
	writeText(w, "netsteer is healthy.\n")
}

// ready says whether there is something to show: the first Inventory and Sample.
func ready(watcher Watcher) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if !watcher.Ready() {
			problem(problemNotReady, notReadyDetail).write(w)
			return
		}
		writeText(w, "netsteer is ready.\n")
	}
}

const notReadyDetail = "the first inventory and sample are not read yet; try again in a second"
