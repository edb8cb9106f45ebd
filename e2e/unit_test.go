//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/netsteer/netsteer/internal/testenv"
)

// unit gives the path of the unit file, and its text.
func unit(t *testing.T) (path, text string) {
	t.Helper()
	path = filepath.Join(testenv.ModuleRoot(t), "deploy", "systemd", "netsteer.service")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, string(content)
}

func TestUnitIsValid(t *testing.T) {
	analyze := testenv.Tool(t, "systemd-analyze")
	_, text := unit(t)
	// verify wants the program to be there.
	installed := filepath.Join(t.TempDir(), "netsteer.service")
	text = strings.ReplaceAll(text, "/usr/local/bin/netsteer", binary(t))
	if err := os.WriteFile(installed, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := run(t, "", analyze, "verify", "--man=no", installed); r.exit != 0 || r.stdout+r.stderr != "" {
		t.Errorf("systemd-analyze verify: exit %d\n%s%s", r.exit, r.stdout, r.stderr)
	}
}

// What is left of the exposure is what reading takes: the network, and the whole
// of /proc.
func TestUnitExposure(t *testing.T) {
	const most = 1.7
	path, _ := unit(t)
	r := run(t, "", testenv.Tool(t, "systemd-analyze"), "security", "--no-pager", "--offline=true", path)
	score := regexp.MustCompile(`Overall exposure level for netsteer.service: ([0-9.]+)`).FindStringSubmatch(r.stdout)
	if score == nil {
		t.Fatalf("systemd-analyze security: exit %d\n%s%s", r.exit, r.stdout, r.stderr)
	}
	exposure, err := strconv.ParseFloat(score[1], 64)
	if err != nil || exposure > most {
		t.Errorf("exposure %s, want at most %v\n%s", score[1], most, r.stdout)
	}
	t.Logf("exposure %s of 10", score[1])
}

// Nobody, without a single capability, sees every metric that root does.
func TestReadingTakesNoPrivilege(t *testing.T) {
	testenv.Root(t)
	address := freeAddress(t)
	p := start(t, testenv.Tool(t, "setpriv"), "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs",
		"--bounding-set=-all", "--inh-caps=-all", binary(t), "--web.listen-address="+address)
	waitReady(t, p, "http://"+address+"/-/ready")
	_, root := serve(t)
	same(t, "nobody", families(get(t, "http://"+address+"/metrics")), "root", families(get(t, "http://"+root+"/metrics")))
}

// boot makes this process into a systemd that knows our unit and the targets the
// unit names, and nothing else; it can't write to the machine's sysctls, cgroups
// or units. The unit file is the one that is delivered.
const boot = `set -eu
mount --make-rprivate /
mount -t proc proc /proc
mount --bind /proc/sys /proc/sys
mount -o remount,bind,ro /proc/sys
for dir in /run /usr/local/bin /etc/default /etc/systemd/system; do
	mkdir -p "$dir"
	mount -t tmpfs tmpfs "$dir"
done
# Behind the mount on /tmp they could not be read any more.
install "$BINARY" /usr/local/bin/netsteer
install -m 0644 "$UNIT" /etc/systemd/system/netsteer.service
# There is no journal in here.
mkdir /etc/systemd/system/netsteer.service.d
printf '[Service]\nStandardError=append:/run/netsteer.log\n' >/etc/systemd/system/netsteer.service.d/log.conf
if [ -n "$CONFIG" ]; then
	install -m 0644 "$CONFIG" /etc/systemd/system/netsteer.service.d/web-config.conf
	mkdir -p /etc/netsteer
	mount -t tmpfs tmpfs /etc/netsteer
	cp "$SECRETS"/* /etc/netsteer/
fi
mount -t tmpfs -o mode=1777 tmpfs /tmp
echo "OPTIONS=--web.listen-address=$ADDRESS" >/etc/default/netsteer
units=$(dirname "$(readlink -f "$SYSTEMD")")/system
mount -t tmpfs tmpfs "$units"
for target in sysinit basic shutdown umount final network; do
	printf '[Unit]\nDefaultDependencies=no\n' >"$units/$target.target"
done
umount -R /sys/fs/cgroup
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount --bind /dev/null /dev/console
# As systemd has it where it is not in a container: credentials are mounted by a child.
mount --make-rshared /
exec env -i PATH="$PATH" container=other "$SYSTEMD" --system --unit=netsteer.service --log-target=null --show-status=no
`

// bare is the surroundings of boot without systemd and its restrictions.
const bare = `set -eu
mount --make-rprivate /
mount -t proc proc /proc
exec "$BINARY" --web.listen-address="$ADDRESS"
`

// begin runs one of the scripts above, where it is init as systemd demands, and
// gives its process and the address that netsteer listens on.
func begin(t *testing.T, script string, env ...string) (p *process, address string) {
	t.Helper()
	testenv.Root(t)
	testenv.Tool(t, "systemd-analyze") // of the same package
	path, _ := unit(t)
	address = freeAddress(t)
	cmd := exec.Command(testenv.Tool(t, "sh"), "-c", script)
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH") + ":/usr/sbin:/sbin", "SYSTEMD=/lib/systemd/systemd",
		"UNIT=" + path, "CONFIG=", "BINARY=" + binary(t), "ADDRESS=" + address,
	}, env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS | syscall.CLONE_NEWCGROUP}
	p = startCmd(t, cmd)
	// SIGTERM would start systemd anew; with an init everything in its namespace ends.
	t.Cleanup(func() {
		if log, err := os.ReadFile(fmt.Sprintf("/proc/%d/root/run/netsteer.log", p.cmd.Process.Pid)); err == nil && t.Failed() {
			t.Logf("netsteer said:\n%s", log)
		}
		_ = p.cmd.Process.Kill()
		<-p.ended
	})
	return p, address
}

// A real systemd starts the unit with every restriction in force, and it shows
// what root sees in the same PID namespace.
func TestUnitUnderSystemd(t *testing.T) {
	metrics := func(script string) string {
		t.Helper()
		p, address := begin(t, script)
		waitReady(t, p, "http://"+address+"/-/ready")
		return get(t, "http://"+address+"/metrics")
	}
	began := time.Now()
	restricted := metrics(boot)
	t.Logf("ready after %v", time.Since(began).Round(10*time.Millisecond))
	checkMetrics(t, restricted)
	same(t, "by systemd", families(restricted), "as root", families(metrics(bare)))
}

// The certificate, its key and the users are root's files, and reach a user that
// exists only while it runs.
func TestUnitWithWebConfiguration(t *testing.T) {
	secrets := t.TempDir()
	webConfig(t, secrets)
	conf := filepath.Join(testenv.ModuleRoot(t), "deploy", "systemd", "web-config.conf")
	p, address := begin(t, boot, "CONFIG="+conf, "SECRETS="+secrets)
	waitHealthy(t, p, address)
	curl := testenv.Tool(t, "curl")
	ask := []string{"--silent", "--fail", "--max-time", "10", "--cacert", filepath.Join(secrets, "tls.crt"), "https://" + address + "/metrics"}
	if r := run(t, "", curl, append(ask, "--user", "prometheus:"+password)...); r.exit != 0 || !has(r.stdout, "netsteer_build_info") {
		t.Errorf("with the password: curl ends with %d, %.300s", r.exit, r.stdout)
	}
	if r := run(t, "", curl, ask...); r.exit == 0 {
		t.Error("/metrics answers without the password")
	}
}
