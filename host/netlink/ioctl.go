package netlink

import (
	"errors"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ioctl is the socket for SIOCETHTOOL and the memory its requests and answers live in.
//
// Older kernels write as many statistics and strings as the driver has, not as many as the caller made
// room for: the memory is therefore outside the Go heap and ends at a page nobody
// can write, so that a surplus is EFAULT instead of damage.
type ioctl struct {
	lock  lock
	fd    int
	ifr   ifreq
	mem   []byte // writable part of guard
	guard []byte
}

// ifreq is struct ifreq of a 64-bit kernel with the member ifr_data.
type ifreq struct {
	name [unix.IFNAMSIZ]byte
	data unsafe.Pointer
	_    [16]byte
}

// ioctlRoom holds the statistics of 200 queues with 40 counters each; the rest grows.
const ioctlRoom = 64 << 10

func newIoctl() (*ioctl, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if errors.Is(err, unix.EAFNOSUPPORT) { // a kernel without IPv4; any socket of the namespace does
		fd, err = unix.Socket(unix.AF_INET6, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	}
	if err != nil {
		return nil, os.NewSyscallError("socket for ioctl", err)
	}
	return &ioctl{lock: newLock(), fd: fd}, nil
}

func (io *ioctl) close(timeout time.Duration) error {
	if err := io.lock.acquire(timeout); err != nil {
		return err // the kernel still writes into the memory
	}
	defer io.lock.release()
	if io.fd < 0 {
		return nil
	}
	err := errors.Join(io.unmap(), unix.Close(io.fd))
	io.fd = -1
	return err
}

// do runs f, which fills the memory and calls, with the socket to itself.
func (io *ioctl) do(timeout time.Duration, name string, f func() error) error {
	if name == "" || len(name) >= unix.IFNAMSIZ {
		return unix.ENODEV // cut off, it would be another device's name
	}
	if err := io.lock.acquire(timeout); err != nil {
		return err
	}
	defer io.lock.release()
	io.ifr = ifreq{}
	copy(io.ifr.name[:], name)
	return f()
}

// call is one SIOCETHTOOL with what the memory holds. Only f of do may use it.
func (io *ioctl) call() error {
	io.ifr.data = unsafe.Pointer(unsafe.SliceData(io.mem))
	return io.syscall(unix.SIOCETHTOOL)
}

func (io *ioctl) syscall(req uintptr) error {
	if io.fd < 0 {
		return os.ErrClosed
	}
	for {
		_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(io.fd), req, uintptr(unsafe.Pointer(&io.ifr)))
		switch e {
		case 0:
			return nil
		case unix.EINTR:
			continue
		}
		return e
	}
}

// reserve returns n bytes of the memory, with whatever they hold. Only f of do may use it.
func (io *ioctl) reserve(n int) ([]byte, error) {
	if n <= len(io.mem) {
		return io.mem[:n], nil
	}
	if err := io.unmap(); err != nil {
		return nil, err
	}
	page := os.Getpagesize()
	size := (max(n, ioctlRoom) + page - 1) &^ (page - 1)
	guard, err := unix.Mmap(-1, 0, size+page, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	if err := unix.Mprotect(guard[:size], unix.PROT_READ|unix.PROT_WRITE); err != nil {
		return nil, errors.Join(os.NewSyscallError("mprotect", err), unix.Munmap(guard))
	}
	io.guard, io.mem = guard, guard[:size]
	return io.mem[:n], nil
}

func (io *ioctl) zeroed(n int) ([]byte, error) {
	b, err := io.reserve(n)
	clear(b)
	return b, err
}

func (io *ioctl) unmap() error {
	if io.guard == nil {
		return nil
	}
	err := unix.Munmap(io.guard)
	io.guard, io.mem = nil, nil
	return os.NewSyscallError("munmap", err)
}

// nameOf is SIOCGIFNAME: the present name of an interface, ENODEV if there is none.
func (c *Conn) nameOf(ifindex int) (string, error) {
	io := c.ioctl
	if err := io.lock.acquire(c.timeout()); err != nil {
		return "", err
	}
	defer io.lock.release()
	io.ifr = ifreq{}
	*(*int32)(unsafe.Pointer(&io.ifr.data)) = int32(ifindex) // the union's member ifr_ifindex
	err := io.syscall(unix.SIOCGIFNAME)
	io.ifr.data = nil
	if err != nil {
		return "", err
	}
	return text(io.ifr.name[:]), nil
}
