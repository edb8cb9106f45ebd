package netlink

import (
	"errors"
	"fmt"

	"github.com/mdlayher/ethtool"
	"golang.org/x/sys/unix"
)

// link asks for speed and state through mdlayher/ethtool, which has a socket of its own.
type link struct {
	lock   lock
	client *ethtool.Client
}

func dialLink() (*link, error) {
	c, err := ethtool.New()
	if err != nil {
		return nil, fmt.Errorf("ethtool client: %w", err)
	}
	return &link{lock: newLock(), client: c}, nil
}

func (l *link) close() error { return l.client.Close() }

// unknownSpeed is SPEED_UNKNOWN, in Mbit/s, as the library hands it on.
const unknownSpeed = 1<<32 - 1

// LinkSpeed is the speed of the link in bits per second; ok is false when the driver does not know it
// (most virtual NICs, a link that is down).
func (c *Conn) LinkSpeed(ifindex int) (bitsPerSecond uint64, ok bool, err error) {
	err = c.askLink("ethtool linkmodes-get", ifindex, func(i ethtool.Interface) error {
		m, err := c.link.client.LinkMode(i)
		if err == nil && m.SpeedMegabits > 0 && m.SpeedMegabits != unknownSpeed {
			bitsPerSecond, ok = uint64(m.SpeedMegabits)*1_000_000, true
		}
		return err
	})
	return bitsPerSecond, ok, err
}

// LinkUp reports whether the device detects a link (ETHTOOL_MSG_LINKSTATE_GET).
func (c *Conn) LinkUp(ifindex int) (up bool, err error) {
	err = c.askLink("ethtool linkstate-get", ifindex, func(i ethtool.Interface) error {
		s, err := c.link.client.LinkState(i)
		if err == nil {
			up = s.Link
		}
		return err
	})
	return up, err
}

func (c *Conn) askLink(request string, ifindex int, f func(ethtool.Interface) error) (err error) {
	device := ifindexName(ifindex)
	switch {
	case c.link == nil:
		return wrap(unix.EOPNOTSUPP, request, device)
	case ifindex <= 0:
		return wrap(unix.ENODEV, request, device)
	}
	if err := c.link.lock.acquire(c.timeout()); err != nil {
		return wrap(err, request, device)
	}
	defer c.link.lock.release()
	defer func() { // the library panics on an answer it did not expect
		if r := recover(); r != nil {
			err = wrap(fmt.Errorf("%w: %v", errMalformed, r), request, device)
		}
	}()
	err = f(ethtool.Interface{Index: ifindex})
	var e *ethtool.Error
	if errors.As(err, &e) { // its errors.Is(os.ErrNotExist) mixes up EOPNOTSUPP and ENODEV: hand on the number
		var errno unix.Errno
		if errors.As(e.Err, &errno) {
			return &Error{Request: request, Device: device, Message: e.Message, Err: errno}
		}
	}
	return wrap(err, request, device)
}
