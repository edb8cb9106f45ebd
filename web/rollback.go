package web

import (
	"context"
	"net/http"

	"github.com/netsteer/netsteer/apply"
)

// rollback writes former values back.
func (h *Handler) rollback(w http.ResponseWriter, r *http.Request, actor string) {
	request := apply.RollbackRequest{Actor: actor}
	if p := readBody(w, r, map[string]any{"transaction": &request.ID, "force": &request.Force}); p != nil {
		h.refuse(w, p)
		return
	}
	if !h.o.Watcher.Ready() { // settings are found by device and queue
		h.refuse(w, problem(problemNotReady, notReadyDetail))
		return
	}
	h.transact(w, r, actor, func(ctx context.Context) (any, *Problem) {
		t, err := h.o.Engine.Rollback(ctx, request)
		if err != nil {
			h.o.Engine.Reject() // counts refusals of apply only
			return nil, problem(refusalWord(err), err.Error())
		}
		h.settled(t)
		if p := failure(t); p != nil {
			return nil, p
		}
		return t, nil
	})
}
