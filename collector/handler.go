package collector

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	_ "github.com/prometheus/client_golang/prometheus/promhttp/zstd" // offers zstd beside gzip
	dto "github.com/prometheus/client_model/go"
)

// Handler serves the exposition: text, OpenMetrics or protobuf, plain, gzip or
// zstd, as the client accepts. collect[] and exclude[] choose collectors as in
// node_exporter, name[] families.
//
// The reading ends by the deadline in X-Prometheus-Scrape-Timeout-Seconds less
// 0.5 s. If there is no State at all, the process's own metrics and
// scrape_collector_success 0 are served.
func (e *Exporter) Handler() http.Handler {
	// A client that went away is one line in the log: HTTPErrorOnError ends at
	// the first error of sending. Errors of gathering never get that far.
	opts := promhttp.HandlerOpts{
		ErrorLog:          promLog{e.config.Logger},
		ErrorHandling:     promhttp.HTTPErrorOnError,
		EnableOpenMetrics: true,
	}
	var slots chan struct{}
	if e.config.MaxRequests > 0 {
		slots = make(chan struct{}, e.config.MaxRequests)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		chosen, err := e.choose(r.URL.Query())
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		// promhttp has the same limit, but its handler holds one gatherer, and
		// ours is another for each request: it carries deadline and choice.
		if slots != nil {
			select {
			case slots <- struct{}{}:
				defer func() { <-slots }()
			default:
				http.Error(w, fmt.Sprintf("%d scrapes are running, the most that --web.max-requests allows; try again later",
					e.config.MaxRequests), http.StatusServiceUnavailable)
				return
			}
		}
		ctx, cancel := context.WithTimeout(r.Context(), timeout(r.Header))
		defer cancel()
		promhttp.HandlerForTransactional(&scrape{e, ctx, chosen}, opts).ServeHTTP(w, r)
	})
}

// scrape is the gatherer of one request.
type scrape struct {
	e      *Exporter
	ctx    context.Context
	chosen []*collector
}

// Gather joins State and process. An error goes to the log alone: what could be
// had is served.
func (s *scrape) Gather() ([]*dto.MetricFamily, func(), error) {
	mfs, done, err := prometheus.NewMultiTRegistry(ofState{s}, s.e.process).Gather()
	if err != nil {
		s.e.config.Logger.Error("this scrape is not complete", "err", err)
	}
	return mfs, done, nil
}

// ofState is the part of a scrape that comes from State.
type ofState struct{ *scrape }

func (s ofState) Gather() ([]*dto.MetricFamily, func(), error) {
	return s.e.gather(s.ctx, s.chosen)
}

// choose gives the collectors that a query asks for.
func (e *Exporter) choose(query url.Values) ([]*collector, error) {
	collect, exclude := query["collect[]"], query["exclude[]"]
	if len(collect) == 0 && len(exclude) == 0 {
		return e.enabled, nil
	}
	if len(collect) > 0 && len(exclude) > 0 {
		return nil, fmt.Errorf("collect[] and exclude[] cannot be combined; collectors: %s", e.names())
	}
	for _, name := range slices.Concat(collect, exclude) {
		if !slices.Contains(Names(), name) {
			return nil, fmt.Errorf("missing collector: %q; collectors: %s", name, e.names())
		}
	}
	for _, name := range collect {
		if !slices.ContainsFunc(e.enabled, func(c *collector) bool { return c.name == name }) {
			return nil, fmt.Errorf("disabled collector: %s; collectors: %s", name, e.names())
		}
	}
	var chosen []*collector
	for _, c := range e.enabled {
		if slices.Contains(collect, c.name) || len(exclude) > 0 && !slices.Contains(exclude, c.name) {
			chosen = append(chosen, c)
		}
	}
	return chosen, nil
}

// names lists the collectors that are on.
func (e *Exporter) names() string {
	names := make([]string, len(e.enabled))
	for i, c := range e.enabled {
		names[i] = c.name
	}
	return strings.Join(names, ", ")
}

const (
	defaultTimeout = 10 * time.Second // Prometheus's scrape_timeout
	answerTime     = 500 * time.Millisecond
	leastTimeout   = 100 * time.Millisecond
	mostTimeout    = time.Hour
)

// timeout is how long a scrape may read: what the client waits, less the time
// to encode and send the answer.
func timeout(header http.Header) time.Duration {
	wait := defaultTimeout
	if s, err := strconv.ParseFloat(header.Get("X-Prometheus-Scrape-Timeout-Seconds"), 64); err == nil && s > 0 {
		wait = time.Duration(math.Min(s, mostTimeout.Seconds()) * float64(time.Second))
	}
	return max(wait-answerTime, leastTimeout)
}

// promLog hands promhttp's errors to slog.
type promLog struct{ *slog.Logger }

func (l promLog) Println(v ...any) {
	l.Error(strings.TrimSuffix(fmt.Sprintln(v...), "\n"))
}
