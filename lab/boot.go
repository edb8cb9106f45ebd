package lab

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/netsteer/netsteer/internal/testenv"
	"github.com/netsteer/netsteer/lab/wire"
)

// bootDeadline is from QEMU's start to PID 1's first answer. A boot of 16 CPUs
// takes under 20 s on two idle cores.
const bootDeadline = 3 * time.Minute

// Running is a booted guest. Its methods are for the goroutine of the test and
// its subtests.
type Running struct {
	Guest
	// Devices are the guest's names of Guest.NICs, in that order.
	Devices []string
	// BootTime is how long the guest took to answer, by the host's clock.
	BootTime time.Duration

	ctx    context.Context // the test's
	ns     *namespace
	client *http.Client
}

// Boot starts the guest and waits until PID 1 answers. The guest is gone when
// the test ends. Without root, QEMU or that kernel the test is skipped, or
// fails with NETSTEER_TEST_NO_SKIP=1.
//
// The console is kept in the cache, under lab/consoles, when the test fails;
// its end is in the test's log.
func Boot(t testing.TB, g Guest) *Running {
	t.Helper()
	testenv.Root(t)
	qemu := testenv.Tool(t, "qemu-system-x86_64")
	cache, err := cacheDir()
	must(t, err)
	kernelDir := filepath.Join(cache, "kernel-"+g.Kernel)
	if _, err := os.Stat(filepath.Join(kernelDir, "version")); err != nil {
		missing(t, fmt.Sprintf("kernel %s is not in %s: run lab/fetch.sh", g.Kernel, cache))
	}

	initramfs, err := g.initramfs(kernelDir)
	must(t, err)
	defer initramfs.Close()
	console, err := newConsole(t, cache, g)
	must(t, err)

	ns, err := newNamespace()
	must(t, err)
	t.Cleanup(func() { ns.close() })
	for n, card := range g.NICs {
		must(t, ns.addTap(n, card))
	}

	begin := time.Now()
	cmd := exec.Command(qemu, g.arguments(filepath.Join(kernelDir, "vmlinux"), "/proc/self/fd/3", console)...)
	cmd.ExtraFiles = []*os.File{initramfs} // descriptor 3
	machine, err := start(ns, cmd)
	must(t, err)
	t.Cleanup(machine.kill)

	r := &Running{
		Guest: g, ctx: t.Context(), ns: ns,
		client: &http.Client{Timeout: time.Minute, Transport: &http.Transport{DialContext: ns.dial}},
	}
	t.Cleanup(r.client.CloseIdleConnections)
	must(t, r.waitReady(machine))
	r.BootTime = time.Since(begin)
	t.Logf("%s on %s booted in %.1f s", g.Name, g.Kernel, r.BootTime.Seconds())
	return r
}

// waitReady polls while the machine lives: a kernel that panics ends QEMU.
func (r *Running) waitReady(machine *process) error {
	ctx, cancel := context.WithTimeoutCause(r.ctx, bootDeadline, fmt.Errorf("no answer from PID 1 after %s", bootDeadline))
	defer cancel()
	for {
		var ready wire.Ready
		if err := r.controlWithin(ctx, 5*time.Second, http.MethodGet, "/ready", nil, nil, &ready); err == nil {
			r.Devices = ready.Devices
			return nil
		}
		select {
		case <-machine.done:
			return fmt.Errorf("QEMU ended before the guest was ready: %w", machine.err)
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// newConsole gives the path of the file that the serial console is written to,
// and says at the end what becomes of it.
func newConsole(t testing.TB, cache string, g Guest) (string, error) {
	dir := filepath.Join(cache, "consoles")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	name := strings.ReplaceAll(t.Name(), "/", "_") + "-" + g.Name + "-" + g.Kernel + ".log"
	path := filepath.Join(dir, name)
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	t.Cleanup(func() {
		if !t.Failed() {
			os.Remove(path)
			return
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Logf("console: %v", err)
			return
		}
		lines := strings.Split(strings.TrimSpace(string(content)), "\n")
		t.Logf("console, the last lines of %s:\n%s", path, strings.Join(lines[max(0, len(lines)-40):], "\n"))
	})
	return path, nil
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// missing is testenv's rule: skip, or fail where nothing may be skipped.
func missing(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("NETSTEER_TEST_NO_SKIP") == "1" {
		t.Fatal(why)
	}
	t.Skip(why)
}
