// Netsteer measures how the queues of a host's network devices are spread over
// its CPUs, and exports it for Prometheus.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/version"

	"github.com/netsteer/netsteer/internal/plain"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// command is what a command does once its flags are parsed. What it returns is
// the one line that people see.
type command func(stdout, stderr io.Writer) error

// run gives the exit status: 0, or 1 with one line on stderr; some commands have
// more (exit).
func run(args []string, stdout, stderr io.Writer) int {
	ended := false // --help and --version end the program
	app, commands := newApp()
	app.UsageWriter(stdout).ErrorWriter(stderr).Terminate(func(int) { ended = true })

	args = joinDashes(args)
	err := checkCommand(args, commands)
	if err == nil {
		var name string
		name, err = app.Parse(args)
		if ended {
			return 0
		}
		if err == nil {
			err = commands[name](stdout, stderr)
		} else if bad := new(flagError); !errors.As(err, &bad) {
			err = fmt.Errorf("%w; try --help", err)
		}
	}
	if err == nil {
		return 0
	}
	if line := oneLine(err.Error()); line != "" {
		fmt.Fprintln(stderr, "netsteer: error:", plain.Text(line))
	}
	if e := new(exit); errors.As(err, &e) {
		return e.status
	}
	return 1
}

func newApp() (*kingpin.Application, map[string]command) {
	app := kingpin.New("netsteer", "Measures how the queues of a host's network devices are spread over its CPUs.")
	app.Version(version.Print("netsteer"))
	app.HelpFlag.Short('h')
	machine := addMachineFlags(app)
	return app, map[string]command{
		"serve":        addServe(app, machine),
		"inspect":      addInspect(app, machine),
		"advise":       addAdvise(app, machine),
		"apply":        addApply(app, machine),
		"rollback":     addRollback(app, machine),
		"transactions": addTransactions(app),
		"capture":      addCapture(app, machine),
		"metrics":      addMetrics(app, machine),
		"healthcheck":  addHealthcheck(app),
		"check-config": addCheckConfig(app),
	}
}

// checkCommand names the commands there are. Without it a mistyped command would
// be an unexpected argument of the default one.
func checkCommand(args []string, commands map[string]command) error {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") || args[0] == "help" || commands[args[0]] != nil {
		return nil
	}
	names := make([]string, 0, len(commands))
	for name := range commands {
		names = append(names, name)
	}
	slices.Sort(names)
	return fmt.Errorf("no command %q; there are: %s", args[0], strings.Join(names, ", "))
}

// joinDashes writes "--flag -" as "--flag=-": kingpin takes a lone dash for an
// empty value (v2.4.0, parser.go).
func joinDashes(args []string) []string {
	var out []string
	for _, arg := range args {
		if last := len(out) - 1; arg == "-" && last >= 0 && strings.HasPrefix(out[last], "--") && !strings.Contains(out[last], "=") {
			out[last] += "=-"
			continue
		}
		out = append(out, arg)
	}
	return out
}

// oneLine joins the lines of an error: YAML's come with several.
func oneLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, " ")
}
