package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/netsteer/netsteer/advisor"
	"github.com/netsteer/netsteer/apply"
	"github.com/netsteer/netsteer/host"
)

type applyCommand struct {
	machine  *machineFlags
	policy   *policyFlags
	stateDir *string
	devices  []string
	kinds    []host.Kind
	window   time.Duration
	verify   time.Duration
	plan     string
	format   string

	allowDisruptive, allowRival, skipMissing, dryRun, yes bool
}

func addApply(app *kingpin.Application, machine *machineFlags) command {
	cmd := app.Command("apply", "Make the changes that advise shows, or those of a plan file: all or none.")
	a := &applyCommand{machine: machine, policy: addPolicyFlags(cmd), stateDir: addStateDir(cmd)}
	cmd.Flag("device", "Change this device only; may be given again.").PlaceHolder("NAME").StringsVar(&a.devices)
	addWindow(cmd, &a.window)
	cmd.Flag("plan", "Apply this plan file (advise --format=json, or written by hand) instead of advice of now; - is stdin.").PlaceHolder("FILE").StringVar(&a.plan)
	parsed(cmd.Flag("kind", "Kinds of changes, with commas between (default: irq_affinity and xps_cpus, and rps_cpus that removes or corrects a mask; of a plan file all).").PlaceHolder("LIST"), &a.kinds, parseKinds)
	cmd.Flag("allow-disruptive", "Also make changes that reset link, vectors or tables.").BoolVar(&a.allowDisruptive)
	cmd.Flag("allow-rival", "Move vectors though another program (irqbalance) does as well.").BoolVar(&a.allowRival)
	cmd.Flag("skip-missing", "Leave out what is not there, instead of refusing the plan.").BoolVar(&a.skipMissing)
	cmd.Flag("dry-run", "Check everything up to the first write, and show it.").BoolVar(&a.dryRun)
	parsed(cmd.Flag("verify", "How long to check that the changes helped. Only 0s so far: verification comes in a later release.").Default("0s"), &a.verify, parseVerify)
	cmd.Flag("yes", "Do not ask.").BoolVar(&a.yes)
	parsed(cmd.Flag("format", "text or json (the transaction).").Default("text"), &a.format, parseOneOf("text", "json"))
	return a.run
}

func parseKinds(text string) ([]host.Kind, error) {
	var kinds []host.Kind
	for word := range strings.SplitSeq(text, ",") {
		word = strings.TrimSpace(word)
		// Select knows the kinds; a plan without changes is enough for it to tell.
		if _, _, err := advisor.Select(&advisor.Advice{}, advisor.Selection{Kinds: []host.Kind{host.Kind(word)}}); err != nil {
			return nil, err
		}
		kinds = append(kinds, host.Kind(word))
	}
	return kinds, nil
}

func parseVerify(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	switch {
	case err != nil || d < 0:
		return 0, errors.New("not a duration; only 0s is possible so far")
	case d > 0:
		return 0, errors.New("only 0s is possible so far: verification comes in a later release")
	}
	return d, nil
}

func (a *applyCommand) run(stdout, stderr io.Writer) error {
	if !a.yes && !a.dryRun {
		if err := canAsk(); err != nil {
			return fmt.Errorf("%w, --dry-run shows what would be done", err)
		}
	}
	ctx, stop := interruptible()
	defer stop()
	var file *advisor.Advice
	if a.plan != "" {
		var err error
		if file, err = readPlan(a.plan); err != nil {
			return err
		}
	}
	request, err := a.request(ctx, file)
	if err != nil {
		return err
	}
	return a.apply(ctx, request, stdout, stderr)
}

// request is what is to be done: a plan file's changes or those of the advice of
// now, as selected.
func (a *applyCommand) request(ctx context.Context, file *advisor.Advice) (*apply.Request, error) {
	o := observation{devices: a.devices, window: a.window, skew: a.machine.skew(*a.policy.excludeCPUs)}
	if file != nil {
		o.window, o.always = 0, planDevices(file) // a plan file needs no rates
	}
	seen, err := a.machine.observe(ctx, o)
	if err != nil {
		return nil, err
	}
	defer seen.close()
	inv := seen.state.Inventory
	if err := checkSteerable(a.devices, inv); err != nil {
		return nil, err
	}
	r := &apply.Request{
		Actor: actor(), DryRun: a.dryRun,
		AllowDisruptive: a.allowDisruptive, AllowRival: a.allowRival, SkipMissing: a.skipMissing,
	}
	if file != nil {
		r.Advice = file
		if err := a.resolve(file, seen); err != nil {
			return nil, err
		}
	} else {
		r.Advice = advisor.Advise(seen.state.Facts(), a.policy.policy(a.machine, a.devices))
		r.Fingerprint = r.Advice.Fingerprint
	}
	selection := advisor.Selection{Kinds: a.kinds, AllowDisruptive: a.allowDisruptive}
	if file != nil { // advice of now is of these devices already
		selection.Devices = a.devices
		for _, name := range a.devices {
			file.Devices = append(file.Devices, advisor.Device{Device: name}) // it is here, whether the plan names it or not
		}
	}
	selected, left, err := advisor.Select(r.Advice, selection)
	if err != nil {
		return nil, err
	}
	r.Changes = selected
	for _, c := range left {
		r.Left = append(r.Left, c.ID)
	}
	return r, nil
}

// apply asks if need be, does it, and shows what was done.
func (a *applyCommand) apply(ctx context.Context, r *apply.Request, stdout, stderr io.Writer) error {
	if len(r.Changes) == 0 {
		return a.show(stdout, nothingToChange(r))
	}
	engine, err := a.machine.newWriter(*a.stateDir, planDevices(&advisor.Advice{Changes: r.Changes}), stderr)
	if err != nil {
		return err
	}
	defer engine.close()
	if !a.yes && !a.dryRun {
		trial := *r
		trial.DryRun = true
		would, err := engine.Apply(ctx, trial)
		if err != nil {
			return err
		}
		writePlan(stderr, would)
		if !confirmed(stderr, "Apply?") {
			return errors.New("not confirmed; nothing was written")
		}
	}
	if ctx.Err() != nil {
		return errInterrupted
	}
	t, err := engine.Apply(ctx, *r)
	if err != nil {
		return err
	}
	return a.show(stdout, t)
}

func (a *applyCommand) show(stdout io.Writer, t *apply.Transaction) error {
	if err := writeTransaction(stdout, t, a.format); err != nil {
		return err
	}
	return ended(t)
}

func nothingToChange(r *apply.Request) *apply.Transaction {
	now := time.Now().UTC().Format(time.RFC3339)
	reason, state := "nothing to change", apply.Committed
	if len(r.Left) > 0 {
		reason = "nothing of the plan was selected"
	}
	if r.DryRun {
		state = apply.DryRun
	}
	return &apply.Transaction{
		Schema: apply.TransactionSchema, Operation: apply.Apply, State: state, Reason: reason,
		Fingerprint: r.Fingerprint, Profile: r.Advice.Profile, Started: now, Ended: now, Actor: r.Actor,
		Changes: []apply.Change{}, Left: r.Left,
	}
}

// maxPlan bounds a plan file: a change is less than 1 KiB.
const maxPlan = 16 << 20

func readPlan(name string) (*advisor.Advice, error) {
	in, label := os.Stdin, "--plan=-"
	if name != "-" {
		label = fmt.Sprintf("--plan=%q", name)
		f, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", label, cause(err))
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, maxPlan+1))
	if err == nil && len(text) > maxPlan {
		err = fmt.Errorf("is larger than %d MiB", maxPlan>>20)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", label, cause(err))
	}
	plan, err := advisor.ParsePlan(text)
	if err == nil { // a kind that cannot be written: found before the machine is looked at
		_, _, err = advisor.Select(plan, advisor.Selection{})
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", label, err)
	}
	return plan, nil
}

// cause leaves out the path, which the line has already.
func cause(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// resolve makes sure that a plan file fits this machine, and fills in what its
// settings are now.
func (a *applyCommand) resolve(file *advisor.Advice, seen *seen) error {
	inv := seen.state.Inventory
	if err := advisor.CheckHost(file, inv, seen.state.Allowed); err != nil {
		return fmt.Errorf("--plan=%q: %w", a.plan, err)
	}
	for i := range file.Changes {
		c, err := advisor.Resolve(inv, file.Changes[i])
		switch {
		case errors.Is(err, advisor.ErrNotThere) && a.skipMissing:
		case errors.Is(err, advisor.ErrNotThere):
			return fmt.Errorf("--plan=%q: %w; --skip-missing leaves it out", a.plan, err)
		case err != nil:
			return fmt.Errorf("--plan=%q: %w", a.plan, err)
		}
		file.Changes[i] = c
	}
	return nil
}

func planDevices(plan *advisor.Advice) []string {
	var names []string
	for i := range plan.Changes {
		if name := plan.Changes[i].Device; name != "" {
			names = append(names, name)
		}
	}
	return names
}
