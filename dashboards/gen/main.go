// Command gen writes the Grafana dashboard, dashboards/netsteer.json.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "dashboards/gen:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("gen", flag.ExitOnError)
	path := flags.String("out", "dashboards/netsteer.json", "file to write")
	check := flags.Bool("check", false, "write nothing; fail if the file is not what would be written")
	_ = flags.Parse(args) // ExitOnError
	if flags.NArg() > 0 {
		return fmt.Errorf("%q: takes flags only; see -help", flags.Arg(0))
	}
	content, err := render()
	if err != nil {
		return err
	}
	if !*check {
		return os.WriteFile(*path, content, 0o644)
	}
	got, err := os.ReadFile(*path)
	if err != nil {
		return err
	}
	if !bytes.Equal(got, content) {
		return fmt.Errorf("%s is not what the rows give; run go run ./dashboards/gen", *path)
	}
	return nil
}

// render gives the dashboard's JSON: the same rows, the same bytes.
func render() ([]byte, error) {
	d, err := build()
	if err != nil {
		return nil, err
	}
	content, err := json.MarshalIndent(d, "", "  ")
	return append(content, '\n'), err
}
