package main

import (
	"strings"
	"testing"
)

const (
	passes = `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"noise\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Elapsed":0.25}
`
	fails = `{"Action":"output","Package":"q","Test":"TestB","Output":"    b_test.go:7: got 1, want 2\n"}
{"Action":"fail","Package":"q","Test":"TestB"}
{"Action":"output","Package":"q","Output":"FAIL\n"}
{"Action":"fail","Package":"q","Elapsed":1}
`
	skips = `{"Action":"output","Package":"r","Test":"TestC","Output":"=== RUN   TestC\n"}
{"Action":"output","Package":"r","Test":"TestC","Output":"    c_test.go:9: needs promtool, which is not installed\n"}
{"Action":"output","Package":"r","Test":"TestC","Output":"--- SKIP: TestC (0.00s)\n"}
{"Action":"skip","Package":"r","Test":"TestC"}
{"Action":"pass","Package":"r","Elapsed":0.1}
`
	noShared = `{"Action":"output","Package":"r","Test":"TestD","Output":"    d_test.go:9: no ../shared/cases beside the module\n"}
{"Action":"skip","Package":"r","Test":"TestD"}
`
	noBuild = `{"ImportPath":"s [s.test]","Action":"build-output","Output":"s/x.go:3:1: syntax error\n"}
{"ImportPath":"s [s.test]","Action":"build-fail"}
{"Action":"start","Package":"s"}
{"Action":"output","Package":"s","Output":"FAIL\ts [build failed]\n"}
{"Action":"fail","Package":"s","Elapsed":0,"FailedBuild":"s [s.test]"}
`
	panics = `{"Action":"output","Package":"u","Test":"TestE","Output":"panic: boom\n"}
{"Action":"output","Package":"u","Output":"FAIL\tu\t0.1s\n"}
{"Action":"fail","Package":"u","Elapsed":0.1}
`
	noTests = `{"Action":"output","Package":"v","Output":"?   \tv\t[no test files]\n"}
{"Action":"skip","Package":"v","Elapsed":0}
`
)

func TestRun(t *testing.T) {
	tests := []struct {
		name   string
		in     string
		noSkip bool
		exit   int
		last   string
		says   string
		hides  string
	}{
		{"what passed is one line", passes, false, 0, "1 passed, 0 failed, 0 skipped", "ok   p 0.2s", "noise"},
		{"what failed is shown", passes + fails, false, 1, "1 passed, 1 failed, 0 skipped", "b_test.go:7: got 1, want 2", ""},
		{"a skip is named with its reason", passes + skips, false, 0, "1 passed, 0 failed, 1 skipped", "r TestC: needs promtool, which is not installed", "c_test.go"},
		{"a skip can be forbidden", passes + skips, true, 1, "1 passed, 1 failed, 0 skipped", "1 skipped where", ""},
		{"but not for want of ../shared", passes + noShared, true, 0, "1 passed, 0 failed, 1 skipped", "no ../shared/cases", ""},
		{"a build error counts as one", passes + noBuild, false, 1, "1 passed, 1 failed, 0 skipped", "syntax error", ""},
		{"so does a panic", passes + panics, false, 1, "1 passed, 1 failed, 0 skipped", "panic: boom", ""},
		{"a package without tests is no line", passes + noTests, false, 0, "1 passed, 0 failed, 0 skipped", "", "no test files"},
		{"no test at all is no success", noTests, false, 1, "0 passed, 0 failed, 0 skipped", "no test ran", ""},
		{"go's own words pass through", "go: no such module\n" + passes, false, 0, "1 passed, 0 failed, 0 skipped", "go: no such module", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			if exit := run(strings.NewReader(tt.in), &out, tt.noSkip); exit != tt.exit {
				t.Errorf("exit %d, want %d", exit, tt.exit)
			}
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			if last := lines[len(lines)-1]; last != tt.last {
				t.Errorf("last line %q, want %q", last, tt.last)
			}
			if !strings.Contains(out.String(), tt.says) {
				t.Errorf("does not say %q:\n%s", tt.says, out.String())
			}
			if tt.hides != "" && strings.Contains(out.String(), tt.hides) {
				t.Errorf("shows %q:\n%s", tt.hides, out.String())
			}
		})
	}
}
