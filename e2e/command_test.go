//go:build e2e

package e2e

import (
	"debug/elf"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/netsteer/netsteer/internal/testenv"
)

func TestBinaryIsStatic(t *testing.T) {
	file, err := elf.Open(binary(t))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, p := range file.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("the binary asks for a dynamic linker")
		}
	}
}

func TestVersionIsTheFileVERSION(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(testenv.ModuleRoot(t), "VERSION"))
	if err != nil {
		t.Fatal(err)
	}
	r := run(t, "", binary(t), "--version")
	want := "netsteer, version " + strings.TrimSpace(string(content)) + " "
	if r.exit != 0 || !strings.HasPrefix(r.stdout, want) {
		t.Errorf("exit %d, stdout %q, want %q in front", r.exit, r.stdout, want)
	}
}

// The textfile collector reads what `netsteer metrics` prints.
func TestMetricsCommand(t *testing.T) {
	r := run(t, "", binary(t), "metrics", "--window=1s")
	if r.exit != 0 {
		t.Fatalf("exit %d, %s", r.exit, r.stderr)
	}
	checkMetrics(t, r.stdout)
	if !has(r.stdout, "netsteer_cpu_softirqs_total") {
		t.Errorf("no softirqs in\n%s", r.stdout)
	}
}

func TestInspect(t *testing.T) {
	r := run(t, "", binary(t), "inspect", "--format=json")
	var snapshot struct{ Schema, Kernel string }
	if err := json.Unmarshal([]byte(r.stdout), &snapshot); r.exit != 0 || err != nil {
		t.Fatalf("exit %d, %v, %s", r.exit, err, r.stderr)
	}
	if snapshot.Schema != "netsteer.snapshot/v1" || snapshot.Kernel == "" {
		t.Errorf("schema %q, kernel %q", snapshot.Schema, snapshot.Kernel)
	}
	if r := run(t, "", binary(t), "inspect"); r.exit != 0 || !strings.Contains(r.stdout, snapshot.Kernel) {
		t.Errorf("as text: exit %d, without the kernel %s:\n%s%s", r.exit, snapshot.Kernel, r.stdout, r.stderr)
	}
}

// Bad input ends with status 1, nothing on stdout, and one line that names it.
func TestBadInput(t *testing.T) {
	empty := t.TempDir()
	file := filepath.Join(empty, "web.yml")
	if err := os.WriteFile(file, []byte("tls_server_config: [\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		args []string
		says string
	}{
		{"a flag that is none", []string{"--web.listen=:1"}, "web.listen"},
		{"a command that is none", []string{"inspct"}, "inspct"},
		{"a device that is none", []string{"inspect", "--device=nosuch0"}, "nosuch0"},
		{"a directory that is none", []string{"inspect", "--from=/no/such/dir"}, "/no/such/dir"},
		{"a directory of something else", []string{"inspect", "--from=" + empty}, empty},
		{"a duration that is none", []string{"--sample.interval=soon"}, "soon"},
		{"a window below the interval", []string{"--sample.window=1s", "--sample.interval=5s"}, "sample.window"},
		{"a regexp that is none", []string{"inspect", "--device.include=("}, "device.include"},
		{"a collector that is none", []string{"--collector.nonsense"}, "collector.nonsense"},
		{"an address that is none", []string{"--web.listen-address=nonsense"}, "nonsense"},
		{"a web configuration that is none", []string{"check-config", file}, file},
		{"a web configuration that is not there", []string{"check-config", file + ".no"}, file + ".no"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := run(t, "", binary(t), tt.args...)
			if r.exit != 1 || r.stdout != "" || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, tt.says) {
				t.Errorf("exit %d, stdout %q, stderr %q; want 1, nothing, one line with %q", r.exit, r.stdout, r.stderr, tt.says)
			}
		})
	}
}
