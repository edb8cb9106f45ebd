package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"github.com/netsteer/netsteer/apply"
	"github.com/netsteer/netsteer/internal/testenv"
)

// vethNS is a network namespace with veth pairs of 8+8 queues: nst0-nst1, and so
// on.
func vethNS(t *testing.T, pairs int) *testenv.NS {
	t.Helper()
	ns := testenv.Netns(t)
	for i := range pairs {
		ns.Run(t, "ip", "link", "add", fmt.Sprintf("nst%d", 2*i), "numtxqueues", "8", "numrxqueues", "8", "type", "veth",
			"peer", "name", fmt.Sprintf("nst%d", 2*i+1), "numtxqueues", "8", "numrxqueues", "8")
	}
	return ns
}

// TestSteer proves what apply, rollback, transactions and capture do, with the
// kernel's own veth in a namespace of its own. Each script has a pair for itself.
func TestSteer(t *testing.T) {
	ns := vethNS(t, 4)
	testscript.Run(t, testscript.Params{
		Dir:  "testdata/steer",
		Cmds: scriptCommands,
		Setup: func(env *testscript.Env) error {
			env.Setenv("NS", ns.Name)
			env.Setenv("NETSTEER_STATE", filepath.Join(env.WorkDir, "state"))
			return nil
		},
	})
}

// settings are all files of all queues of the devices.
func settings(t *testing.T, ns *testenv.NS, devices ...string) map[string]string {
	t.Helper()
	args := []string{"-rs", ""}
	for _, d := range devices {
		args = append(args, "/sys/class/net/"+d+"/queues/")
	}
	out := ns.Run(t, "sh", append([]string{"-c", `grep "$@"; true`, "sh"}, args...)...)
	files := map[string]string{}
	for line := range strings.Lines(out) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		files[strings.TrimPrefix(name, "/sys/class/net/")] += value + "\n"
	}
	return files
}

// result is what a command left.
type result struct {
	exit           int
	stdout, stderr string
}

// netsteerIn runs the command in the namespace, as root or as somebody else.
func netsteerIn(t *testing.T, ns *testenv.NS, state string, as *syscall.Credential, args ...string) result {
	t.Helper()
	prefix := []string{"netns", "exec", ns.Name}
	if as != nil {
		prefix = append(prefix, testenv.Tool(t, "setpriv"), fmt.Sprintf("--reuid=%d", as.Uid), fmt.Sprintf("--regid=%d", as.Gid), "--clear-groups")
	}
	cmd := exec.Command(testenv.Tool(t, "ip"), append(append(prefix, "netsteer"), args...)...)
	cmd.Env = append(os.Environ(), "NETSTEER_STATE="+state)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

const handWritten = `{"schema":"netsteer.advice/v1","changes":[
 {"kind":"rps_cpus","device":"nst0","direction":"rx","queue":1,"proposed":"0"},
 {"kind":"xps_cpus","device":"nst0","direction":"tx","queue":1,"proposed":"0"}]}`

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestApplyChangesTheseFilesOnly proves that a plan file written by hand changes
// its two files and no other, and that rollback restores them byte for byte with
// no server running.
func TestApplyChangesTheseFilesOnly(t *testing.T) {
	ns := vethNS(t, 1)
	state, plan := t.TempDir(), writeFile(t, "plan.json", handWritten)
	before := settings(t, ns, "nst0", "nst1")
	if len(before) < 2*8*3 {
		t.Fatalf("only %d files of queues", len(before))
	}
	if r := netsteerIn(t, ns, state, nil, "apply", "--plan", plan, "--yes", "--verify", "0s"); r.exit != 0 || r.stderr != "" {
		t.Fatalf("apply: %+v", r)
	}
	changed := map[string]bool{}
	for name, now := range settings(t, ns, "nst0", "nst1") {
		if now != before[name] {
			changed[name] = true
		}
	}
	if len(changed) != 2 || !changed["nst0/queues/rx-1/rps_cpus"] || !changed["nst0/queues/tx-1/xps_cpus"] {
		t.Errorf("changed: %v", changed)
	}
	if r := netsteerIn(t, ns, state, nil, "rollback", "--yes"); r.exit != 0 || r.stderr != "" {
		t.Fatalf("rollback: %+v", r)
	}
	after := settings(t, ns, "nst0", "nst1")
	for name, was := range before {
		if after[name] != was {
			t.Errorf("%s holds %q, was %q", name, after[name], was)
		}
	}
}

// TestRefusals proves that what cannot be done is refused with one line and exit
// status 1 before anything is written: without privilege, on a read-only mount,
// with a full disk, while another transaction is at work.
func TestRefusals(t *testing.T) {
	ns := vethNS(t, 1)
	plan := writeFile(t, "plan.json", handWritten)
	if err := errors.Join(os.Chmod(filepath.Dir(plan), 0o755), os.Chmod(filepath.Dir(filepath.Dir(plan)), 0o755)); err != nil {
		t.Fatal(err)
	}
	apply := []string{"apply", "--plan", plan, "--yes"}
	before := settings(t, ns, "nst0", "nst1")
	tests := []struct {
		name string
		run  func(t *testing.T) result
		want []string
	}{
		{"nobody", func(t *testing.T) result {
			return netsteerIn(t, ns, t.TempDir(), &syscall.Credential{Uid: 65534, Gid: 65534}, apply...)
		}, []string{"permission denied", "run as root", "--state.dir"}},
		{"nobody with a state directory", func(t *testing.T) result {
			state := openDir(t)
			return netsteerIn(t, ns, state, &syscall.Credential{Uid: 65534, Gid: 65534}, apply...)
		}, []string{"rps_cpus of nst0 rx-1", "permission denied", "CAP_NET_ADMIN"}},
		{"read-only sysfs", func(t *testing.T) result {
			return mounted(t, ns, "mount -o remount,ro,bind /sys", apply...)
		}, []string{"read-only file system"}},
		{"full disk", func(t *testing.T) result {
			return mounted(t, ns, "mount -t tmpfs -o size=16k none $NETSTEER_STATE && ! cat /dev/zero >$NETSTEER_STATE/full 2>/dev/null", apply...)
		}, []string{"no space left on device", "nothing was changed"}},
		{"state directory is a file", func(t *testing.T) result {
			return netsteerIn(t, ns, plan, nil, apply...)
		}, []string{"not a directory"}},
		{"busy", func(t *testing.T) result {
			state := t.TempDir()
			lock, err := os.Create(filepath.Join(state, "lock"))
			if err == nil {
				err = unix.Flock(int(lock.Fd()), unix.LOCK_EX)
			}
			if err != nil {
				t.Fatal(err)
			}
			defer lock.Close()
			return netsteerIn(t, ns, state, nil, apply...)
		}, []string{"another transaction is at work"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := tt.run(t)
			if r.exit != 1 || r.stdout != "" || !strings.HasPrefix(r.stderr, "netsteer: error: ") || strings.Count(r.stderr, "\n") != 1 {
				t.Errorf("%+v", r)
			}
			for _, part := range tt.want {
				if !strings.Contains(r.stderr, part) {
					t.Errorf("%q does not say %q", r.stderr, part)
				}
			}
		})
	}
	for name, now := range settings(t, ns, "nst0", "nst1") {
		if now != before[name] {
			t.Errorf("%s was changed to %q", name, now)
		}
	}
}

// openDir is a directory that anybody may write to.
func openDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for d := dir; filepath.Base(d) != filepath.Base(os.TempDir()) && d != "/"; d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// mounted runs the command in the namespace after mounts of its own.
func mounted(t *testing.T, ns *testenv.NS, mount string, args ...string) result {
	t.Helper()
	cmd := exec.Command(testenv.Tool(t, "ip"), append([]string{
		"netns", "exec", ns.Name, testenv.Tool(t, "unshare"), "--mount", "sh", "-c", mount + ` && exec netsteer "$@"`, "sh",
	}, args...)...)
	cmd.Env = append(os.Environ(), "NETSTEER_STATE="+t.TempDir())
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run() // the exit status is looked at
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// TestEnded proves the exit statuses: 0 committed, 2 rolled back, 3 undo
// incomplete, each other than 0 with its line.
func TestEnded(t *testing.T) {
	for state, want := range map[apply.State]exit{
		apply.Committed:  {},
		apply.DryRun:     {},
		apply.RolledBack: {2, "rolled back, all is as before: why"},
		apply.Failed:     {3, "undo incomplete, see transaction 20261130T000000Z-0000: why"},
	} {
		err := ended(&apply.Transaction{ID: "20261130T000000Z-0000", State: state, Reason: "why"})
		var got exit
		if e := new(exit); errors.As(err, &e) {
			got = *e
		} else if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%s: %+v, want %+v", state, got, want)
		}
	}
	err := ended(&apply.Transaction{Operation: apply.Rollback, State: apply.RolledBack, Reason: "why"})
	if err == nil || err.Error() != "the rollback was undone, all is as before it: why" {
		t.Error(err)
	}
}
