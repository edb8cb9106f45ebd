//go:build e2e

package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/netsteer/netsteer/internal/testenv"
)

// sandbox is a shell in which the quick start's commands touch nothing of this
// machine: the network namespace has an eth0 that is a veth, what they write is
// in memory, the repository is below an overlay.
const sandbox = `set -eu
mount --make-rprivate /
mount -t proc proc /proc
for dir in /usr/local/bin /var/lib /mnt; do mount -t tmpfs tmpfs "$dir"; done
mkdir /mnt/upper /mnt/work /mnt/repository
mount -t overlay overlay -o "lowerdir=$ROOT,upperdir=/mnt/upper,workdir=/mnt/work" /mnt/repository
cd /mnt/repository
sudo() { "$@"; }
# For a person the prompt is pause enough.
ready() { for _ in $(seq 300); do curl -sf "localhost:$1/-/ready" >/dev/null && return; sleep 0.1; done; false; }
exec 2>&1
set -x
`

// session makes the runnable blocks of the quick start into a script.
func session(t *testing.T) string {
	t.Helper()
	listens := regexp.MustCompile(`listen-address=127\.0\.0\.1:(\d+)`)
	script := sandbox
	for _, block := range blocks(document(t, "docs", "quickstart.md"), "sh") {
		for line := range strings.Lines(block) {
			script += line
			command, _, _ := strings.Cut(line, " #")
			if !strings.HasSuffix(strings.TrimSpace(command), " &") {
				continue
			}
			port := "10420"
			if m := listens.FindStringSubmatch(command); m != nil {
				port = m[1]
			}
			script += "ready " + port + "\n"
		}
	}
	return script
}

// The commands of docs/quickstart.md do what it says, one after the other.
func TestQuickStart(t *testing.T) {
	ns := testenv.Netns(t)
	for _, tool := range []string{"make", "curl", "promtool", "go"} {
		testenv.Tool(t, tool)
	}
	ns.Run(t, "ip", "link", "add", "eth0", "numtxqueues", "4", "numrxqueues", "4", "type", "veth", "peer", "name", "peer0")

	file := filepath.Join(t.TempDir(), "quickstart.sh")
	if err := os.WriteFile(file, []byte(session(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, testenv.Tool(t, "ip"), "netns", "exec", ns.Name, testenv.Tool(t, "bash"), file)
	cmd.Env = append(os.Environ(), "ROOT="+testenv.ModuleRoot(t), "PATH=/usr/local/bin:"+os.Getenv("PATH")+":/usr/sbin:/sbin")
	// The shell is init there: with it, its servers end.
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID}
	began := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("took %v", time.Since(began).Round(time.Second))

	rest := string(out)
	for _, want := range []string{ // in this order; + is bash's trace of a command
		`netsteer, version \d`,
		`\neth0 +veth`,
		`netsteer_device_info\{.*device="eth0"`,
		`SUCCESS: \d+ rules found`,
		`\+ netsteer advise\nnothing to change`,
		`\+ curl -s 'localhost:10420/advice\?format=text'\nnothing to change`,
		`\napply: dry run\n`,
		`would apply +rps_cpus of try0 rx-0`,
		`\napply [^ ]+: committed\n`,
		`applied +rps_cpus of try0 rx-0`,
		`\+ cat /sys/class/net/try0/queues/rx-0/rps_cpus\n0*1\n`,
		`  apply +committed `,
		`\nrollback [^ ]+ of [^ ]+: committed\n`,
		`\+ cat /sys/class/net/try0/queues/rx-0/rps_cpus\n0+\n`,
		`\napply [^ ]+: committed\n`,
		`"operation":"rollback","undoes":"[^"]+","state":"committed"`,
		`"operation":"apply","state":"dry_run"`,
		`\+ ip link del try0`,
	} {
		at := regexp.MustCompile(want).FindStringIndex(rest)
		if at == nil {
			t.Fatalf("nothing like %s in\n%s\nwhich is the rest of\n%s", want, rest, out)
		}
		rest = rest[at[1]:]
	}
}
