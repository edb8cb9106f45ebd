package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/user"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/alecthomas/kingpin/v2"

	"github.com/netsteer/netsteer/apply"
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/live"
)

// addStateDir adds --state.dir to a command that reads or writes transactions.
func addStateDir(cmd *kingpin.CmdClause) *string {
	return cmd.Flag("state.dir", "Where transactions are recorded.").Envar("NETSTEER_STATE").Default("/var/lib/netsteer").PlaceHolder("DIR").String()
}

// readJournal is an Engine that only reads.
func readJournal(dir string, stderr io.Writer) *apply.Engine {
	return apply.New(apply.Options{Dir: dir, Logger: warnings(stderr)})
}

// warnings are for people: no time, the terminal has none either.
func warnings(stderr io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{
		Level: slog.LevelWarn,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))
}

// recordedDevices are the devices that any transaction names: they must be found
// to be rolled back, whatever the flags report.
func recordedDevices(all []apply.Transaction) []string {
	var names []string
	for i := range all {
		for _, c := range all[i].Changes {
			if c.Device != "" {
				names = append(names, c.Device)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// writer is an Engine that may write to this machine, and what it reads.
type writer struct {
	*apply.Engine
	close func()
}

// newWriter is the only place besides serve that makes the live Setter. The
// devices are found whatever the flags report.
func (m *machineFlags) newWriter(dir string, devices []string, stderr io.Writer) (*writer, error) {
	// What keeps the journal from being read, the transaction will be refused for.
	all, _ := readJournal(dir, io.Discard).List()
	machine, closeMachine, err := live.Machine(m.procfs, m.sysfs, m.netlink)
	if err != nil {
		return nil, err
	}
	scanner := m.scanner(machine, append(recordedDevices(all), devices...))
	var last atomic.Pointer[host.Inventory]
	look := func() (*host.Inventory, error) {
		inv := scanner.Inventory()
		last.Store(inv)
		return inv, nil
	}
	inv, _ := look()
	return &writer{
		Engine: apply.New(apply.Options{
			Dir:       dir,
			Setter:    live.NewSetter(m.procfs, m.sysfs, last.Load),
			Inventory: look,
			BootID:    inv.BootID,
			Logger:    warnings(stderr),
		}),
		close: func() { _ = closeMachine() },
	}, nil
}

// actor is who runs the command, for the record.
func actor() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return "cli:" + u.Username
	}
	return "cli:" + strconv.Itoa(os.Getuid())
}

// ended is the exit status of a transaction, and the line for stderr where it is
// not 0.
func ended(t *apply.Transaction) error {
	switch t.State {
	case apply.Committed, apply.DryRun:
		return nil
	case apply.RolledBack:
		if t.Operation == apply.Rollback {
			return &exit{exitRolledBack, fmt.Sprintf("the rollback was undone, all is as before it: %s", t.Reason)}
		}
		return &exit{exitRolledBack, fmt.Sprintf("rolled back, all is as before: %s", t.Reason)}
	}
	return &exit{exitUndoIncomplete, fmt.Sprintf("undo incomplete, see transaction %s: %s", t.ID, t.Reason)}
}

var errInterrupted = errors.New("interrupted; nothing was written")
