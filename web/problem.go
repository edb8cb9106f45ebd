package web

import (
	"encoding/json"
	"net/http"
)

// Problem is a problem document (RFC 9457). Type is urn:netsteer:problem: and a
// word of a closed set; Detail says what, where, why and what to do.
type Problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
}

// Words of problem types.
const (
	problemNotFound         = "not-found"
	problemMethodNotAllowed = "method-not-allowed"
	problemNotReady         = "not-ready"
)

func writeProblem(w http.ResponseWriter, status int, word, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	// The client may be gone; there is nobody left to tell.
	_ = json.NewEncoder(w).Encode(Problem{
		Type:   "urn:netsteer:problem:" + word,
		Title:  http.StatusText(status),
		Status: status,
		Detail: detail,
	})
}
