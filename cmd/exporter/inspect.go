package main

import (
	"bufio"
	"context"
	"io"

	"github.com/alecthomas/kingpin/v2"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/web"
)

type inspect struct {
	machine *machineFlags
	from    *string
	devices []string
	format  string
}

func addInspect(app *kingpin.Application, machine *machineFlags) command {
	cmd := app.Command("inspect", "Show devices, queues, vectors and masks as they are now.")
	i := &inspect{machine: machine, from: addFrom(cmd)}
	cmd.Flag("device", "Show this device only; may be given again.").PlaceHolder("NAME").StringsVar(&i.devices)
	parsed(cmd.Flag("format", "text or json.").Default("text"), &i.format, parseOneOf("text", "json"))
	return i.run
}

func (i *inspect) run(stdout, _ io.Writer) error {
	seen, err := i.machine.observe(context.Background(), observation{
		from:    *i.from,
		devices: i.devices,
		skew:    i.machine.skew(cpuset.Set{}),
	})
	if err != nil {
		return err
	}
	defer seen.close()
	out := bufio.NewWriter(stdout)
	if i.format == "text" {
		writeInspection(out, seen.state, i.devices)
		return out.Flush()
	}
	// Rows that cannot be read are a missing key; degraded says why.
	rows, _ := seen.interruptRows()
	if err := web.WriteSnapshot(out, web.NewSnapshot(seen.state, rows).Only(i.devices...)); err != nil {
		return err
	}
	return out.Flush()
}
