// Package contract compares PromQL in rules and dashboards with the metrics that
// netsteer exports, as testdata/contract/metrics.txt lists them.
package contract

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/netsteer/netsteer/internal/testenv"
)

// Metrics are label names by metric.
type Metrics map[string][]string

// targetLabels are those that a scrape adds.
var targetLabels = []string{"job", "instance"}

var line = regexp.MustCompile(`^(netsteer_\w+)\{([\w,]*)\} (counter|gauge) `)

// Read reads the list of this module.
func Read(t testing.TB) Metrics {
	t.Helper()
	file, err := os.Open(filepath.Join(testenv.ModuleRoot(t), "testdata", "contract", "metrics.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	m := Metrics{"netsteer_build_info": {"version", "revision", "branch", "goversion", "goos", "goarch", "tags"}}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if f := line.FindStringSubmatch(lines.Text()); f != nil {
			m[f[1]] = strings.FieldsFunc(f[2], func(r rune) bool { return r == ',' })
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if len(m) < 50 {
		t.Fatalf("%s has %d metrics: its form has changed", file.Name(), len(m))
	}
	return m
}

var (
	quoted   = `"(?:[^"\\]|\\.)*"`
	selector = regexp.MustCompile(`([a-zA-Z_:][\w:]*)\s*(\{(?:[^"}]|` + quoted + `)*\})?`)
	matcher  = regexp.MustCompile(`(\w+)\s*(?:=~|!~|!=|=)\s*` + quoted)
	clause   = regexp.MustCompile(`\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)`)
)

// Faults gives one line for each metric of netsteer in the expression that does
// not exist, and for each label that its metric, or in a clause none of the
// expression's metrics, has. What is recorded by rules (its name has a colon)
// may have any label of them all.
func (m Metrics) Faults(expr string) []string {
	var out []string
	known := slices.Clone(targetLabels)
	for _, s := range selector.FindAllStringSubmatch(expr, -1) {
		name := s[1]
		if strings.Contains(name, ":") {
			for _, labels := range m {
				known = append(known, labels...)
			}
			continue
		}
		if !strings.HasPrefix(name, "netsteer_") {
			continue
		}
		labels, ok := m[name]
		if !ok {
			out = append(out, name+" is not exported")
			continue
		}
		known = append(known, labels...)
		for _, f := range matcher.FindAllStringSubmatch(s[2], -1) {
			if !slices.Contains(labels, f[1]) && !slices.Contains(targetLabels, f[1]) {
				out = append(out, fmt.Sprintf("%s has no label %s", name, f[1]))
			}
		}
	}
	for _, c := range clause.FindAllStringSubmatch(expr, -1) {
		for label := range strings.FieldsFuncSeq(c[1], func(r rune) bool { return strings.ContainsRune(", \n", r) }) {
			if !slices.Contains(known, label) {
				out = append(out, "no metric here has the label "+label)
			}
		}
	}
	return out
}
