package live

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// links tells names and numbers of the devices of one network namespace.
type links struct {
	fd    int // any socket of the namespace
	route *netlink.Conn
}

// dialLinks takes the calling thread's namespace.
func dialLinks() (*links, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	route, err := netlink.Dial(unix.NETLINK_ROUTE, nil)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("route netlink: %w", err), unix.Close(fd))
	}
	return &links{fd, route}, nil
}

func (l *links) close() error { return errors.Join(l.route.Close(), unix.Close(l.fd)) }

// index is SIOCGIFINDEX. It is asked each time, and needs no lock in the
// kernel: a kept number would be another device's after the name's was deleted
// and made anew.
func (l *links) index(device string) (int, error) {
	ifr, err := unix.NewIfreq(device)
	if device == "" || err != nil { // too long: no device has such a name
		return 0, missingError{&os.SyscallError{Syscall: "ioctl SIOCGIFINDEX " + device, Err: unix.ENODEV}}
	}
	if err := uninterrupted(func() error { return unix.IoctlIfreq(l.fd, unix.SIOCGIFINDEX, ifr) }); err != nil {
		return 0, gone(os.NewSyscallError("ioctl SIOCGIFINDEX "+device, err))
	}
	return int(ifr.Uint32()), nil
}

// skipStats is RTEXT_FILTER_SKIP_STATS (include/uapi/linux/rtnetlink.h).
const skipStats = 1 << 3

// link is RTM_GETLINK of one ifindex: the device's name, and its iflink as
// sysfs shows it.
func (l *links) link(ifindex int) (name string, iflink int, err error) {
	ae := netlink.NewAttributeEncoder()
	ae.Uint32(unix.IFLA_EXT_MASK, skipStats)
	attrs, err := ae.Encode()
	if err != nil {
		return "", 0, err
	}
	info := make([]byte, unix.SizeofIfInfomsg, unix.SizeofIfInfomsg+len(attrs))
	binary.NativeEndian.PutUint32(info[4:], uint32(ifindex)) // ifi_index
	answers, err := l.route.Execute(netlink.Message{
		Header: netlink.Header{Type: unix.RTM_GETLINK, Flags: netlink.Request},
		Data:   append(info, attrs...),
	})
	if err != nil {
		return "", 0, gone(err)
	}
	if len(answers) != 1 || len(answers[0].Data) < unix.SizeofIfInfomsg {
		return "", 0, errors.New("route netlink: malformed answer to RTM_GETLINK")
	}
	iflink = ifindex // IFLA_LINK is left out when it is the same
	ad, err := netlink.NewAttributeDecoder(answers[0].Data[unix.SizeofIfInfomsg:])
	if err != nil {
		return "", 0, err
	}
	for ad.Next() {
		switch ad.Type() {
		case unix.IFLA_IFNAME:
			name = ad.String()
		case unix.IFLA_LINK:
			iflink = int(ad.Uint32())
		}
	}
	return name, iflink, ad.Err()
}
