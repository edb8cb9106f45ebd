package netlink

import (
	"encoding/binary"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/mdlayher/genetlink"
	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// countVA counts va's queues by direction and checks that each id is there once.
func countVA(t testing.TB, r *rig, qs []NetdevQueue, want int) {
	t.Helper()
	seen := map[NetdevQueue]bool{}
	for _, q := range qs {
		if q.Ifindex != r.va {
			continue
		}
		q.NAPI, q.HasNAPI = 0, false
		if seen[q] || int(q.ID) >= want {
			t.Fatalf("queue %+v twice or out of range", q)
		}
		seen[q] = true
	}
	if len(seen) != 2*want {
		t.Fatalf("%d queues of va, want %d", len(seen), 2*want)
	}
}

// A dump of several datagrams is complete, again and again on the same socket, and starts anew in the
// caller's slice: the answers carry no NLM_F_MULTI, at which a plain Receive stops after the first.
func TestDumpOfManyDatagrams(t *testing.T) {
	r := newRig(t, 512)
	need(t, r.Conn, netdevFamily, CmdQueueGet)
	qs := make([]NetdevQueue, 0, 2048)
	for range 3 {
		var err error
		if qs, err = r.Queues(qs[:0]); err != nil {
			t.Fatal(err)
		}
		countVA(t, r, qs, 512)
	}
	if qs[0].TX || qs[0].ID != 0 {
		t.Errorf("first queue is %+v", qs[0])
	}
	kept, err := r.Queues(qs[:5])
	if err != nil || len(kept) != len(qs)+5 {
		t.Errorf("appended to 5: %d entries, %v; want %d", len(kept), err, len(qs)+5)
	}
}

// What an abandoned dump left in the socket neither disturbs the next ones (late answers have another
// sequence number) nor makes the kernel refuse them (EBUSY while the old one is unfinished).
func TestDumpAfterAnAbandonedOne(t *testing.T) {
	r := newRig(t, 512)
	need(t, r.Conn, netdevFamily, CmdQueueGet)
	s := r.netdev
	for i := range 3 {
		_, err := s.conn.Send(genetlink.Message{Header: genetlink.Header{Command: CmdQueueGet, Version: s.version}},
			s.id, netlink.Request|netlink.Dump)
		if err != nil {
			t.Fatal(i, err)
		}
		s.stale = true // as a timeout leaves it
		qs, err := r.Queues(nil)
		if err != nil {
			t.Fatal(i, err)
		}
		countVA(t, r, qs, 512)
		if s.stale {
			t.Error("still marked stale")
		}
	}
}

// A dump whose decoder fails is read to its end, so that the socket stays in step.
func TestDumpDecoderError(t *testing.T) {
	r := newRig(t, 512)
	need(t, r.Conn, netdevFamily, CmdQueueGet)
	boom := errors.New("boom")
	calls := 0
	err := r.netdev.dump(time.Second, CmdQueueGet, nil, func() {}, func([]byte) error { calls++; return boom })
	if !errors.Is(err, boom) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
	qs, err := r.Queues(nil)
	if err != nil {
		t.Fatal(err)
	}
	countVA(t, r, qs, 512)
}

// An inconsistent dump is asked for again, from the start, and not for ever.
func TestDumpInterrupted(t *testing.T) {
	r := newRig(t, 2)
	need(t, r.Conn, netdevFamily, CmdQueueGet)
	for _, tc := range []struct {
		bad, tries int
		want       error
	}{{0, 1, nil}, {2, 3, nil}, {100, dumpTries, ErrInterrupted}} {
		tries := 0
		err := r.netdev.dump(time.Second, CmdQueueGet, nil, func() { tries++ }, func([]byte) error {
			if tries <= tc.bad {
				return ErrInterrupted
			}
			return nil
		})
		if !errors.Is(err, tc.want) || tries != tc.tries {
			t.Errorf("%d bad: %v after %d tries, want %v after %d", tc.bad, err, tries, tc.want, tc.tries)
		}
	}
}

// A request that hangs holds its own socket only, and those who wait for it only for their timeout.
func TestTimeout(t *testing.T) {
	c := dial(t)
	for name, tc := range map[string]struct {
		lock lock
		ask  func() error
	}{
		"netdev":  {c.netdev.lock, func() error { _, err := c.Queues(nil); return err }},
		"ethtool": {c.ethtool.lock, func() error { _, err := c.Features(1); return err }},
		"ioctl":   {c.ioctl.lock, func() error { _, err := c.DriverInfo("lo"); return err }},
		"link":    {c.link.lock, func() error { _, err := c.LinkUp(1); return err }},
	} {
		if err := tc.lock.acquire(time.Second); err != nil {
			t.Fatal(err)
		}
		c.Timeout = 20 * time.Millisecond
		err := tc.ask()
		tc.lock.release()
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s, socket taken: %v", name, err)
		}
		c.Timeout = DefaultTimeout
		if err := tc.ask(); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s, socket free: %v", name, err)
		}
	}
}

// A missing answer ends with the deadline, and the socket can be used afterwards.
func TestTimeoutOfAnAnswer(t *testing.T) {
	c := dial(t)
	s := c.ethtool
	// Nothing was asked, so nothing comes.
	if err := s.conn.SetDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.read(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("read without an answer: %v", err)
	}
	if _, err := c.Features(1); err != nil {
		t.Error("after the timeout:", err)
	}

	c.Timeout = 1 // over before the kernel is asked
	if _, err := c.Features(1); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("timeout of 1 ns:", err)
	}
	c.Timeout = DefaultTimeout
	for range 3 {
		if f, err := c.Features(1); err != nil || len(f) == 0 {
			t.Errorf("after a request that timed out: %d features, %v", len(f), err)
		}
	}
}

// message builds one netlink message.
func message(typ, flags uint16, seq uint32, body []byte) []byte {
	b := binary.NativeEndian.AppendUint32(nil, uint32(16+len(body)))
	b = binary.NativeEndian.AppendUint16(b, typ)
	b = binary.NativeEndian.AppendUint16(b, flags)
	b = binary.NativeEndian.AppendUint32(b, seq)
	b = binary.NativeEndian.AppendUint32(b, 0)
	return pad4(append(b, body...))
}

func attribute(typ uint16, v []byte) []byte {
	b := binary.NativeEndian.AppendUint16(nil, uint16(4+len(v)))
	b = binary.NativeEndian.AppendUint16(b, typ)
	return pad4(append(b, v...))
}

func pad4(b []byte) []byte {
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return b
}

func u32(v uint32) []byte { return binary.NativeEndian.AppendUint32(nil, v) }

func join(parts ...[]byte) []byte {
	var b []byte
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

// What the kernel can answer that this machine's kernel does not: interrupted dumps, an error in the
// DONE, explanations, foreign messages and nonsense.
func TestAnswers(t *testing.T) {
	const fam, seq = 20, 7
	enodev, ebusy := -int32(unix.ENODEV), -int32(unix.EBUSY)
	genl := []byte{1, 1, 0, 0}
	request := message(fam, 0, seq, append(genl, attribute(1, u32(3))...))
	why := attribute(unix.NLMSGERR_ATTR_MSG, []byte("because\x00"))
	for name, tc := range map[string]struct {
		in      []byte
		n       int
		done    bool
		err     error // of the exchange
		text    string
		garbled bool // the datagram itself is an error
	}{
		"one and done":      {in: join(message(fam, 0, seq, genl), message(unix.NLMSG_DONE, 2, seq, u32(0))), n: 1, done: true},
		"not done":          {in: message(fam, 2, seq, genl), n: 1},
		"ack":               {in: message(unix.NLMSG_ERROR, 0, seq, append(u32(0), request...)), done: true},
		"another sequence":  {in: join(message(fam, 0, seq-1, genl), message(unix.NLMSG_DONE, 0, seq-1, u32(0)))},
		"another family":    {in: message(fam+1, 0, seq, genl)},
		"interrupted":       {in: join(message(fam, unix.NLM_F_DUMP_INTR, seq, genl), message(unix.NLMSG_DONE, 0, seq, u32(0))), n: 1, done: true, err: ErrInterrupted},
		"interrupted DONE":  {in: message(unix.NLMSG_DONE, unix.NLM_F_DUMP_INTR, seq, u32(0)), done: true, err: ErrInterrupted},
		"error in DONE":     {in: join(message(fam, 0, seq, genl), message(unix.NLMSG_DONE, 0, seq, u32(uint32(ebusy)))), n: 1, done: true, err: unix.EBUSY},
		"DONE explained":    {in: message(unix.NLMSG_DONE, unix.NLM_F_ACK_TLVS, seq, join(u32(uint32(ebusy)), why)), done: true, err: unix.EBUSY, text: "because"},
		"error":             {in: message(unix.NLMSG_ERROR, 0, seq, append(u32(uint32(enodev)), request...)), done: true, err: unix.ENODEV},
		"error explained":   {in: message(unix.NLMSG_ERROR, unix.NLM_F_ACK_TLVS, seq, join(u32(uint32(enodev)), request, why)), done: true, err: unix.ENODEV, text: "because"},
		"error capped":      {in: message(unix.NLMSG_ERROR, unix.NLM_F_ACK_TLVS|unix.NLM_F_CAPPED, seq, join(u32(uint32(enodev)), request[:16], why)), done: true, err: unix.ENODEV, text: "because"},
		"error, bad TLVs":   {in: message(unix.NLMSG_ERROR, unix.NLM_F_ACK_TLVS, seq, join(u32(uint32(enodev)), u32(1<<31))), done: true, err: unix.ENODEV},
		"length too long":   {in: message(fam, 0, seq, genl)[:18], garbled: true},
		"length zero":       {in: make([]byte, 16), garbled: true},
		"no genetlink head": {in: message(fam, 0, seq, nil), garbled: true},
		"rest of a header":  {in: append(message(fam, 0, seq, genl), 1, 2, 3), n: 1, garbled: true},
	} {
		n := 0
		a := answers{family: fam, seq: seq, f: func([]byte) error { n++; return nil }}
		err := a.datagram(tc.in)
		if tc.garbled != errors.Is(err, errMalformed) {
			t.Errorf("%s: datagram: %v", name, err)
		}
		if n != tc.n || a.done != tc.done || !errors.Is(a.err(), tc.err) || (tc.err == nil && a.err() != nil) {
			t.Errorf("%s: %d answers, done %v, %v; want %d, %v, %v", name, n, a.done, a.err(), tc.n, tc.done, tc.err)
		}
		if tc.text != "" {
			var e *Error
			if !errors.As(wrap(a.err(), "x", "y"), &e) || e.Message != tc.text {
				t.Errorf("%s: %q, want message %q", name, wrap(a.err(), "x", "y"), tc.text)
			}
		}
	}
}

func BenchmarkQueues1024(b *testing.B) {
	r := newRig(b, 512)
	need(b, r.Conn, netdevFamily, CmdQueueGet)
	var qs []NetdevQueue
	var err error
	b.ReportAllocs()
	for b.Loop() {
		if qs, err = r.Queues(qs[:0]); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(qs)), "queues")
}
