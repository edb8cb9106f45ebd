package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/live"
	"github.com/netsteer/netsteer/host/record"
	"github.com/netsteer/netsteer/host/scan"
)

type capture struct {
	machine   *machineFlags
	devices   []string
	window    time.Duration
	output    string
	addresses bool
}

func addCapture(app *kingpin.Application, machine *machineFlags) command {
	cmd := app.Command("capture", "Write down this machine, for --from: what inspect, advise and metrics read, at two times. No MAC and no IP address is in it.")
	c := &capture{machine: machine}
	cmd.Flag("device", "Capture this device only, with those below it; may be given again.").PlaceHolder("NAME").StringsVar(&c.devices)
	addWindow(cmd, &c.window)
	cmd.Flag("output", "A file (.tar.gz), a directory with / at the end, or - for stdout; nothing is replaced (default: netsteer-TIME.tar.gz here).").PlaceHolder("FILE").StringVar(&c.output)
	cmd.Flag("with-addresses", "Add sys/class/net/NAME/address, the devices' MAC addresses, and keep names made of them (enx0123456789ab).").BoolVar(&c.addresses)
	return c.run
}

func (c *capture) run(stdout, stderr io.Writer) error {
	if err := c.checkOutput(stdout); err != nil {
		return fmt.Errorf("--output=%q: %w", c.output, err)
	}
	ctx, stop := interruptible()
	defer stop()
	machine, closeMachine, err := live.Machine(c.machine.procfs, c.machine.sysfs, c.machine.netlink)
	if err != nil {
		return err
	}
	defer closeMachine() //nolint:errcheck // nothing is written there
	options := record.TakeOptions{Scan: c.machine.scanOptions(c.devices), Addresses: c.addresses}
	if len(c.devices) > 0 {
		inv := scan.New(machine, options.Scan).Inventory()
		if err := checkDevices(c.devices, inv); err != nil {
			return err
		}
		options.Devices = withLower(c.devices, inv)
	}
	taking := record.Take(machine, options)
	if err := c.wait(ctx); err != nil {
		return err
	}
	taking.Again()
	if c.output == "-" {
		return taking.WriteArchive(stdout)
	}
	name := c.output
	if name == "" {
		name = taking.Name() + ".tar.gz"
	}
	if err := taking.Save(name); err != nil {
		return err
	}
	c.report(stdout, name, taking)
	return nil
}

func (c *capture) checkOutput(stdout io.Writer) error {
	switch c.output {
	case "":
		return nil
	case "-":
		if f, ok := stdout.(*os.File); ok && isTerminal(f) {
			return errors.New("stdout is a terminal: redirect it, or name a file")
		}
		return nil
	}
	return record.CheckOutput(c.output)
}

func (c *capture) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return errInterrupted
	case <-time.After(c.window):
		return nil
	}
}

// withLower are the devices and, as their names stand in what is read of them,
// those that they are stacked on.
func withLower(names []string, inv *host.Inventory) []string {
	all := slices.Clone(names)
	for i := 0; i < len(all); i++ {
		if d := inv.Device(all[i]); d != nil {
			for _, lower := range d.Lower {
				if !slices.Contains(all, lower) {
					all = append(all, lower)
				}
			}
		}
	}
	return all
}

// report says what is in the capture that people may not expect.
func (c *capture) report(out io.Writer, name string, taking *record.Taking) {
	devices := taking.Inventory().Devices
	names := make([]string, len(devices))
	for i := range devices {
		names[i] = devices[i].Name
	}
	fmt.Fprintf(out, "%s: %d devices (%s), two samples %s apart; look with: netsteer inspect --from=%s\n", name, len(names), strings.Join(names, ", "), c.window, name)
	if c.addresses {
		fmt.Fprintln(out, "It holds MAC addresses: sys/class/net/NAME/address of each device.")
	}
	hidden := taking.Hidden()
	for _, was := range slices.Sorted(maps.Keys(hidden)) {
		fmt.Fprintf(out, "%s is %s there: its name holds its MAC address.\n", was, hidden[was])
	}
}
