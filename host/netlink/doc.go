// Package netlink is the wire: the generic netlink families "ethtool" and "netdev" and the ethtool
// ioctls that have no netlink counterpart (driver information, private statistics, flow rules).
//
// It asks and decodes; it judges nothing. What the kernel did not say is absent (OK is false), never
// -1 or a made-up 0. The names are those of ethtool(8), Documentation/networking/ethtool-netlink.rst
// and Documentation/netlink/specs/netdev.yaml of Linux 7.2.
//
// # Cost and order
//
// Every request but the netdev dumps takes the RTNL lock or the device's instance lock and calls the
// driver, which may talk to firmware. One such request at a time is the caller's job: requests that
// use different sockets of one Conn (ethtool netlink, ioctl, link speed) are not ordered here.
//
// # Time
//
// The kernel runs a netlink request inside sendmsg(2) and an ioctl inside ioctl(2); neither can be
// interrupted while a driver hangs. Conn.Timeout bounds what can be bounded: reading answers, and
// waiting for another request on the same socket, so that one hung driver holds one goroutine and
// everyone else gets os.ErrDeadlineExceeded. A caller that must not hang runs its request in a
// goroutine and stops waiting for it.
package netlink
