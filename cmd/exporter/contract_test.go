package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kingpin/v2"

	"github.com/netsteer/netsteer/internal/testenv"
)

// TestFlagsContract lists every flag: command ("all" for every command), name,
// default and help.
func TestFlagsContract(t *testing.T) {
	app, _ := newApp()
	model := app.Model()
	var out strings.Builder
	writeFlags(&out, "all", model.Flags)
	for _, command := range model.Commands {
		if len(command.Flags) == 0 {
			fmt.Fprintf(&out, "%s\n", command.Name)
		}
		writeFlags(&out, command.Name, command.Flags)
	}
	testenv.Golden(t, "flags.txt", out.String())
}

func writeFlags(out *strings.Builder, command string, flags []*kingpin.FlagModel) {
	flags = slices.DeleteFunc(slices.Clone(flags), func(f *kingpin.FlagModel) bool { return f.Hidden })
	slices.SortFunc(flags, func(a, b *kingpin.FlagModel) int { return strings.Compare(a.Name, b.Name) })
	for _, f := range flags {
		name := f.Name
		if f.IsBoolFlag() {
			name = "[no-]" + name
		}
		fmt.Fprintf(out, "%s\t--%s\t%s\t%s\n", command, name, strings.Join(f.Default, " "), f.Help)
	}
}

// TestInspectContract holds what inspect says of a recorded host.
func TestInspectContract(t *testing.T) {
	recorded := filepath.Join(testenv.ModuleRoot(t), "testdata", "hosts", "two-nic-8cpu")
	for format, golden := range map[string]string{"text": "inspect.txt", "json": "inspect.json"} {
		t.Run(format, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if exit := run([]string{"inspect", "--from=" + recorded, "--format=" + format}, &stdout, &stderr); exit != 0 || stderr.Len() > 0 {
				t.Fatalf("exit %d, stderr %q", exit, stderr.String())
			}
			testenv.Golden(t, golden, stdout.String())
		})
	}
}

// TestAdviseContract proves that advise prints the plan that the advisor's own
// test holds.
func TestAdviseContract(t *testing.T) {
	root := testenv.ModuleRoot(t)
	golden, err := os.ReadFile(filepath.Join(root, "testdata", "contract", "advise.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want, stdout, stderr bytes.Buffer
	if err := json.Compact(&want, bytes.TrimSpace(golden)); err != nil {
		t.Fatal(err)
	}
	exit := run([]string{"advise", "--from=" + filepath.Join(root, "testdata", "hosts", "two-nic-8cpu"), "--format=json"}, &stdout, &stderr)
	if exit != 0 || stderr.Len() > 0 || strings.TrimSpace(stdout.String()) != want.String() {
		t.Errorf("exit %d, stderr %q, got\n%swant\n%s", exit, stderr.String(), stdout.String(), want.String())
	}
}
