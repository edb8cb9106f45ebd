package live

import (
	"fmt"

	"github.com/prometheus/procfs"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/scan"
)

var _ scan.Threads = (*Threads)(nil)

// Threads reads tasks from a mount of procfs. Its PID namespace must be the
// first one to know NAPI threads at all, as /proc of the host is.
type Threads struct {
	fs  procfs.FS
	err error
}

// NewThreads returns the tasks of a procfs; when it cannot be read, each
// question says so.
func NewThreads(mount string) *Threads {
	p, err := procfs.NewFS(mount)
	return &Threads{p, err}
}

// Thread returns utime + stime of /proc/PID/stat, in USER_HZ ticks, and
// Cpus_allowed_list of /proc/PID/status. The error wraps fs.ErrNotExist when
// there is no such task (hidepid hides others' tasks in the same way).
func (t *Threads) Thread(pid int) (ticks uint64, allowed host.Mask, err error) {
	if t.err != nil {
		return 0, host.Mask{}, t.err
	}
	stat, status, err := t.read(pid)
	if err != nil {
		return 0, host.Mask{}, fmt.Errorf("task %d: %w", pid, gone(err))
	}
	if n := len(status.CpusAllowedList); n > 0 {
		var b cpuset.Builder
		for _, cpu := range status.CpusAllowedList {
			b.Add(int(cpu))
		}
		allowed = host.KnownMask(b.Set())
	}
	return uint64(stat.UTime) + uint64(stat.STime), allowed, nil
}

func (t *Threads) read(pid int) (stat procfs.ProcStat, status procfs.ProcStatus, err error) {
	p, err := t.fs.Proc(pid)
	if err != nil {
		return stat, status, err
	}
	if stat, err = p.Stat(); err != nil {
		return stat, status, err
	}
	status, err = p.NewStatus()
	return stat, status, err
}
