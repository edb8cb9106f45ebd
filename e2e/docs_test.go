//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/netsteer/netsteer/internal/testenv"
)

// documents are all that tell a user what to type.
var documents = [][]string{{"README.md"}, {"docs", "quickstart.md"}, {"docs", "usage.md"}, {"alerts", "README.md"}, {"dashboards", "README.md"}}

// document reads a file of the repository.
func document(t *testing.T, elem ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{testenv.ModuleRoot(t)}, elem...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// blocks gives the fenced blocks of a document that are in one of the languages;
// "" is none.
func blocks(text string, languages ...string) []string {
	var found []string
	var block strings.Builder
	open, wanted := false, false
	for line := range strings.Lines(text) {
		language, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && !open:
			open, wanted = true, slices.Contains(languages, strings.TrimSpace(language))
			block.Reset()
		case fence:
			open = false
			if wanted {
				found = append(found, block.String())
			}
		case open:
			block.WriteString(line)
		}
	}
	return found
}

// Every flag in a command of ours exists for that command.
func TestDocumentedFlagsExist(t *testing.T) {
	flags := map[string][]string{}
	for line := range strings.Lines(document(t, "testdata", "contract", "flags.txt")) {
		command, rest, _ := strings.Cut(line, "\t")
		flag, _, _ := strings.Cut(rest, "\t")
		if name, ok := strings.CutPrefix(flag, "--[no-]"); ok {
			flags[command] = append(flags[command], "--"+name, "--no-"+name)
		} else {
			flags[command] = append(flags[command], flag)
		}
	}
	checked := 0
	for _, name := range documents {
		for _, block := range blocks(document(t, name...), "", "sh", "console") {
			for line := range strings.Lines(strings.ReplaceAll(block, "\\\n", " ")) {
				command, used := ourFlags(line, flags)
				for _, flag := range used {
					checked++
					if !slices.Contains(flags[command], flag) && !slices.Contains(flags["all"], flag) {
						t.Errorf("%s: %s has no flag %s", filepath.Join(name...), command, flag)
					}
				}
			}
		}
	}
	if checked < 20 {
		t.Errorf("only %d flags were found", checked)
	}
}

// ourFlags gives the command of netsteer that a line of shell runs, and its flags.
func ourFlags(line string, commands map[string][]string) (command string, flags []string) {
	line, _, _ = strings.Cut(line, " #")
	line, _, _ = strings.Cut(line, " | ")
	words := strings.Fields(strings.TrimPrefix(line, "$ "))
	if len(words) > 0 && words[0] == "sudo" {
		words = words[1:]
	}
	if len(words) == 0 || strings.TrimPrefix(words[0], "./") != "netsteer" {
		return "", nil
	}
	command = "serve"
	if len(words) > 1 && commands[words[1]] != nil {
		command = words[1]
	}
	for _, word := range words {
		if flag, _, _ := strings.Cut(word, "="); strings.HasPrefix(flag, "--") {
			flags = append(flags, flag)
		}
	}
	return command, flags
}

// Files that a document links to, or tells to install, are in the repository.
func TestDocumentedFilesExist(t *testing.T) {
	root := testenv.ModuleRoot(t)
	link := regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	named := regexp.MustCompile(`(?:^|\s)((?:deploy|alerts|dashboards|docs|lab|scripts)/[\w./-]+)`)
	for _, name := range append(documents, []string{"CONTRIBUTING.md"}) {
		text, path := document(t, name...), filepath.Join(name...)
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(root, filepath.Dir(path), m[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", path, m[1])
			}
		}
		for _, block := range blocks(text, "", "sh") {
			for _, m := range named.FindAllStringSubmatch(block, -1) {
				if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
					t.Errorf("%s names %s, which is not there", path, m[1])
				}
			}
		}
	}
}

// The quick start names every alert there is, and no other.
func TestQuickStartNamesTheAlerts(t *testing.T) {
	names := func(text, pattern string) []string {
		var all []string
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
			all = append(all, m[1])
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	said := names(document(t, "docs", "quickstart.md"), `(Netsteer[A-Z]\w+)`)
	are := names(document(t, "alerts", "netsteer.rules.yaml"), `alert: (\w+)`)
	if len(are) == 0 || !slices.Equal(said, are) {
		t.Errorf("the quick start names %q, the rules are %q", said, are)
	}
}
