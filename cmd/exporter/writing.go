package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/netsteer/netsteer/apply"
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/live"
	"github.com/netsteer/netsteer/watch"
	"github.com/netsteer/netsteer/web"
)

// writingFlags say whether the server writes settings, and who may tell it to.
type writingFlags struct {
	enabled   bool
	addresses []string // where POST has moved to
	config    string
	users     []string
	stateDir  *string
}

func (f *writingFlags) add(cmd *kingpin.CmdClause) {
	cmd.Flag("web.enable-apply", "Let POST /apply and /rollback write settings.").BoolVar(&f.enabled)
	cmd.Flag("web.apply-listen-address", "Take POST on this address only, host:port or unix:PATH; may be given again.").PlaceHolder("ADDRESS").StringsVar(&f.addresses)
	cmd.Flag("web.apply-config.file", "Web configuration (TLS, users) of --web.apply-listen-address.").PlaceHolder("FILE").StringVar(&f.config)
	cmd.Flag("web.apply-user", "User, or name of a client certificate, that may POST; may be given again. Default: all that are let in.").PlaceHolder("NAME").StringsVar(&f.users)
	f.stateDir = addStateDir(cmd)
}

// check finds what cannot be meant.
func (f *writingFlags) check() error {
	if !f.enabled {
		for flag, given := range map[string]bool{
			"web.apply-listen-address": len(f.addresses) > 0, "web.apply-config.file": f.config != "", "web.apply-user": len(f.users) > 0,
		} {
			if given {
				return fmt.Errorf("--%s: nothing is written without --web.enable-apply", flag)
			}
		}
		return nil
	}
	if info, err := os.Stat(*f.stateDir); err == nil && !info.IsDir() {
		return fmt.Errorf("--state.dir: %s is no directory: name one for the journal", *f.stateDir)
	}
	if f.config != "" && len(f.addresses) == 0 {
		return errors.New("--web.apply-config.file: it is the configuration of --web.apply-listen-address, which is missing")
	}
	return checkWebConfig(f.config)
}

// admits says why POST over a listener would be refused, already at start.
func (f *writingFlags) admits(l web.Listener) error {
	if !l.Posts {
		return nil
	}
	demands, err := web.ReadDemands(l.ConfigFile)
	if err != nil {
		return err
	}
	if err := web.CheckListener(l, demands); err != nil {
		return fmt.Errorf("--web.enable-apply: %w", err)
	}
	if len(f.users) > 0 && !demands.Any() {
		return fmt.Errorf("--web.apply-user: %s asks nobody for a name; demand users or verified client certificates in its web configuration, or leave the flag out", l.Address)
	}
	return nil
}

func (f *writingFlags) posts() web.Posts {
	return web.Posts{Enabled: f.enabled, MovedTo: f.addresses, Users: f.users}
}

// engine makes transactions. Only with --web.enable-apply does it get a Setter,
// and end what a crash left; otherwise it reads the journal.
func (s *serve) engine(watcher *watch.Watcher, logger *slog.Logger) *apply.Engine {
	o := apply.Options{
		Dir:    *s.writing.stateDir,
		Logger: logger,
		BootID: bootID(s.machine.procfs),
		Inventory: func() (*host.Inventory, error) {
			ctx, cancel := context.WithTimeout(context.Background(), inventoryTimeout)
			defer cancel()
			state, release, err := watcher.Fresh(ctx, time.Second)
			if err != nil {
				return nil, err
			}
			defer release()
			return state.Inventory, nil
		},
	}
	if s.writing.enabled {
		o.Setter = live.NewSetter(s.machine.procfs, s.machine.sysfs, watcher.Inventory)
	}
	return apply.New(o)
}

// inventoryTimeout is how long a driver may hold up a transaction before it
// begins.
const inventoryTimeout = 10 * time.Second

// bootID is "" where the kernel does not tell.
func bootID(procfs string) string {
	text, _ := os.ReadFile(filepath.Join(procfs, "sys/kernel/random/boot_id"))
	return strings.TrimSpace(string(text))
}

// recoverCrash ends what a crash left half done, as soon as devices can be found
// by name. A server that does not write says only what is there.
func (s *serve) recoverCrash(ctx context.Context, engine *apply.Engine, watcher *watch.Watcher, logger *slog.Logger) {
	if !s.writing.enabled {
		left, err := engine.Unfinished()
		if err != nil {
			logger.Warn("The journal cannot be read", "err", err)
		}
		for i := range left {
			logger.Warn("A transaction is at work elsewhere, or was interrupted", "transaction", left[i].ID, "started", left[i].Started)
		}
		return
	}
	for !watcher.Ready() {
		select {
		case <-ctx.Done():
			return
		case <-time.After(readyInterval):
		}
	}
	ended, err := engine.Recover(ctx)
	if err != nil {
		logger.Warn("What a crash may have left was not looked for", "err", err)
	}
	if len(ended) > 0 {
		watcher.Changed()
	}
}

const readyInterval = 50 * time.Millisecond
