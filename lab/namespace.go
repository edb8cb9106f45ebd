package lab

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/netsteer/netsteer/lab/nic"
)

// namespace is a network namespace without a name: the kernel removes it, and
// the taps in it, when the last process that holds it is gone, so nothing is
// left behind however the test ends.
type namespace struct{ file *os.File }

func newNamespace() (*namespace, error) {
	ns := &namespace{}
	err := onOwnThread(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("a network namespace needs root: %w", err)
		}
		var err error
		if ns.file, err = os.Open("/proc/thread-self/ns/net"); err != nil {
			return err
		}
		return nic.Up("lo") // programs of the host are asked from the host
	})
	return ns, err
}

func (ns *namespace) close() error { return ns.file.Close() }

// do runs f inside. Sockets and processes that f makes stay inside.
func (ns *namespace) do(f func() error) error {
	return onOwnThread(func() error {
		if err := unix.Setns(int(ns.file.Fd()), unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("entering the network namespace: %w", err)
		}
		return f()
	})
}

// stay is do on a thread that f has for itself and that ends with f: a child's
// death signal comes when the thread that started it ends, so f stays until
// the child is gone.
func (ns *namespace) stay(f func(), failed func(error)) {
	go func() {
		runtime.LockOSThread()
		if err := unix.Setns(int(ns.file.Fd()), unix.CLONE_NEWNET); err != nil {
			failed(fmt.Errorf("entering the network namespace: %w", err))
			return
		}
		f()
	}()
}

// onOwnThread runs f on a thread that comes back to the namespace it had.
func onOwnThread(f func() error) error {
	runtime.LockOSThread()
	home, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		runtime.UnlockOSThread()
		return err
	}
	defer home.Close()
	err = f()
	if back := unix.Setns(int(home.Fd()), unix.CLONE_NEWNET); back != nil {
		// Left locked: this thread must not serve anybody else.
		return fmt.Errorf("leaving the network namespace: %w", back)
	}
	runtime.UnlockOSThread()
	return err
}

// dial connects from inside; address is numeric, so the dial stays on this
// thread.
func (ns *namespace) dial(ctx context.Context, network, address string) (net.Conn, error) {
	var c net.Conn
	err := ns.do(func() error {
		var err error
		c, err = (&net.Dialer{}).DialContext(ctx, network, address)
		return err
	})
	return c, err
}

// addTap makes the tap of the n-th NIC, up and with the host's address.
func (ns *namespace) addTap(n int, card NIC) error {
	return ns.do(func() error {
		f, err := os.OpenFile("/dev/net/tun", os.O_RDWR, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		request, err := unix.NewIfreq(tap(n))
		if err != nil {
			return err
		}
		// QEMU opens it again by name and must then give the same flags.
		flags := uint16(unix.IFF_TAP | unix.IFF_NO_PI | unix.IFF_VNET_HDR)
		if card.Driver == Virtio && card.Queues > 1 {
			flags |= unix.IFF_MULTI_QUEUE
		}
		request.SetUint16(flags)
		if err := unix.IoctlIfreq(int(f.Fd()), unix.TUNSETIFF, request); err != nil {
			return fmt.Errorf("tap %s: %w", tap(n), err)
		}
		if err := unix.IoctlSetInt(int(f.Fd()), unix.TUNSETPERSIST, 1); err != nil {
			return fmt.Errorf("tap %s: %w", tap(n), err)
		}
		// Router solicitations of the host would wake vectors that a test
		// wants idle. Absent where the kernel has no IPv6.
		_ = os.WriteFile(filepath.Join("/proc/sys/net/ipv6/conf", tap(n), "disable_ipv6"), []byte("1"), 0)
		if err := nic.Address(tap(n), network(n)); err != nil {
			return err
		}
		return nic.Up(tap(n))
	})
}
