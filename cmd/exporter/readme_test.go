package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/netsteer/netsteer/internal/testenv"
)

// TestReadmeShowsRealOutput proves that each line that README.md shows below a
// command is a line that the command prints.
func TestReadmeShowsRealOutput(t *testing.T) {
	root := testenv.ModuleRoot(t)
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(root) // the commands name files from there
	blocks := strings.Split(string(text), "```console\n")[1:]
	if len(blocks) == 0 {
		t.Fatal("README.md shows no output")
	}
	for _, block := range blocks {
		block, _, _ = strings.Cut(block, "\n```")
		command, shown, _ := strings.Cut(block, "\n")
		args, ok := strings.CutPrefix(command, "$ ./netsteer ")
		if !ok {
			t.Fatalf("%q is no command of ours", command)
		}
		var stdout, stderr bytes.Buffer
		if exit := run(strings.Fields(args), &stdout, &stderr); exit != 0 {
			t.Fatalf("%s: exit %d: %s", command, exit, stderr.String())
		}
		printed := map[string]bool{}
		for line := range strings.Lines(stdout.String()) {
			printed[strings.TrimSuffix(line, "\n")] = true
		}
		for line := range strings.Lines(shown) {
			if line = strings.TrimSuffix(line, "\n"); !printed[line] {
				t.Errorf("%s does not print %q", command, line)
			}
		}
	}
}
