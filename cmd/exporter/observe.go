package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/netsteer/netsteer/advisor"
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/live"
	"github.com/netsteer/netsteer/host/record"
	"github.com/netsteer/netsteer/host/scan"
	"github.com/netsteer/netsteer/skew"
	"github.com/netsteer/netsteer/watch"
)

// observation is what a command that runs once wants to see.
type observation struct {
	from    string        // "": this machine
	devices []string      // must be there
	always  []string      // reported if they are there, besides devices
	window  time.Duration // 0: one Sample
	skew    skew.Options
	policy  advisor.Policy // of the advice in State
}

func (o *observation) reported() []string { return slices.Concat(o.devices, o.always) }

// readTimeout is how long one reading may take: a driver that hangs is left out.
const readTimeout = 5 * time.Second

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
	look := m.observeLive
	if o.from != "" {
		look = m.observeRecorded
	}
	s, err := look(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := checkDevices(o.devices, s.state.Inventory); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (m *machineFlags) observeLive(ctx context.Context, o observation) (*seen, error) {
	machine, closeMachine, err := live.Machine(m.procfs, m.sysfs, m.netlink)
	if err != nil {
		return nil, err
	}
	s := &seen{scanner: m.scanner(machine, o.reported()), close: func() { _ = closeMachine() }}
	s.state, err = watch.Once(ctx, watch.Config{
		Scanner:  s.scanner,
		Interval: readTimeout,
		MaxAge:   readTimeout,
		Skew:     o.skew,
		Policy:   o.policy,
	}, o.window)
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// observeRecorded takes both samples of a capture when rates are wanted and it
// has two with a known time between them.
func (m *machineFlags) observeRecorded(_ context.Context, o observation) (*seen, error) {
	recording, err := record.Open(o.from)
	if err != nil {
		return nil, fmt.Errorf("--from: %w", err)
	}
	s := &seen{scanner: m.scanner(recording.Machine(), o.reported()), close: func() { _ = recording.Close() }}
	var second *scan.Scanner
	t0, t1, timed := recording.Times()
	if machine, ok := recording.T1(); ok && timed && o.window > 0 {
		second = m.scanner(machine, o.reported())
	}
	s.state = watch.Recorded(o.skew, s.scanner, second, t0, t1)
	if inv := s.state.Inventory; inv.CPUs.Possible.IsEmpty() && len(inv.Devices) == 0 {
		s.close()
		return nil, fmt.Errorf("--from: %s: no CPU and no network device can be read in it", o.from)
	}
	return s, nil
}
