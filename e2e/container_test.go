//go:build e2e && image

package e2e

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/netsteer/netsteer/internal/testenv"
)

// mountPoints are the folders that a runtime makes in the image.
var mountPoints = []string{"proc", "host/proc", "host/sys"}

// contain is what a container runtime does to start an image, less cgroups: own
// namespaces, the mounts of the Dockerfile's head, its root, its user.
const contain = `set -eu
mount --make-rprivate /
cd "$ROOT"
mount -t proc -o ro proc proc
mount --rbind /proc host/proc
mount -o remount,bind,ro host/proc
mount --rbind /sys host/sys
mount -o remount,bind,ro host/sys
[ -z "$MASK" ] || mount --bind "$MASK" host/proc/interrupts
exec setpriv --no-new-privs chroot --userspec="$USERSPEC" --groups= "$ROOT" "$@"
`

type container struct{ *process }

// start runs the image's entrypoint with further arguments: in the machine's
// network namespace if ns is nil, else in ns with the machine's /sys; with the
// file mask over the host's /proc/interrupts if there is one.
func (i *image) start(t *testing.T, ns *testenv.NS, mask string, args ...string) *container {
	t.Helper()
	testenv.Tool(t, "setpriv")
	cmd := exec.Command(testenv.Tool(t, "sh"), append(append([]string{"-c", contain, "sh"}, i.config.Entrypoint...), args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH") + ":/usr/sbin:/sbin", "ROOT=" + i.root, "USERSPEC=" + i.config.User, "MASK=" + mask}
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS}
	c := &container{}
	if ns == nil {
		c.process = startCmd(t, cmd)
	} else {
		// A child is born into the namespace of the thread that starts it.
		ns.Do(t, func() { c.process = startCmd(t, cmd) })
	}
	return c
}
