package testenv

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// recorder stands in for the test under a helper: it keeps what the helper did
// to it instead of ending the real test.
type recorder struct {
	testing.TB
	skipped, fatal string
}

func (r *recorder) Helper() {}
func (r *recorder) Skip(args ...any) {
	r.skipped = fmt.Sprint(args...)
	runtime.Goexit()
}
func (r *recorder) SkipNow()                         { runtime.Goexit() }
func (r *recorder) Skipped() bool                    { return r.skipped != "" }
func (r *recorder) Skipf(format string, args ...any) { r.Skip(fmt.Sprintf(format, args...)) }
func (r *recorder) Fatalf(format string, args ...any) {
	r.fatal = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func record(t *testing.T, f func(testing.TB)) *recorder {
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(r)
	}()
	<-done
	return r
}

func TestMissingToolSkipsOrFails(t *testing.T) {
	ask := func(tb testing.TB) { Tool(tb, "no-such-tool") }

	t.Setenv(NoSkip, "")
	if r := record(t, ask); !strings.Contains(r.skipped, "needs no-such-tool") || r.fatal != "" {
		t.Errorf("without %s: skipped %q, fatal %q", NoSkip, r.skipped, r.fatal)
	}
	t.Setenv(NoSkip, "1")
	if r := record(t, ask); !strings.Contains(r.fatal, "needs no-such-tool") || r.skipped != "" {
		t.Errorf("with %s=1: skipped %q, fatal %q", NoSkip, r.skipped, r.fatal)
	}
}

func TestSharedSkipsEvenWhenSkipsAreForbidden(t *testing.T) {
	t.Setenv(NoSkip, "1")
	r := record(t, func(tb testing.TB) { Shared(tb, "no", "such", "file") })
	if r.skipped != "no ../shared/no/such/file beside the module" || r.fatal != "" {
		t.Errorf("skipped %q, fatal %q", r.skipped, r.fatal)
	}
}

func TestSharedIsBesideTheModule(t *testing.T) {
	path := Shared(t)
	if want := filepath.Join(ModuleRoot(t), "..", "shared"); path != want {
		t.Errorf("got %s, want %s", path, want)
	}
}

func TestToolOutsidePath(t *testing.T) {
	want := Tool(t, "ip")
	if !strings.Contains(want, "/sbin/") {
		t.Skip("ip is not in an sbin folder here")
	}
	t.Setenv("PATH", t.TempDir())
	if got := Tool(t, "ip"); filepath.Base(got) != "ip" {
		t.Errorf("got %s", got)
	}
}

func TestNetnsLivesAsLongAsItsTest(t *testing.T) {
	var name string
	t.Run("inside", func(t *testing.T) {
		ns := Netns(t)
		name = ns.Name
		if out := ns.Run(t, "ip", "-brief", "link"); !strings.HasPrefix(out, "lo") || !strings.Contains(out, "UP") {
			t.Errorf("links of a new namespace: %q", out)
		}
	})
	if name == "" {
		t.Skip("needs root and ip, see TestNetnsLivesAsLongAsItsTest/inside")
	}
	if _, err := os.Stat(filepath.Join(netnsDir, name)); !os.IsNotExist(err) {
		t.Errorf("namespace %s is still there: %v", name, err)
	}
}

func TestDoRunsInsideAndComesBack(t *testing.T) {
	ns := Netns(t)
	ns.Run(t, "ip", "link", "add", "nst-only-here", "type", "veth", "peer", "name", "nst-peer")

	ns.Do(t, func() {
		if _, err := net.InterfaceByName("nst-only-here"); err != nil {
			t.Errorf("inside: %v", err)
		}
	})
	if _, err := net.InterfaceByName("nst-only-here"); err == nil {
		t.Error("the test's own thread is in the namespace after Do")
	}
}

func TestSkipInsideDoEndsTheTest(t *testing.T) {
	ns := Netns(t)
	after := false
	r := record(t, func(tb testing.TB) {
		ns.Do(tb, func() { tb.Skip("on purpose") })
		after = true
	})
	if after || r.skipped != "on purpose" {
		t.Errorf("the test went on after the skip: %v; skipped: %q", after, r.skipped)
	}
}
