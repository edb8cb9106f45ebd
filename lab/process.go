package lab

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// process is a program of the host in a guest's network namespace, QEMU or one
// beside it. err is set when done is closed.
type process struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error
}

// start takes over cmd's standard error: its end is in process.err.
func start(ns *namespace, cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, done: make(chan struct{})}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	// Killed with this process, also when that is killed itself.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error, 1)
	ns.stay(func() {
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		_ = cmd.Wait() // in ProcessState too
		p.err = fmt.Errorf("%s\n%s", cmd.ProcessState, complaints(stderr.String()))
		close(p.done)
	}, func(err error) { started <- err })
	return p, <-started
}

// complaints are the last lines, without what QEMU says at each start, once for
// each CPU.
func complaints(stderr string) string {
	var kept []string
	for line := range strings.Lines(stderr) {
		if !strings.Contains(line, "warning: TCG doesn't support") {
			kept = append(kept, strings.TrimSpace(line))
		}
	}
	return strings.Join(kept[max(0, len(kept)-20):], "\n")
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// Start runs a program of the host in the guest's network namespace until the
// test ends: on HostAddress it and the guest reach one another. When the test
// has failed, the end of its standard error is in the log.
func (r *Running) Start(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	p, err := start(r.ns, cmd)
	must(t, err)
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("%s: %v", cmd.Path, p.err)
		}
	})
}
