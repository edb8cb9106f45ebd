package watch

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/netsteer/netsteer/advisor"
	"github.com/netsteer/netsteer/apply"
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/scan"
	"github.com/netsteer/netsteer/skew"
)

// Config is what a Watcher needs.
type Config struct {
	Scanner *scan.Scanner
	// Interval between Samples, length of the window, and how old a value may be
	// that is shown in place of one that is late.
	Interval, Window, MaxAge time.Duration
	Skew                     skew.Options
	Logger                   *slog.Logger
	// Notify wakes the Watcher when the kernel says that a link or an ethtool
	// setting has changed; nil: it looks every settingsInterval only.
	Notify <-chan struct{}
	// Policy of the advice in State.
	Policy advisor.Policy
	// Transactions counts how transactions ended: (*apply.Engine).Counts. May be nil.
	Transactions func() (map[string]apply.Count, error)
}

const (
	// settingsInterval: settings take RTNL and change seldom.
	settingsInterval = 60 * time.Second
	// settingsPause keeps a storm of notifications from holding RTNL.
	settingsPause = time.Second
	// shared: scrapes within this time get one reading.
	shared = time.Second
)

// ErrNotReady is returned before the first Inventory and Sample are there.
var ErrNotReady = errors.New("the first reading is not done yet")

// Watcher keeps a State up to date.
type Watcher struct {
	config Config
	share  time.Duration // readings younger than this serve another scrape
	// uncounted is the last word on transactions that could not be counted.
	uncounted string
	stale     chan struct{} // the Inventory is out of date
	turn      chan struct{} // held by whoever reads counters; bounded waits need a channel

	refreshing sync.Mutex // one reading of settings at a time: they take RTNL

	mu     sync.Mutex
	view   *view
	latest *lease
	holds  *holds
	advice *advisor.Advice // of the last Sample tick
	held   *Held
}

// New returns a Watcher that does nothing before Run.
func New(c Config) *Watcher {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	w := &Watcher{
		config: c, share: shared, stale: make(chan struct{}, 1), turn: make(chan struct{}, 1),
		holds: newHolds(heldWindows * c.Window),
	}
	w.turn <- struct{}{}
	return w
}

// Run watches until ctx ends.
func (w *Watcher) Run(ctx context.Context) error {
	w.refresh(false)
	var tasks sync.WaitGroup
	tasks.Go(func() { w.settings(ctx) })
	tasks.Go(func() { w.samples(ctx) })
	tasks.Wait()
	return ctx.Err()
}

// settings reads the Inventory again on the slow clock, and when it is stale.
func (w *Watcher) settings(ctx context.Context) {
	slow := time.NewTicker(settingsInterval)
	defer slow.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-slow.C:
		case <-w.stale:
		case <-w.config.Notify:
		}
		// What is notified from here on is not in this reading.
		drain(w.config.Notify)
		w.refresh(false)
		if !sleep(ctx, settingsPause) {
			return
		}
	}
}

// samples takes a Sample every interval.
func (w *Watcher) samples(ctx context.Context) {
	tick := time.NewTicker(w.config.Interval)
	defer tick.Stop()
	for {
		w.sample(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (w *Watcher) sample(ctx context.Context) {
	deadline, cancel := context.WithTimeout(ctx, w.config.Interval)
	defer cancel()
	if _, release, err := w.read(deadline, true); err == nil {
		release()
	} else if ctx.Err() == nil {
		w.config.Logger.Warn("No sample was taken", "err", err)
	}
}

// Ready reports whether the first Inventory and Sample are there, and what is
// advised from them.
func (w *Watcher) Ready() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.advice != nil
}

// Scrape reads the counters now and returns the State with them. Scrapes within
// a second share one reading. ctx carries the deadline: what is not read by
// then is shown with its last value, or not at all. The State is valid until
// release is called.
func (w *Watcher) Scrape(ctx context.Context) (*State, func(), error) {
	return w.read(ctx, false)
}

// Latest returns the newest State without reading anything.
func (w *Watcher) Latest() (*State, func(), error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.latest == nil {
		return nil, nil, ErrNotReady
	}
	return w.latest.acquire(w)
}

// InterruptRows reads every row of /proc/interrupts.
func (w *Watcher) InterruptRows(_ context.Context) ([]host.InterruptRow, error) {
	s, release, err := w.Latest()
	if err != nil {
		return nil, err
	}
	defer release()
	return w.config.Scanner.InterruptRows(s.Inventory)
}

// outdated asks for a new Inventory.
func (w *Watcher) outdated() {
	select {
	case w.stale <- struct{}{}:
	default:
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// drain forgets notifications that one reading answers. A nil channel has none.
func drain(c <-chan struct{}) {
	for {
		select {
		case <-c:
		default:
			return
		}
	}
}
