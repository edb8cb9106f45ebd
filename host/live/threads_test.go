package live

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
)

func TestNAPIThread(t *testing.T) {
	ifindex, d := threadedPair(t)
	threads := NewThreads("/proc")
	seen := 0
	for _, p := range d.NAPIs {
		if p.Ifindex != ifindex {
			continue
		}
		seen++
		pid := int(p.Thread.N)
		if comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); err != nil || !strings.HasPrefix(string(comm), "napi/va-") {
			t.Fatalf("task %d is %q, %v", pid, comm, err)
		}
		_, allowed, err := threads.Thread(pid)
		if err != nil || !allowed.OK || allowed.Set.Len() == 0 {
			t.Fatalf("task %d: %+v, %v", pid, allowed, err)
		}
		last := allowed.Set.Last()
		var pin unix.CPUSet
		pin.Set(last)
		if err := unix.SchedSetaffinity(pid, &pin); err != nil {
			t.Fatal(err)
		}
		if _, allowed, err := threads.Thread(pid); err != nil || allowed != host.KnownMask(cpuset.Of(last)) {
			t.Errorf("pinned to CPU %d: %+v, %v", last, allowed, err)
		}
	}
	if seen != 4 {
		t.Errorf("%d NAPI threads, want 4", seen)
	}
}

// ksoftirqd/0 has run since boot, on CPU 0 only.
func TestKernelThread(t *testing.T) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		comm, err := os.ReadFile("/proc/" + e.Name() + "/comm")
		if err != nil || string(comm) != "ksoftirqd/0\n" {
			continue
		}
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			t.Fatal(err)
		}
		ticks, allowed, err := NewThreads("/proc").Thread(pid)
		if err != nil || allowed != host.KnownMask(cpuset.Of(0)) {
			t.Errorf("ksoftirqd/0: %d ticks, %+v, %v", ticks, allowed, err)
		}
		return
	}
	t.Skip("needs the host's PID namespace")
}

// utime + stime, in ticks of 1/100 s: compared with what the kernel says to the
// process itself.
func TestTicks(t *testing.T) {
	var before, after unix.Rusage
	threads := NewThreads("/proc")
	usage := func(r *unix.Rusage) {
		if err := unix.Getrusage(unix.RUSAGE_SELF, r); err != nil {
			t.Fatal(err)
		}
	}
	hundredths := func(r unix.Rusage) uint64 {
		return uint64((r.Utime.Nano() + r.Stime.Nano()) / 1e7)
	}
	for usage(&before); hundredths(before) < 20; usage(&before) {
	}
	ticks, _, err := threads.Thread(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	usage(&after)
	// utime and stime are cut to whole ticks each.
	if lo, hi := hundredths(before)-2, hundredths(after)+1; ticks < lo || ticks > hi {
		t.Errorf("%d ticks, want %d to %d", ticks, lo, hi)
	}
}

func TestThreadErrors(t *testing.T) {
	if _, _, err := NewThreads("/proc").Thread(1 << 30); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "task 1073741824") {
		t.Errorf("no such task: %v", err)
	}
	dir := t.TempDir()
	if _, _, err := NewThreads(dir + "/none").Thread(1); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), dir) {
		t.Errorf("no such mount: %v", err)
	}
	if err := gone(&fs.PathError{Op: "read", Path: "/proc/1/stat", Err: unix.ESRCH}); !errors.Is(err, fs.ErrNotExist) || !errors.Is(err, unix.ESRCH) {
		t.Errorf("a task that ended: %v", err)
	}
	if err := gone(unix.EACCES); !errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("permission: %v", err)
	}
}
