package testenv

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the goldens of testdata/contract anew")

// Golden holds got against testdata/contract/name, a part of what stays stable.
// A change needs a CHANGELOG line; go test -update writes the file anew.
func Golden(t testing.TB, name, got string) {
	t.Helper()
	path := filepath.Join(ModuleRoot(t), "testdata", "contract", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("testdata/contract/%s differs (-want +got); if that is meant: a CHANGELOG line, then go test -update writes it anew:\n%s", name, diff)
	}
}
