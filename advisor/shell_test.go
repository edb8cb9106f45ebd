package advisor

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/internal/testenv"
	"github.com/netsteer/netsteer/skew"
)

// wideHost has CPUs above 31 and 63, and something of each kind to write.
func wideHost() (*machine, *Advice) {
	m := newMachine(2, 1, 36, 1)
	m.inv.CPUs.IsolatedBoot = cpuset.Range(0, 31)
	n := m.nic("eth0", 1, same(4, 40)...).xps("0", "1", "2", "3")
	n.dev().RX[1].RPS = host.KnownMask(cpuset.Of(1, 33, 70))
	return m, Advise(m.facts(skew.Options{}), Policy{})
}

// lay makes a plain directory tree with the files that changes write.
func lay(t *testing.T, changes []Change) string {
	t.Helper()
	root := t.TempDir()
	for _, c := range changes {
		path := filepath.Join(root, c.Target)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("old\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plan.sh")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// The script writes, in dash, exactly what the changes propose: lists to
// smp_affinity_list, masks in 32-bit words elsewhere.
func TestShellWritesThePlan(t *testing.T) {
	m, a := wideHost()
	root := lay(t, a.Changes)
	cmd := exec.Command(testenv.Tool(t, "dash"), script(t, Shell(a, a.Changes, m.inv.CPUs.NumIDs())))
	cmd.Env = append(os.Environ(), "ROOT="+root)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("%v: %s", err, out)
	}
	kinds := map[host.Kind]int{}
	for _, c := range a.Changes {
		kinds[c.Kind]++
		text, err := os.ReadFile(filepath.Join(root, c.Target))
		if err != nil {
			t.Fatal(err)
		}
		read := cpuset.ParseMask
		if c.Kind == host.IRQAffinity {
			read = cpuset.ParseList
		}
		set, err := read(string(text))
		if err != nil || set.String() != c.Proposed {
			t.Errorf("%s holds %q, want %s (%v)", c.Target, text, c.Proposed, err)
		}
		// 72 CPU ids: two digits, then two words of eight.
		if words := strings.Split(strings.TrimSpace(string(text)), ","); c.Kind != host.IRQAffinity && (len(words) != 3 || len(words[0]) != 2 || len(words[2]) != 8) {
			t.Errorf("%s: %q is not as wide as the kernel's masks", c.Target, text)
		}
	}
	if kinds[host.IRQAffinity] == 0 || kinds[host.RPSCPUs] == 0 || kinds[host.XPSCPUs] == 0 {
		t.Errorf("not every kind was written: %v", kinds)
	}
}

// A write that fails is named, the others are made, and the status says so.
func TestShellReportsFailure(t *testing.T) {
	m, a := wideHost()
	root := lay(t, a.Changes)
	first := a.Changes[0].Target
	if err := os.RemoveAll(filepath.Dir(filepath.Join(root, first))); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(testenv.Tool(t, "dash"), script(t, Shell(a, a.Changes, m.inv.CPUs.NumIDs())))
	cmd.Env = append(os.Environ(), "ROOT="+root)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "not written to "+root+first) {
		t.Errorf("%v: %s", err, out)
	}
	if text, _ := os.ReadFile(filepath.Join(root, a.Changes[len(a.Changes)-1].Target)); string(text) == "old\n" {
		t.Error("nothing was written after the failure")
	}
}

func TestShellIsClean(t *testing.T) {
	m, a := wideHost()
	// A hostile text stays in its comment and its word.
	a.Changes[0].Reason = "a\nrm -rf \"$HOME\"; `id` 'x'"
	a.Changes[0].Target = "/proc/irq/$(id)'s/smp_affinity_list"
	for name, text := range map[string]string{"plan": Shell(a, a.Changes, m.inv.CPUs.NumIDs()), "empty": Shell(a, nil, 4)} {
		cmd := exec.Command(testenv.Tool(t, "shellcheck"), "--norc", "--shell=sh", script(t, text))
		// SC2016: the hostile path is quoted so that nothing in it expands.
		cmd.Args = append(cmd.Args, "--exclude=SC2016")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		for line := range strings.Lines(text) {
			if strings.HasPrefix(strings.TrimSpace(line), "rm ") {
				t.Errorf("a reason became a command: %q", line)
			}
		}
	}
}

// What no file takes is a comment.
func TestShellOfOtherKinds(t *testing.T) {
	text := Shell(&Advice{}, []Change{
		{ID: "c1", Kind: host.KindRings, Device: "eth0", Target: "ethtool:rings", Proposed: "rx=512"},
		{ID: "c2", Kind: host.NetdevBudget, Target: "/proc/sys/net/core/netdev_budget", Proposed: "packets=300 usecs=8000"},
	}, 4)
	for _, want := range []string{"# not a file (ethtool:rings): use netsteer apply", "put '300' '/proc/sys/net/core/netdev_budget'\n", "put '8000' '/proc/sys/net/core/netdev_budget_usecs'\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// A change whose value is cleared is written as an empty mask, not left out.
func TestShellWritesEmptyMasks(t *testing.T) {
	text := Shell(&Advice{}, []Change{{ID: "c1", Kind: host.RPSCPUs, Device: "eth0", Direction: "rx", Target: "/sys/class/net/eth0/queues/rx-0/rps_cpus"}}, 33)
	if !strings.Contains(text, "put '0,00000000' ") {
		t.Error(text)
	}
}
