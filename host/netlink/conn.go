package netlink

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/mdlayher/genetlink"
	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// DefaultTimeout is Conn.Timeout after Dial.
const DefaultTimeout = 5 * time.Second

// Conn asks the kernel about the devices of one network namespace: that of the thread which called
// Dial. It is safe for concurrent use; requests on the same socket wait for each other.
type Conn struct {
	// Timeout bounds each request as far as the kernel allows (see Time above). Set it before use.
	Timeout time.Duration

	ethtool *sock
	netdev  *sock
	ioctl   *ioctl
	link    *link
	ns      *os.File // the namespace, for Monitor's sockets; nil on a kernel without namespaces
}

// Dial opens the sockets in the calling thread's network namespace (a goroutine that changed its
// thread's namespace must be locked to it). It needs no privilege. A kernel without a family is not
// an error here: HasEthtool (Linux 5.6) and HasNetdev (6.3) tell.
func Dial() (*Conn, error) {
	runtime.LockOSThread() // all sockets in one namespace, whatever the scheduler does
	defer runtime.UnlockOSThread()

	c := &Conn{Timeout: DefaultTimeout}
	var err error
	if c.ethtool, err = dialFamily(unix.ETHTOOL_GENL_NAME); err == nil {
		if c.netdev, err = dialFamily(netdevFamily); err == nil {
			c.ioctl, err = newIoctl()
		}
	}
	if err == nil && c.HasEthtool() {
		c.link, err = dialLink()
	}
	if err == nil {
		c.ns = threadNetNS()
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Close closes the sockets. A request that is running ends first, or Close gives up after Timeout.
func (c *Conn) Close() error {
	var errs []error
	for _, s := range []*sock{c.ethtool, c.netdev} {
		if s != nil {
			errs = append(errs, s.conn.Close())
		}
	}
	if c.link != nil {
		errs = append(errs, c.link.close())
	}
	if c.ioctl != nil {
		errs = append(errs, c.ioctl.close(c.Timeout))
	}
	if c.ns != nil {
		errs = append(errs, c.ns.Close())
	}
	return errors.Join(errs...)
}

// HasEthtool reports whether the kernel has the family "ethtool" (Linux 5.6).
func (c *Conn) HasEthtool() bool { return c.ethtool.id != 0 }

// HasNetdev reports whether the kernel has the family "netdev" (Linux 6.3; queues and NAPIs 6.8,
// queue statistics 6.9: see HasOp).
func (c *Conn) HasNetdev() bool { return c.netdev.id != 0 }

// HasOp reports whether the kernel lists the command in the operations of the family "ethtool" or
// "netdev" (CTRL_CMD_GETFAMILY). That a device supports it is another question.
func (c *Conn) HasOp(family string, cmd uint8) bool {
	for _, s := range []*sock{c.ethtool, c.netdev} {
		if s.name == family {
			_, ok := s.ops[cmd]
			return ok
		}
	}
	return false
}

func (c *Conn) timeout() time.Duration {
	if c.Timeout <= 0 {
		return DefaultTimeout
	}
	return c.Timeout
}

// ask sends an ethtool request about one device. extra adds the attributes beside the header.
func (c *Conn) ask(request string, cmd uint8, ifindex int, extra func(*netlink.AttributeEncoder), f func(attrs []byte) error) error {
	attrs, err := deviceHeader(ifindex, extra)
	if err == nil {
		err = c.ethtool.get(c.timeout(), cmd, attrs, f)
	}
	return wrap(err, request, ifindexName(ifindex))
}

// deviceHeader encodes the header that starts every ethtool request (ETHTOOL_A_*_HEADER is 1 in all).
func deviceHeader(ifindex int, extra func(*netlink.AttributeEncoder)) ([]byte, error) {
	if ifindex <= 0 {
		return nil, unix.ENODEV // the kernel would answer EINVAL, or with all devices
	}
	ae := netlink.NewAttributeEncoder()
	ae.Nested(1, func(h *netlink.AttributeEncoder) error {
		h.Uint32(unix.ETHTOOL_A_HEADER_DEV_INDEX, uint32(ifindex))
		return nil
	})
	if extra != nil {
		extra(ae)
	}
	return ae.Encode()
}

// dialGenetlink opens a socket with extended acknowledgements and strict checks.
func dialGenetlink(netns int) (*genetlink.Conn, error) {
	conn, err := genetlink.Dial(&netlink.Config{Strict: true, NetNS: netns})
	if err != nil {
		return nil, fmt.Errorf("generic netlink: %w", err)
	}
	return conn, nil
}

// threadNetNS is the calling thread's namespace, or nil without /proc or without namespaces: Monitor
// then stays in whatever namespace there is.
func threadNetNS() *os.File {
	f, err := os.Open(fmt.Sprintf("/proc/self/task/%d/ns/net", unix.Gettid()))
	if err != nil {
		return nil
	}
	return f
}
