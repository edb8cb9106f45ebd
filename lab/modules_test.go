package lab

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// igb of every fetched kernel comes after what it needs, and a name that is
// built in is left out.
func TestModuleOrder(t *testing.T) {
	cache, err := cacheDir()
	if err != nil {
		t.Fatal(err)
	}
	kernels, err := filepath.Glob(filepath.Join(cache, "kernel-*", "modules"))
	if err != nil {
		t.Fatal(err)
	}
	if len(kernels) == 0 {
		t.Skip("no kernel fetched: run lab/fetch.sh")
	}
	for _, dir := range kernels {
		files, err := withDependencies(dir, []string{"igb", "ext4_is_not_fetched", "igb"})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range files {
			names = append(names, filepath.Base(f))
		}
		if len(names) != 3 || names[2] != "igb.ko" || !slices.Contains(names, "dca.ko") || !slices.Contains(names, "i2c-algo-bit.ko") {
			t.Errorf("%s: order %v, want dca and i2c-algo-bit before igb", dir, names)
		}
	}
}

func TestModuleThatIsNone(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "igb.ko"), []byte("no ELF"), 0o644); err != nil {
		t.Fatal(err)
	}
	if files, err := withDependencies(dir, []string{"igb"}); err == nil {
		t.Errorf("a file that is no module was taken: %v", files)
	}
}
