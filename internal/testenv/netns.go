//go:build linux

package testenv

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// netnsDir is where ip(8) keeps the mounts of named network namespaces.
const netnsDir = "/run/netns"

// commandTimeout ends a command that hangs in the kernel long before go test's
// own timeout would, so that the test says which one it was.
const commandTimeout = 30 * time.Second

var nsCount atomic.Int64

// NS is a network namespace of one test.
type NS struct {
	Name string // as in ip netns
}

// Netns makes a network namespace with lo up and deletes it when the test ends.
// It skips the test when not root or without ip.
func Netns(t testing.TB) *NS {
	t.Helper()
	Root(t)
	ip := Tool(t, "ip")
	ns := &NS{Name: fmt.Sprintf("nst-%d-%d", os.Getpid(), nsCount.Add(1))}
	run(t, ip, "netns", "add", ns.Name)
	t.Cleanup(func() { run(t, ip, "netns", "del", ns.Name) })
	ns.Run(t, "ip", "link", "set", "lo", "up")
	return ns
}

// Run executes a command inside the namespace and gives its output; the test
// fails if the command does.
func (ns *NS) Run(t testing.TB, name string, args ...string) string {
	t.Helper()
	return run(t, Tool(t, "ip"), append([]string{"netns", "exec", ns.Name, Tool(t, name)}, args...)...)
}

// Do calls f on a thread of its own inside the namespace and waits for it.
// Sockets that f opens stay in the namespace; goroutines that f starts do not
// run in it. f may call t.Fatal and t.Skip.
//
// /sys still shows the namespace it was mounted in: mount another sysfs, or use
// Run, where ip has done so.
func (ns *NS) Do(t testing.TB, f func()) {
	t.Helper()
	var err error
	returned := false
	done := make(chan struct{})
	go func() {
		defer close(done)
		// Never unlocked: the thread dies with the goroutine and takes the
		// namespace with it, so nothing has to be restored.
		runtime.LockOSThread()
		if err = enter(ns.Name); err == nil {
			f()
			returned = true
		}
	}()
	<-done
	switch {
	case err != nil:
		t.Fatal(err)
	case !returned && t.Skipped():
		t.SkipNow() // f's own skip ended only its goroutine
	case !returned:
		t.FailNow()
	}
}

func enter(name string) error {
	path := filepath.Join(netnsDir, name)
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	defer unix.Close(fd)
	if err := unix.Setns(fd, unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("setns %s: %w", path, err)
	}
	return nil
}

func run(t testing.TB, path string, args ...string) string {
	t.Helper()
	// Not t.Context(): that is cancelled before cleanups run, and they call this too.
	ctx, cancel := context.WithTimeout(context.Background(), commandTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", path, args, err, out)
	}
	return string(out)
}
