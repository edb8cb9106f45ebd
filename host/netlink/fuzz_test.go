package netlink

import (
	"errors"
	"testing"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// decoders are all that read attributes the kernel sent.
func decoders() map[string]func([]byte) error {
	return map[string]func([]byte) error{
		"channels": new(Channels).decode,
		"rings":    new(Rings).decode,
		"coalesce": new(Coalesce).decode,
		"rss":      new(RSS).decode,
		"features": features{}.decode,
		"strset":   (&strset{want: 1}).decode,
		"queue":    new(NetdevQueue).decode,
		"napi":     new(NAPI).decode,
		"qstats":   new(QueueStat).decode,
		"family":   new(sock).parseFamily,
		"bitset":   func(b []byte) error { return bitset(b, func(string, bool) {}) },
	}
}

// Random bytes never panic, and are either decoded or malformed.
func FuzzDecodeAttributes(f *testing.F) {
	f.Add([]byte{})
	f.Add(join(attribute(1, u32(4)), attribute(2, u32(0)), attribute(8, make([]byte, 8))))
	f.Add(attribute(aRSSFlowHash, attribute(6, u32(0x30))))
	f.Add(attribute(2, attribute(3, attribute(1, join(attribute(1, u32(0)), attribute(2, []byte("rx-gro\x00")), attribute(3, nil))))))
	f.Add(attribute(2, attribute(1, join(attribute(1, u32(1)), attribute(2, u32(1)), attribute(3, attribute(1, join(attribute(1, u32(0)), attribute(2, []byte("a\x00")))))))))
	f.Add(attribute(6, attribute(1, join(attribute(1, u32(1)), attribute(2, u32(14))))))
	f.Add(attribute(7, attribute(1, join(attribute(1, []byte("monitor\x00")), attribute(2, u32(6))))))
	f.Fuzz(func(t *testing.T, b []byte) {
		for name, decode := range decoders() {
			if err := decode(b); err != nil && !errors.Is(err, errMalformed) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// A datagram of random bytes never panics, however it claims to be cut into messages.
func FuzzDecodeDatagram(f *testing.F) {
	f.Add(message(20, 0, 7, append([]byte{1, 1, 0, 0}, attribute(1, u32(3))...)))
	f.Add(message(unix.NLMSG_ERROR, unix.NLM_F_ACK_TLVS, 7, join(u32(0xffffffed), message(20, 0, 7, nil), attribute(1, []byte("why\x00")))))
	f.Add(message(unix.NLMSG_DONE, unix.NLM_F_ACK_TLVS|unix.NLM_F_MULTI, 7, u32(0)))
	f.Fuzz(func(t *testing.T, b []byte) {
		a := answers{family: 20, seq: 7, f: func(attrs []byte) error { return new(NetdevQueue).decode(attrs) }}
		if err := a.datagram(b); err != nil && !errors.Is(err, errMalformed) {
			t.Error(err)
		}
		if err := a.err(); err != nil && a.kernel == nil && !errors.Is(err, errMalformed) && !errors.Is(err, ErrInterrupted) {
			t.Error(err)
		}
	})
}

// Neither do the structures of the ioctls and the notifications.
func FuzzDecodeStructures(f *testing.F) {
	f.Add(join(u32(ethtoolGRSSH), u32(0), u32(1), u32(2), make([]byte, 8), u32(5), []byte{8, 9}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := new(RSS).decodeRXFH(b); err != nil && !errors.Is(err, errMalformed) {
			t.Error(err)
		}
		if n := len(statNames(nil, b)); n != len(b)/stringLen {
			t.Errorf("%d names of %d bytes", n, len(b))
		}
		ethtoolEvent(netlink.Message{Data: b})
		linkEvent(netlink.Message{Header: netlink.Header{Type: unix.RTM_NEWLINK}, Data: b})
	})
}
