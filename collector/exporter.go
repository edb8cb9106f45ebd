package collector

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/collectors/version"
	dto "github.com/prometheus/client_model/go"

	"github.com/netsteer/netsteer/watch"
)

// Config says what an Exporter shows.
type Config struct {
	// State reads the machine: (*watch.Watcher).Scrape, or Latest. The context
	// carries the scrape's deadline. The State is used until release is called.
	State func(ctx context.Context) (st *watch.State, release func(), err error)
	// Enabled switches collectors on or off by name; one that it does not hold
	// has its default.
	Enabled map[string]bool
	// Gatherer adds families of other packages; their names must not clash with
	// Describe, go_*, process_* and netsteer_build_info. May be nil.
	Gatherer prometheus.Gatherer
	// MaxRequests limits the scrapes in flight (503 above); 0 is no limit.
	MaxRequests int
	Logger      *slog.Logger     // nil: nothing is logged
	Now         func() time.Time // nil: time.Now
}

// Exporter serves State as metric families. Its methods may be called from
// several goroutines.
type Exporter struct {
	config  Config
	enabled []*collector
	process prometheus.TransactionalGatherer

	mu   sync.Mutex
	free []*sink
}

// keepSinks is how many unused family sets are kept. Scrapes seldom overlap;
// after a burst of slow clients the rest is garbage.
const keepSinks = 2

// New makes an Exporter.
func New(config Config) *Exporter {
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	e := &Exporter{config: config}
	for _, c := range all {
		on, named := config.Enabled[c.name]
		if on || !named && !c.off {
			e.enabled = append(e.enabled, c)
		}
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		version.NewCollector("netsteer"),
	)
	gatherers := prometheus.Gatherers{registry}
	if config.Gatherer != nil {
		gatherers = append(gatherers, config.Gatherer)
	}
	e.process = prometheus.ToTransactionalGatherer(gatherers)
	return e
}

// Gather reads the State once and returns its families, sorted by name, each
// with at least one metric: what `netsteer metrics` prints. What client_golang
// says of this process is not among them, for node_exporter, which reads such a
// file, says the same of itself.
//
// The families are valid until done is called, also after an error: then they
// hold scrape_collector_success 0 for every collector and nothing else.
func (e *Exporter) Gather(ctx context.Context) (families []*dto.MetricFamily, done func(), err error) {
	return e.gather(ctx, e.enabled)
}

func (e *Exporter) gather(ctx context.Context, chosen []*collector) ([]*dto.MetricFamily, func(), error) {
	s := e.take()
	st, release, err := e.config.State(ctx)
	if err != nil {
		for _, c := range chosen {
			s.flag(scrapeSuccess, false, c.name)
		}
		return s.end(), e.giveBack(s), err
	}
	// The lease ends here, not with the client: families hold copies of the
	// numbers, and labels are strings of the immutable Inventory.
	defer release()
	for _, c := range chosen {
		began := e.config.Now()
		c.emit(st, s)
		s.add(scrapeDuration, e.config.Now().Sub(began).Seconds(), c.name)
		s.flag(scrapeSuccess, c.succeeded(st), c.name)
	}
	emitSources(st, s)
	return s.end(), e.giveBack(s), nil
}

// take gives a set of families that nobody else uses: a client that reads
// slowly keeps its own.
func (e *Exporter) take() *sink {
	e.mu.Lock()
	defer e.mu.Unlock()
	if n := len(e.free); n > 0 {
		s := e.free[n-1]
		e.free = e.free[:n-1]
		s.begin()
		return s
	}
	return newSink()
}

func (e *Exporter) giveBack(s *sink) func() {
	return sync.OnceFunc(func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if len(e.free) < keepSinks {
			e.free = append(e.free, s)
		}
	})
}
