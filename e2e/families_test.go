//go:build e2e

package e2e

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// families lists the metrics of ours in a text exposition, sorted.
func families(text string) []string {
	names := map[string]bool{}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "netsteer_") {
			names[line[:strings.IndexAny(line, "{ ")]] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// same fails the test for each family that only one of two readers has.
func same(t *testing.T, one string, a []string, other string, b []string) {
	t.Helper()
	if len(a) == 0 || len(b) == 0 {
		t.Fatalf("%s: %d families, %s: %d", one, len(a), other, len(b))
	}
	for _, name := range a {
		if !slices.Contains(b, name) {
			t.Errorf("only %s: %s", one, name)
		}
	}
	for _, name := range b {
		if !slices.Contains(a, name) {
			t.Errorf("only %s: %s", other, name)
		}
	}
}
