package web

import (
	"net/http"
	"strings"

	"github.com/netsteer/netsteer/advisor"
	"github.com/netsteer/netsteer/apply"
)

// Problem is a problem document (RFC 9457). Type is urn:netsteer:problem: and a
// word of a closed set; Detail says what, where, why and what to do.
type Problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
	// Advice of plan-changed is the plan as it is now.
	Advice *advisor.Advice `json:"advice,omitempty"`
	// Transaction of rolled-back and undo-incomplete is what became of it.
	Transaction *apply.Transaction `json:"transaction,omitempty"`
}

// Words of problem types. Those of apply's refusals are apply.Word.
const (
	problemBadRequest       = "bad-request"
	problemApplyDisabled    = "apply-disabled"
	problemCrossSite        = "cross-site"
	problemUserNotAllowed   = "user-not-allowed"
	problemNotFound         = "not-found"
	problemMethodNotAllowed = "method-not-allowed"
	problemTooLarge         = "too-large"
	problemMediaType        = "unsupported-media-type"
	problemRolledBack       = "rolled-back"
	problemTooMany          = "too-many-requests"
	problemUndoIncomplete   = "undo-incomplete"
	problemInternal         = "internal"
	problemNotReady         = "not-ready"
)

// statuses gives each word its status: what clients go by.
var statuses = map[string]int{
	problemBadRequest:                    http.StatusBadRequest,
	problemApplyDisabled:                 http.StatusForbidden,
	problemCrossSite:                     http.StatusForbidden,
	problemUserNotAllowed:                http.StatusForbidden,
	string(apply.WordNotPrivileged):      http.StatusForbidden,
	problemNotFound:                      http.StatusNotFound,
	string(apply.WordUnknownTransaction): http.StatusNotFound,
	problemMethodNotAllowed:              http.StatusMethodNotAllowed,
	string(apply.WordBusy):               http.StatusConflict,
	string(apply.WordPlanChanged):        http.StatusConflict,
	problemTooLarge:                      http.StatusRequestEntityTooLarge,
	problemMediaType:                     http.StatusUnsupportedMediaType,
	string(apply.WordUnknownDevice):      http.StatusUnprocessableEntity,
	string(apply.WordUnknownKind):        http.StatusUnprocessableEntity,
	string(apply.WordRefused):            http.StatusUnprocessableEntity,
	problemRolledBack:                    http.StatusUnprocessableEntity,
	problemTooMany:                       http.StatusTooManyRequests,
	problemUndoIncomplete:                http.StatusInternalServerError,
	problemInternal:                      http.StatusInternalServerError,
	problemNotReady:                      http.StatusServiceUnavailable,
}

// problem makes one line of the detail: YAML's errors come with several.
func problem(word, detail string) *Problem {
	status := statuses[word]
	detail = strings.Join(strings.FieldsFunc(detail, func(c rune) bool { return c == '\n' || c == '\r' }), " ")
	return &Problem{
		Type:   "urn:netsteer:problem:" + word,
		Title:  http.StatusText(status),
		Status: status,
		Detail: detail,
	}
}

func (p *Problem) write(w http.ResponseWriter) {
	writeDocument(w, p.Status, "application/problem+json", p)
}
