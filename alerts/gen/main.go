// Command gen writes Prometheus rules from the table of package alerts and a
// configuration.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/netsteer/netsteer/alerts"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "alerts/gen:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("gen", flag.ExitOnError)
	config := flags.String("config", "alerts/config.yaml", "what to make the rules from")
	dir := flags.String("out", "alerts", "folder to write netsteer.rules.yaml and netsteer.prometheusrule.yaml to")
	scale := flags.Float64("scale", 1, "divide every window and wait by this, for a test that cannot wait")
	check := flags.Bool("check", false, "write nothing; fail if a file is not what would be written")
	_ = flags.Parse(args) // ExitOnError
	if flags.NArg() > 0 {
		return fmt.Errorf("%q: takes flags only; see -help", flags.Arg(0))
	}

	c, err := alerts.ReadConfig(*config)
	if err != nil {
		return err
	}
	if err := c.Scale(*scale); err != nil {
		return err
	}
	files, err := alerts.Files(c)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(*dir, name)
		if *check {
			if err := same(path, files[name]); err != nil {
				return err
			}
			continue
		}
		if err := os.WriteFile(path, files[name], 0o644); err != nil {
			return err
		}
		fmt.Fprintln(out, path)
	}
	return nil
}

func same(path string, want []byte) error {
	got, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("%s is not what the table and the configuration give; run go run ./alerts/gen", path)
	}
	return nil
}
