package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/netsteer/netsteer/advisor"
)

type advise struct {
	machine  *machineFlags
	policy   *policyFlags
	from     *string
	devices  []string
	window   time.Duration
	format   string
	detailed bool
}

func addAdvise(app *kingpin.Application, machine *machineFlags) command {
	cmd := app.Command("advise", "Show what is wrong and the exact changes that mend it. Changes nothing.")
	a := &advise{machine: machine, policy: addPolicyFlags(cmd), from: addFrom(cmd)}
	cmd.Flag("device", "Advise on this device only; may be given again.").PlaceHolder("NAME").StringsVar(&a.devices)
	addWindow(cmd, &a.window)
	parsed(cmd.Flag("format", "text, json (a plan file for apply) or shell (a script that writes the plan).").Default("text"), &a.format, parseOneOf("text", "json", "shell"))
	cmd.Flag("detailed-exitcode", "Exit status 0: nothing to change, 2: changes, 1: error.").BoolVar(&a.detailed)
	return a.run
}

// addWindow adds --window to a command that takes two samples.
func addWindow(cmd *kingpin.CmdClause, window *time.Duration) {
	parsed(cmd.Flag("window", "Time between the two samples that rates and skew are taken from.").Default("10s"), window, parseDuration)
}

func (a *advise) run(stdout, _ io.Writer) error {
	ctx, stop := interruptible()
	defer stop()
	advice, nrCPUs, err := a.advise(ctx)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(stdout)
	if err := a.write(out, advice, nrCPUs); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if a.detailed && len(advice.Changes) > 0 {
		return &exit{status: 2}
	}
	return nil
}

func (a *advise) advise(ctx context.Context) (advice *advisor.Advice, nrCPUs int, err error) {
	seen, err := a.machine.observe(ctx, observation{
		from:    *a.from,
		devices: a.devices,
		window:  a.window,
		skew:    a.machine.skew(*a.policy.excludeCPUs),
	})
	if err != nil {
		return nil, 0, err
	}
	defer seen.close()
	inv := seen.state.Inventory
	if err := checkSteerable(a.devices, inv); err != nil {
		return nil, 0, err
	}
	return advisor.Advise(seen.state.Facts(), a.policy.policy(a.machine, a.devices)), inv.CPUs.NumIDs(), nil
}

func (a *advise) write(out io.Writer, advice *advisor.Advice, nrCPUs int) error {
	switch a.format {
	case "json":
		return writeJSON(out, advice)
	case "shell":
		// What an apply without further flags would do.
		selected, _, err := advisor.Select(advice, advisor.Selection{})
		if err != nil {
			return err
		}
		_, err = io.WriteString(out, advisor.Shell(advice, selected, nrCPUs))
		return err
	}
	return advice.Text(out)
}

// writeJSON writes one line: < and > in reasons stay readable.
func writeJSON(out io.Writer, doc any) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	return enc.Encode(doc)
}
