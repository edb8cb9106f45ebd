package web

import (
	"encoding/json"
	"io"
	"net/http"
)

// writeDocument answers with JSON that nobody keeps.
func writeDocument(w http.ResponseWriter, status int, contentType string, document any) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = encode(w, document) // the client may be gone
}

// encode writes the document and a line break.
func encode(w io.Writer, document any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(document)
}

func writeText(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, text) //nolint:gosec // plain text, and nosniff; the client may be gone
}
