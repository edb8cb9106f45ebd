package netlink

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/mdlayher/genetlink"
	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// sock is one generic netlink socket bound to one family. It reads answers itself: netdev's carry no
// NLM_F_MULTI (genlmsg_iput passes no flags), at which netlink.Conn.Receive stops after the first
// datagram, dropping the rest and losing step with the sequence numbers for good.
type sock struct {
	conn    *genetlink.Conn
	raw     syscall.RawConn
	name    string
	id      uint16 // of the family; 0 if the kernel does not have it
	version uint8
	ops     map[uint8]uint32 // command -> GENL_CMD_CAP_* flags
	groups  map[string]uint32
	lock    lock
	buf     []byte // one datagram: the kernel makes dumps of at most 32 KiB, an attribute of at most 64 KiB
	stale   bool   // an earlier exchange was given up: its datagrams may still come
}

// dumpTries is how often an inconsistent dump is asked for again.
const dumpTries = 4

// kernelError is the error of a NLMSG_ERROR or NLMSG_DONE message.
type kernelError struct {
	errno   unix.Errno
	message string
}

func (e *kernelError) Error() string {
	if e.message == "" {
		return e.errno.Error()
	}
	return e.message + ": " + e.errno.Error()
}

func (e *kernelError) Unwrap() error { return e.errno }

// get asks about one device; f gets the attributes of each answer, valid during the call only.
func (s *sock) get(timeout time.Duration, cmd uint8, attrs []byte, f func(attrs []byte) error) error {
	if err := s.lock.acquire(timeout); err != nil {
		return err
	}
	defer s.lock.release()
	// An ACK ends every exchange in the same way as a dump's DONE does, whatever the answer was.
	return s.exchange(timeout, s.id, cmd, netlink.Request|netlink.Acknowledge, attrs, f)
}

// dump asks about all devices. reset is called before each try, so that a repeated one starts anew.
func (s *sock) dump(timeout time.Duration, cmd uint8, attrs []byte, reset func(), f func(attrs []byte) error) error {
	if err := s.lock.acquire(timeout); err != nil {
		return err
	}
	defer s.lock.release()
	var err error
	for range dumpTries {
		reset()
		err = s.exchange(timeout, s.id, cmd, netlink.Request|netlink.Dump, attrs, f)
		if !errors.Is(err, ErrInterrupted) {
			return err
		}
	}
	return err
}

// exchange sends one request and reads its answers up to the ACK, the error or the DONE.
func (s *sock) exchange(timeout time.Duration, family uint16, cmd uint8, flags netlink.HeaderFlags, attrs []byte, f func([]byte) error) error {
	if family == 0 {
		return &kernelError{unix.EOPNOTSUPP, "the kernel does not have this netlink family"}
	}
	if err := s.conn.SetDeadline(time.Now().Add(timeout)); err != nil {
		return err
	}
	if s.stale {
		if err := s.drain(); err != nil {
			return err
		}
	}
	req, err := s.conn.Send(genetlink.Message{
		Header: genetlink.Header{Command: cmd, Version: s.version},
		Data:   attrs,
	}, family, flags)
	if err != nil {
		s.stale = true
		return err
	}
	in := answers{family: family, seq: req.Header.Sequence, f: f}
	for !in.done {
		n, err := s.read()
		if err == nil {
			err = in.datagram(s.buf[:n])
		}
		if err != nil {
			s.stale = true
			return err
		}
	}
	return in.err()
}

// read reads one datagram into s.buf, waiting no longer than the deadline.
func (s *sock) read() (int, error) {
	var n int
	var rerr error
	err := s.raw.Read(func(fd uintptr) bool {
		for {
			n, rerr = unix.Read(int(fd), s.buf)
			if !errors.Is(rerr, unix.EINTR) {
				return !errors.Is(rerr, unix.EAGAIN)
			}
		}
	})
	if err == nil {
		err = os.NewSyscallError("read", rerr)
	}
	return n, err
}

// drain throws away what an abandoned exchange left; reading is also what lets an unfinished dump
// end, before which the kernel refuses another one on this socket with EBUSY.
func (s *sock) drain() error {
	var rerr error
	err := s.raw.Read(func(fd uintptr) bool {
		for {
			_, rerr = unix.Read(int(fd), s.buf)
			if rerr != nil && !errors.Is(rerr, unix.EINTR) && !errors.Is(rerr, unix.ENOBUFS) {
				return true
			}
		}
	})
	if err != nil {
		return err
	}
	if !errors.Is(rerr, unix.EAGAIN) {
		return os.NewSyscallError("read", rerr)
	}
	s.stale = false
	return nil
}

// answers is the state of one exchange.
type answers struct {
	family      uint16
	seq         uint32
	f           func([]byte) error
	done        bool
	interrupted bool
	kernel      *kernelError
	decode      error // the first of f; the exchange is read to its end all the same
}

func (a *answers) err() error {
	switch {
	case a.kernel != nil:
		return a.kernel
	case a.interrupted:
		return ErrInterrupted
	}
	return a.decode
}

// datagram takes the messages of one datagram. An error means that b can't be understood at all.
func (a *answers) datagram(b []byte) error {
	for len(b) > 0 {
		if len(b) < unix.SizeofNlMsghdr {
			return errMalformed
		}
		n := int(ne.Uint32(b))
		if n < unix.SizeofNlMsghdr || n > len(b) {
			return fmt.Errorf("%w: length %d in a datagram with %d bytes left", errMalformed, n, len(b))
		}
		if ne.Uint32(b[8:]) == a.seq { // else: a late answer to a request that was given up
			if err := a.message(ne.Uint16(b[4:]), ne.Uint16(b[6:]), b[unix.SizeofNlMsghdr:n]); err != nil {
				return err
			}
		}
		b = b[min(align4(n), len(b)):]
	}
	return nil
}

func (a *answers) message(typ, flags uint16, body []byte) error {
	if flags&unix.NLM_F_DUMP_INTR != 0 {
		a.interrupted = true
	}
	switch typ {
	case unix.NLMSG_DONE, unix.NLMSG_ERROR:
		a.done = true
		a.kernel = parseKernelError(typ, flags, body)
	case a.family:
		if len(body) < unix.GENL_HDRLEN {
			return errMalformed
		}
		if a.decode == nil {
			a.decode = a.f(body[unix.GENL_HDRLEN:])
		}
	}
	return nil
}

// parseKernelError returns nil for an ACK and for the DONE of a complete dump.
func parseKernelError(typ, flags uint16, body []byte) *kernelError {
	if len(body) < 4 {
		return nil
	}
	code := int32(ne.Uint32(body))
	if code >= 0 {
		return nil
	}
	e := &kernelError{errno: unix.Errno(-code)}
	if flags&unix.NLM_F_ACK_TLVS == 0 {
		return e
	}
	tlvs := body[4:]
	if typ == unix.NLMSG_ERROR { // the request's header comes first, and its body unless capped
		skip := unix.SizeofNlMsghdr
		if flags&unix.NLM_F_CAPPED == 0 && len(tlvs) >= 4 {
			skip = max(skip, align4(int(ne.Uint32(tlvs))))
		}
		if skip > len(tlvs) {
			return e
		}
		tlvs = tlvs[skip:]
	}
	// A damaged explanation is no reason to lose the error itself.
	_ = walk(tlvs, func(typ uint16, v []byte) error {
		if typ == unix.NLMSGERR_ATTR_MSG {
			e.message = text(v)
		}
		return nil
	})
	return e
}
