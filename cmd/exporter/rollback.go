package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/alecthomas/kingpin/v2"

	"github.com/netsteer/netsteer/apply"
)

type rollback struct {
	machine    *machineFlags
	stateDir   *string
	id         string
	force, yes bool
	format     string
}

func addRollback(app *kingpin.Application, machine *machineFlags) command {
	cmd := app.Command("rollback", "Write back what was there before a transaction. Needs no server.")
	r := &rollback{machine: machine, stateDir: addStateDir(cmd)}
	cmd.Arg("id", "The transaction (default: the last committed one).").StringVar(&r.id)
	cmd.Flag("force", "Also where a setting no longer holds what the transaction wrote, or a later one wrote it.").BoolVar(&r.force)
	cmd.Flag("yes", "Do not ask.").BoolVar(&r.yes)
	parsed(cmd.Flag("format", "text or json (the transaction).").Default("text"), &r.format, parseOneOf("text", "json"))
	return r.run
}

func (r *rollback) run(stdout, stderr io.Writer) error {
	if !r.yes {
		if err := canAsk(); err != nil {
			return err
		}
	}
	ctx, stop := interruptible()
	defer stop()
	engine, err := r.machine.newWriter(*r.stateDir, nil, stderr)
	if err != nil {
		return err
	}
	defer engine.close()
	id := r.id
	if !r.yes {
		// What is shown is what is rolled back. What there is none of, or was
		// rolled back already, the engine says.
		if t := r.target(engine.Engine); t != nil {
			id = t.ID
			writePlan(stderr, t)
			if !confirmed(stderr, fmt.Sprintf("Write back what was there before %s?", t.ID)) {
				return errors.New("not confirmed; nothing was written")
			}
		}
	}
	t, err := engine.Rollback(ctx, apply.RollbackRequest{ID: id, Force: r.force, Actor: actor()})
	if refused := new(apply.Refused); errors.As(err, &refused) && refused.Word == apply.WordUnknownTransaction {
		return fmt.Errorf("%w in %s; netsteer transactions lists them, --state.dir names another folder", err, *r.stateDir)
	}
	if err != nil {
		return err
	}
	if r.format == "text" && nothingUndone(t) {
		return errors.New(t.Reason)
	}
	if err := writeTransaction(stdout, t, r.format); err != nil {
		return err
	}
	if nothingUndone(t) {
		return errors.New(t.Reason)
	}
	return ended(t)
}

// nothingUndone: a setting does not hold its former value, and none was written.
func nothingUndone(t *apply.Transaction) bool {
	return t.ID == "" && slices.ContainsFunc(t.Changes, func(c apply.Change) bool { return c.Error != nil })
}

// target is the transaction that the engine would choose, nil if none.
func (r *rollback) target(engine *apply.Engine) *apply.Transaction {
	all, err := engine.List()
	if err != nil {
		return nil
	}
	for i := range all {
		if t := &all[i]; t.ID == r.id || r.id == "" && t.Operation != apply.Rollback && t.State == apply.Committed {
			return t
		}
	}
	return nil
}
