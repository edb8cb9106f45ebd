package web

import (
	"errors"
	"io/fs"
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/netsteer/netsteer/apply"
)

// transactions lists the journal, the running transaction included.
func (h *Handler) transactions(w http.ResponseWriter, _ *http.Request) {
	all, err := h.o.Engine.List()
	if err != nil {
		problem(problemInternal, "the journal cannot be read: "+err.Error()).write(w)
		return
	}
	if all == nil {
		all = []apply.Transaction{}
	}
	writeDocument(w, http.StatusOK, "application/json", apply.List{Schema: apply.ListSchema, Transactions: all})
}

func (h *Handler) transaction(w http.ResponseWriter, r *http.Request) {
	id := chi.URLParam(r, "id")
	t, err := h.o.Engine.Get(id)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		problem(string(apply.WordUnknownTransaction), "there is no such transaction; GET /transactions lists them").write(w)
	case err != nil:
		problem(problemInternal, err.Error()).write(w)
	default:
		writeDocument(w, http.StatusOK, "application/json", t)
	}
}
