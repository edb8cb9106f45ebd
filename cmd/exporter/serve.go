package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/promslog"
	"github.com/prometheus/common/version"
	toolkit "github.com/prometheus/exporter-toolkit/web"
	"github.com/prometheus/exporter-toolkit/web/kingpinflag"
	"golang.org/x/sync/errgroup"

	"github.com/netsteer/netsteer/apply"
	"github.com/netsteer/netsteer/collector"
	"github.com/netsteer/netsteer/host/live"
	"github.com/netsteer/netsteer/watch"
	"github.com/netsteer/netsteer/web"
)

type serve struct {
	machine                  *machineFlags
	policy                   *policyFlags
	writing                  writingFlags
	interval, window, maxAge time.Duration
	web                      *toolkit.FlagConfig
	metricsPath              string
	maxRequests, procs       int
	collectors               *collectorFlags
	log                      promslog.Config
}

func addServe(app *kingpin.Application, machine *machineFlags) command {
	cmd := app.Command("serve", "Serve metrics and advice until told to stop.").Default()
	s := &serve{machine: machine, policy: addPolicyFlags(cmd)}
	parsed(cmd.Flag("sample.interval", "Time between two samples.").Default("5s"), &s.interval, parseInterval)
	parsed(cmd.Flag("sample.window", "Length of the window over which rates and skew are taken.").Default("60s"), &s.window, parseDuration)
	parsed(cmd.Flag("source.max-age", "Age up to which a source's last values stand in for one that is not read in time.").Default("30s"), &s.maxAge, parseDuration)
	s.writing.add(cmd)
	s.web = kingpinflag.AddFlags(cmd, defaultAddress)
	parsed(cmd.Flag("web.telemetry-path", "Path of the metrics.").Default("/metrics"), &s.metricsPath, parseMetricsPath)
	parsed(cmd.Flag("web.max-requests", "Most scrapes at a time; 0: no limit.").Default("40"), &s.maxRequests, parseNotNegative)
	parsed(cmd.Flag("runtime.gomaxprocs", "Most CPUs that netsteer itself runs on at a time.").Default("1"), &s.procs, parsePositive)
	s.collectors = addCollectorFlags(cmd)
	addLogFlags(cmd, &s.log)
	return s.run
}

func parseMetricsPath(path string) (string, error) { return path, web.CheckMetricsPath(path) }

// addLogFlags is promslog/flag.AddFlags for a command: that one takes the whole
// application only.
func addLogFlags(cmd *kingpin.CmdClause, config *promslog.Config) {
	level, format := promslog.NewLevel(), promslog.NewFormat()
	config.Level, config.Format = level, format
	parsed(cmd.Flag("log.level", "Least severity that is logged: debug, info, warn or error.").Default("info"), &config.Level,
		func(text string) (*promslog.Level, error) { return level, level.Set(text) })
	parsed(cmd.Flag("log.format", "Format of the log: logfmt or json.").Default("logfmt"), &config.Format,
		func(text string) (*promslog.Format, error) { return format, format.Set(text) })
}

func (s *serve) run(_, stderr io.Writer) error {
	runtime.GOMAXPROCS(s.procs)
	if s.window < s.interval {
		return fmt.Errorf("--sample.window=%s is shorter than --sample.interval=%s; it must hold at least one interval", s.window, s.interval)
	}
	if err := errors.Join(checkWebConfig(*s.web.WebConfigFile), s.writing.check()); err != nil {
		return err
	}
	machine, closeMachine, err := live.Machine(s.machine.procfs, s.machine.sysfs, s.machine.netlink)
	if err != nil {
		return err
	}
	defer closeMachine() //nolint:errcheck // the process ends
	endpoints, err := s.listen()
	if err != nil {
		return err
	}
	defer closeAll(endpoints)

	s.log.Writer = stderr
	logger := promslog.New(&s.log)
	logger.Info("Starting netsteer", "version", version.Info(), "build_context", version.BuildContext())
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	var notify <-chan struct{}
	if s.machine.netlink {
		notify = notifications(ctx, logger)
	}
	policy := s.policy.policy(s.machine, nil)
	var engine *apply.Engine
	watcher := watch.New(watch.Config{
		Scanner:      s.machine.scanner(machine, nil),
		Interval:     s.interval,
		Window:       s.window,
		MaxAge:       s.maxAge,
		Skew:         s.machine.skew(*s.policy.excludeCPUs),
		Logger:       logger,
		Notify:       notify,
		Policy:       policy,
		Transactions: func() (map[string]apply.Count, error) { return engine.Counts() },
	})
	engine = s.engine(watcher, logger)
	exporter := collector.New(collector.Config{
		State:       watcher.Scrape,
		Enabled:     s.collectors.enabled(),
		MaxRequests: s.maxRequests,
		Logger:      logger,
	})
	routes := web.New(web.Options{
		Watcher:     watcher,
		Metrics:     exporter.Handler(),
		MetricsPath: s.metricsPath,
		Version:     version.Version,
		Policy:      policy,
		Engine:      engine,
		Posts:       s.writing.posts(),
		Logger:      logger,
	})
	// A transaction at work is let end: half a plan is worse than all or none.
	defer routes.Wait()
	go func() {
		<-ctx.Done()
		stop() // a second signal ends the process at once
	}()
	go s.recoverCrash(ctx, engine, watcher, logger)
	return s.serve(ctx, endpoints, routes, watcher.Run, logger)
}

// stopTimeout is how long answers under way may take once told to stop.
const stopTimeout = 5 * time.Second

// serve runs the watcher and one server per listener until ctx ends, or until one
// of them fails. One per listener because the toolkit writes to the
// server it is given: ServeMultiple shares one and races (exporter-toolkit
// v0.20.0, web/tls_config.go).
func (s *serve) serve(ctx context.Context, endpoints []endpoint, routes http.Handler, watcher func(context.Context) error, logger *slog.Logger) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return notStopped(watcher(ctx)) })
	for _, e := range endpoints {
		server := newServer(routes, logger)
		server.BaseContext = func(net.Listener) context.Context { return e.as.Context(context.Background()) }
		flags := &toolkit.FlagConfig{WebConfigFile: &e.as.ConfigFile}
		group.Go(func() error { return notStopped(toolkit.Serve(e.Listener, server, flags, logger)) })
		group.Go(func() error {
			<-ctx.Done()
			return shutdown(server)
		})
	}
	err := group.Wait()
	if err == nil {
		logger.Info("Stopped")
	}
	return err
}

func newServer(routes http.Handler, logger *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           routes,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		// A slow client of a long exposition; Prometheus waits 10 s by default.
		WriteTimeout:   2 * time.Minute,
		IdleTimeout:    2 * time.Minute,
		MaxHeaderBytes: 64 << 10,
	}
}

// shutdown lets answers under way end, and cuts those that do not.
func shutdown(server *http.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		return server.Close()
	}
	return nil
}

// notStopped leaves out the errors that say no more than that all went as told.
func notStopped(err error) error {
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
