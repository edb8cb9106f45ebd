package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// event is one line of `go test -json`: see `go doc test2json` (Go 1.26).
type event struct {
	Action     string
	Package    string
	ImportPath string // of build-output, which has no Package
	Test       string
	Elapsed    float64 // seconds
	Output     string
}

// key names a test, or a package when test is empty.
type key struct{ pkg, test string }

type skip struct {
	key
	reason string
}

// summary counts tests and subtests alike. Output is kept only until its test
// has ended, for most of it is never shown.
type summary struct {
	out      io.Writer
	output   map[key][]string
	inFailed map[string]int // package -> tests of it that failed
	passed   int
	failed   int
	skipped  []skip
}

func newSummary(out io.Writer) *summary {
	return &summary{out: out, output: map[key][]string{}, inFailed: map[string]int{}}
}

// read takes events until the end of in. A line that is no event is passed on:
// that is what go test itself says, outside of any test.
func (s *summary) read(in io.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil || e.Action == "" {
			fmt.Fprintln(s.out, lines.Text())
			continue
		}
		s.add(e)
	}
	return lines.Err()
}

func (s *summary) add(e event) {
	k := key{e.Package, e.Test}
	switch e.Action {
	case "output":
		s.output[k] = append(s.output[k], e.Output)
		return
	case "build-output":
		fmt.Fprint(s.out, e.Output)
		return
	case "pass", "fail", "skip":
	default:
		return
	}
	if e.Test == "" {
		s.endPackage(k, e)
	} else {
		s.endTest(k, e)
	}
	delete(s.output, k)
}

func (s *summary) endTest(k key, e event) {
	switch e.Action {
	case "pass":
		s.passed++
	case "skip":
		s.skipped = append(s.skipped, skip{k, reason(s.output[k])})
	case "fail":
		s.failed++
		s.inFailed[k.pkg]++
		fmt.Fprint(s.out, strings.Join(s.output[k], ""))
	}
}

func (s *summary) endPackage(k key, e event) {
	if e.Action == "fail" {
		// A build error, a panic or os.Exit fails the package without a test
		// of its own that says so; the output of tests cut short is all there is.
		if s.inFailed[k.pkg] == 0 {
			s.failed++
			for open, lines := range s.output {
				if open.pkg == k.pkg && open.test != "" {
					fmt.Fprint(s.out, strings.Join(lines, ""))
				}
			}
		}
		for _, line := range s.output[k] {
			if !strings.HasPrefix(line, "FAIL") { // the line below says it
				fmt.Fprint(s.out, line)
			}
		}
	}
	if e.Action != "skip" { // go test skips a package that has no tests
		fmt.Fprintf(s.out, "%-4s %s %.1fs\n", map[string]string{"pass": "ok", "fail": "FAIL"}[e.Action], k.pkg, e.Elapsed)
	}
}

// printSkips lists the skipped tests and gives how many of them are forbidden.
func (s *summary) printSkips(noSkip bool) (forbidden int) {
	if len(s.skipped) > 0 {
		fmt.Fprintln(s.out, "\nskipped:")
	}
	for _, k := range s.skipped {
		fmt.Fprintf(s.out, "  %s %s: %s\n", k.pkg, k.test, k.reason)
		if noSkip && !strings.Contains(k.reason, "no ../shared") {
			forbidden++
		}
	}
	return forbidden
}

// reason is what a test said when it was skipped, without the file and line in
// front.
func reason(output []string) string {
	var said []string
	for _, line := range output {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "===") || strings.HasPrefix(line, "---") {
			continue
		}
		if _, after, ok := strings.Cut(line, ".go:"); ok {
			if _, text, ok := strings.Cut(after, ": "); ok {
				line = text
			}
		}
		said = append(said, line)
	}
	if len(said) == 0 {
		return "no reason given"
	}
	return strings.Join(said, "; ")
}
