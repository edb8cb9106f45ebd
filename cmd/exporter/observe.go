package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/scan"
	"github.com/netsteer/netsteer/skew"
	"github.com/netsteer/netsteer/watch"
)

// observation is what a command that runs once wants to see.
type observation struct {
	from    string        // "": this machine
	devices []string      // must be there
	window  time.Duration // 0: one Sample
	skew    skew.Options
}

// seen is what it saw.
type seen struct {
	state   *watch.State
	scanner *scan.Scanner
	close   func()
}

func (s *seen) interruptRows() ([]host.InterruptRow, error) {
	return s.scanner.InterruptRows(s.state.Inventory)
}

func (m *machineFlags) observe(ctx context.Context, o observation) (*seen, error) {
	machine, closeMachine, err := m.open(o.from)
	if err != nil {
		return nil, err
	}
	s := &seen{scanner: m.scanner(machine, o.devices), close: closeMachine}
	s.state, err = watch.Once(ctx, watch.Config{
		Scanner: s.scanner,
		Skew:    o.skew,
		Logger:  slog.New(slog.DiscardHandler),
	}, o.window)
	if err == nil {
		err = checkDevices(o.devices, s.state.Inventory)
	}
	if err != nil {
		closeMachine()
		return nil, err
	}
	return s, nil
}
