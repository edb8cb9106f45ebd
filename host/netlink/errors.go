package netlink

import (
	"errors"
	"strconv"

	"golang.org/x/sys/unix"
)

// ErrUnsupported is what errors.Is finds when the kernel, or the device's driver, does not have
// what was asked for (EOPNOTSUPP). A device that does not exist is ENODEV instead.
var ErrUnsupported error = unix.EOPNOTSUPP

// ErrInterrupted is returned when a dump was inconsistent (NLM_F_DUMP_INTR) each time it was tried.
var ErrInterrupted = errors.New("dump interrupted by a change each time it was tried")

var errMalformed = errors.New("malformed netlink message")

// Error is a failed request. Err is usually a unix.Errno (errors.Is works through it).
type Error struct {
	Request string // e.g. "ethtool channels-get", "ioctl ETHTOOL_GSTATS"
	Device  string // interface name, or "ifindex N"; "" for a request about all devices
	Message string // what the kernel said beyond the number (extended acknowledgement), or ""
	Err     error
}

func (e *Error) Error() string {
	s := e.Request
	if e.Device != "" {
		s += " " + e.Device
	}
	if e.Message != "" {
		s += ": " + e.Message
	}
	return s + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// wrap adds the request and the device to err, keeping an extended acknowledgement.
func wrap(err error, request, device string) error {
	var done *Error
	if err == nil || errors.As(err, &done) { // a request made of several names the one that failed
		return err
	}
	var k *kernelError
	if errors.As(err, &k) {
		return &Error{Request: request, Device: device, Message: k.message, Err: k.errno}
	}
	return &Error{Request: request, Device: device, Err: err}
}

func ifindexName(ifindex int) string {
	if ifindex == 0 {
		return ""
	}
	return "ifindex " + strconv.Itoa(ifindex)
}
