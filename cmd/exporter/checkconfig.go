package main

import (
	"fmt"
	"io"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/exporter-toolkit/web"
)

func addCheckConfig(app *kingpin.Application) command {
	cmd := app.Command("check-config", "Check a file for --web.config.file (TLS, users, headers).")
	file := cmd.Arg("file", "The file.").Required().String()
	return func(stdout, _ io.Writer) error {
		if err := checkWebConfig(*file); err != nil {
			return err
		}
		fmt.Fprintf(stdout, "%s: OK\n", *file)
		return nil
	}
}

// checkWebConfig names the file: the toolkit's errors do not always.
func checkWebConfig(file string) error {
	if err := web.Validate(file); err != nil {
		return fmt.Errorf("web config file %q: %w", file, err)
	}
	return nil
}
