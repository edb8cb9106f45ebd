// Testsummary reads `go test -json` on stdin and writes what a person wants to
// see of it: one line per package, the output of what failed, each skipped test
// with its reason, and a counted line at the end.
//
//	set -o pipefail; go test -json ./... | go run ./internal/testsummary
//
// It exits 1 when a test failed, when none ran, or, with NETSTEER_TEST_NO_SKIP=1,
// when one was skipped for another reason than the absent ../shared folder.
package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	os.Exit(run(os.Stdin, os.Stdout, os.Getenv("NETSTEER_TEST_NO_SKIP") == "1"))
}

func run(in io.Reader, out io.Writer, noSkip bool) int {
	s := newSummary(out)
	if err := s.read(in); err != nil {
		fmt.Fprintln(out, err)
		s.failed++
	}
	forbidden := s.printSkips(noSkip)
	switch {
	case forbidden > 0:
		fmt.Fprintf(out, "%d skipped where NETSTEER_TEST_NO_SKIP=1 forbids it\n", forbidden)
	case s.passed+s.failed == 0:
		fmt.Fprintln(out, "no test ran")
	}
	fmt.Fprintf(out, "%d passed, %d failed, %d skipped\n", s.passed, s.failed+forbidden, len(s.skipped)-forbidden)
	if s.failed+forbidden > 0 || s.passed == 0 {
		return 1
	}
	return 0
}
