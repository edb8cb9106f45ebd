package lab

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"

	"github.com/netsteer/netsteer/lab/wire"
)

// Flows is UDP traffic of many flows, each with a source address and source
// port of its own drawn by a seed: the same seed gives the same flows. Random
// ones, because sequential ports fall unevenly on the queues with one RSS key
// in nine.
type Flows struct {
	Count int
	Seed  uint64
	Rate  int // packets per second, all flows together
	// Packets is how many to send in all, the flows in turn.
	Packets int
	// To is the destination, by default the guest's address on that NIC. A
	// prefix gives each flow a random address in it.
	To netip.Prefix
}

// frames are the Ethernet frames of the flows, one each.
func (f Flows) frames(guest [6]byte, to netip.Prefix) [][]byte {
	random := rand.New(rand.NewPCG(f.Seed, 0))
	frames := make([][]byte, f.Count)
	for i := range frames {
		source := netip.AddrPortFrom(within(Sources, random), uint16(1024+random.IntN(64512)))
		frames[i] = frame(guest, source, within(to, random))
	}
	return frames
}

// within draws an address of the prefix, neither its first nor its last; of a
// prefix with one address that one.
func within(prefix netip.Prefix, random *rand.Rand) netip.Addr {
	size := uint32(1) << (32 - prefix.Bits())
	if size < 4 {
		return prefix.Addr()
	}
	first := prefix.Masked().Addr().As4()
	var a [4]byte
	binary.BigEndian.PutUint32(a[:], binary.BigEndian.Uint32(first[:])+1+random.Uint32N(size-2))
	return netip.AddrFrom4(a)
}

// frame is Ethernet, IPv4 and UDP to the discard port, with both checksums
// right and the shortest length there is.
func frame(guest [6]byte, source netip.AddrPort, to netip.Addr) []byte {
	const ethernet, ip, payload = 14, 20, 18
	f := make([]byte, ethernet+ip+8+payload)
	copy(f, guest[:])
	copy(f[6:], []byte{0x52, 0x54, 0x00, 0x77, 0xff, 0x01})
	binary.BigEndian.PutUint16(f[12:], 0x0800)

	h := f[ethernet : ethernet+ip]
	h[0] = 0x45
	binary.BigEndian.PutUint16(h[2:], uint16(len(f)-ethernet))
	h[8], h[9] = 64, 17
	from := source.Addr().As4()
	dest := to.As4()
	copy(h[12:], from[:])
	copy(h[16:], dest[:])
	binary.BigEndian.PutUint16(h[10:], ^sum(0, h))

	u := f[ethernet+ip:]
	binary.BigEndian.PutUint16(u, source.Port())
	binary.BigEndian.PutUint16(u[2:], wire.DiscardPort)
	binary.BigEndian.PutUint16(u[4:], uint16(len(u)))
	check := ^sum(sum(uint16(17+len(u)), h[12:20]), u) // over the pseudo header too
	if check == 0 {
		check = 0xffff
	}
	binary.BigEndian.PutUint16(u[6:], check)
	return f
}

// sum is the one's complement sum of RFC 1071, b of even length.
func sum(start uint16, b []byte) uint16 {
	s := uint32(start)
	for i := 0; i < len(b); i += 2 {
		s += uint32(binary.BigEndian.Uint16(b[i:]))
	}
	for s > 0xffff {
		s = s>>16 + s&0xffff
	}
	return uint16(s)
}
