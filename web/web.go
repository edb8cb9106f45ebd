// Package web serves netsteer's routes: metrics, health, the snapshot, advice,
// transactions and a page. What goes wrong is answered with problem documents
// (RFC 9457).
package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"golang.org/x/time/rate"

	"github.com/netsteer/netsteer/advisor"
	"github.com/netsteer/netsteer/apply"
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/watch"
)

// Watcher is what the routes ask of a *watch.Watcher.
type Watcher interface {
	// Ready: the first Inventory and Sample are there.
	Ready() bool
	Latest() (state *watch.State, release func(), err error)
	Scrape(ctx context.Context) (state *watch.State, release func(), err error)
	// Fresh is Scrape with settings that are at most so old.
	Fresh(ctx context.Context, maxAge time.Duration) (state *watch.State, release func(), err error)
	InterruptRows(ctx context.Context) ([]host.InterruptRow, error)
	// Changed tells that a transaction has written settings.
	Changed()
}

// Options are what New needs.
type Options struct {
	Watcher     Watcher
	Metrics     http.Handler
	MetricsPath string // see CheckMetricsPath
	Version     string // shown on the page
	// Policy of plans; a request may ask for another profile and for some devices.
	Policy advisor.Policy
	// Engine reads the journal and, if it has a Setter, writes settings.
	Engine *apply.Engine
	Posts  Posts
	Logger *slog.Logger     // nil: nothing is logged
	Now    func() time.Time // nil: time.Now
}

// Handler answers all routes.
type Handler struct {
	chi.Router
	o           Options
	plans       plans
	limit       *rate.Limiter
	crossOrigin *http.CrossOriginProtection
	jobs        sync.WaitGroup
}

// New returns the Handler.
func New(o Options) *Handler {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	r := chi.NewRouter()
	h := &Handler{Router: r, o: o, limit: rate.NewLimiter(postRate, postBurst), crossOrigin: http.NewCrossOriginProtection()}
	r.Use(secure, middleware.GetHead)
	r.NotFound(notFound(r))
	r.MethodNotAllowed(methodNotAllowed(r))

	r.Method(http.MethodGet, o.MetricsPath, o.Metrics)
	r.Get("/", h.landing)
	r.Get("/advice", h.advice)
	r.Get("/transactions", h.transactions)
	r.Get("/transactions/{id}", h.transaction)
	r.Post("/apply", h.post(h.apply))
	r.Post("/rollback", h.post(h.rollback))
	r.Get("/snapshot", snapshot(o.Watcher))
	r.Get("/-/healthy", healthy)
	r.Get("/-/ready", ready(o.Watcher))
	return h
}

// Wait returns when no transaction is at work any more. Servers must have
// stopped before, so that none begins.
func (h *Handler) Wait() { h.jobs.Wait() }

func (h *Handler) now() time.Time { return h.o.Now() }

// reserved are the paths that metrics cannot have, now or later.
var reserved = []string{"/", "/advice", "/apply", "/confirm", "/rollback", "/snapshot", "/transactions"}

// CheckMetricsPath says why a path can't be the one of the metrics.
func CheckMetricsPath(path string) error {
	switch {
	case !strings.HasPrefix(path, "/"):
		return errors.New("must begin with /; e.g. /metrics")
	case strings.ContainsAny(path, "{}*?#% "):
		return errors.New("has a character that a plain path cannot have; e.g. /metrics")
	case slices.Contains(reserved, path), strings.HasPrefix(path, "/-/"), strings.HasPrefix(path, "/transactions/"):
		return errors.New("is another page of netsteer; e.g. /metrics")
	}
	return nil
}

// secure sets what a browser shall keep to on every answer.
func secure(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Content-Security-Policy", contentSecurityPolicy)
		next.ServeHTTP(w, r)
	})
}

func notFound(routes chi.Routes) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		problem(problemNotFound, fmt.Sprintf("nothing is served at %s; there are: %s", r.URL.Path, strings.Join(paths(routes), ", "))).write(w)
	}
}

// methodNotAllowed sets Allow itself: chi does so only in its own handler.
func methodNotAllowed(routes chi.Routes) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var allow []string
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			if routes.Match(chi.NewRouteContext(), method, r.URL.Path) {
				allow = append(allow, method)
				if method == http.MethodGet {
					allow = append(allow, http.MethodHead)
				}
			}
		}
		w.Header().Set("Allow", strings.Join(allow, ", "))
		problem(problemMethodNotAllowed, fmt.Sprintf("%s does not take %s; it takes %s", r.URL.Path, r.Method, strings.Join(allow, ", "))).write(w)
	}
}

// paths are the router's paths, sorted.
func paths(routes chi.Routes) []string {
	out := make([]string, 0, len(routes.Routes()))
	for _, route := range routes.Routes() {
		out = append(out, route.Pattern)
	}
	slices.Sort(out)
	return out
}
