package promtool

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/netsteer/netsteer/internal/testenv"
)

// rules is the file of the recorded series, from the module's root.
var rules = filepath.Join("testdata", "promtool", "counters_test.yml")

// On the series as they are exported, increase() misses the truth by at most
// one scrape interval; exported in a simpler way, each of these would miss it
// by more. The second half also shows that the file can fail at all.
func TestCounters(t *testing.T) {
	promtool := testenv.Tool(t, "promtool")
	content, err := os.ReadFile(filepath.Join(testenv.ModuleRoot(t), rules))
	if err != nil {
		t.Fatal(err)
	}
	good := string(content)
	if out, err := check(t, promtool, good); err != nil {
		t.Errorf("%v\n%s", err, out)
	}

	simpler := []struct {
		name         string
		right, wrong string // values of one series
	}{
		{
			"a 64-bit sum of cells drops by 2^32 when one of them wraps",
			"2999969300+1500x40",
			"7294936596+1500x20 3000000800+1500x19",
		},
		{
			"a sum counted from netsteer's start loses what came while it was away",
			"2000000+1500x17 stale _ _ 2031500+1500x19",
			"2000000+1500x17 stale _ _ 0+1500x19",
		},
		{
			"a sum of the living vectors drops when one of two is freed",
			"9000000+1500x20 9030900+1500x19",
			"9000000+1500x20 4000900+1500x19",
		},
		{
			"a sum over the online CPUs drops when one goes offline",
			"3000000+1500x40",
			"3000000+1500x13 1221000+1500x12 3040500+1500x13",
		},
		{
			"a CPU that comes back from 0 is counted twice",
			"400000+0x13 401500+1500x12 419500+0x13",
			"400000+0x13 0+0x12 419500+0x13",
		},
	}
	for _, tt := range simpler {
		t.Run(tt.name, func(t *testing.T) {
			if n := strings.Count(good, "values: "+tt.right+"\n"); n != 1 {
				t.Fatalf("%d series have the values %q, want 1", n, tt.right)
			}
			out, err := check(t, promtool, strings.Replace(good, tt.right, tt.wrong, 1))
			if err == nil {
				t.Errorf("promtool finds nothing wrong with %q\n%s", tt.wrong, out)
			}
			if !strings.Contains(out, "FAILED") || !strings.Contains(out, "got:") {
				t.Errorf("promtool failed, but not over a value:\n%s", out)
			}
		})
	}
}

func check(t *testing.T, promtool, content string) (string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), filepath.Base(rules))
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), promtool, "test", "rules", path).CombinedOutput()
	return string(out), err
}
