package lab

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"testing"
)

// A frame's checksums are right when the sums over what they cover are all
// ones: a NIC would drop it otherwise, and a test would count nothing.
func TestFrameChecksums(t *testing.T) {
	for _, f := range (Flows{Count: 512, Seed: 1}).frames(mac(0), Beyond) {
		ip, udp := f[14:34], f[34:]
		if sum(0, ip) != 0xffff {
			t.Fatalf("IP header % x sums to %04x", ip, sum(0, ip))
		}
		if pseudo := sum(uint16(17+len(udp)), ip[12:20]); sum(pseudo, udp) != 0xffff {
			t.Fatalf("UDP % x sums to %04x", udp, sum(pseudo, udp))
		}
		if int(binary.BigEndian.Uint16(ip[2:])) != len(f)-14 || int(binary.BigEndian.Uint16(udp[4:])) != len(udp) || len(f) != 60 {
			t.Fatalf("lengths do not agree in a frame of %d bytes: % x", len(f), f)
		}
	}
}

// The same seed gives the same flows, another one others; all of them come
// from Sources and go where they are sent.
func TestFlowsOfASeed(t *testing.T) {
	to := netip.MustParsePrefix("10.77.0.2/32")
	one, again, other := (Flows{Count: 64, Seed: 7}).frames(mac(0), to), (Flows{Count: 64, Seed: 7}).frames(mac(0), to), (Flows{Count: 64, Seed: 8}).frames(mac(0), to)
	seen := map[string]bool{}
	for i := range one {
		if !bytes.Equal(one[i], again[i]) {
			t.Fatalf("flow %d differs between two runs of one seed", i)
		}
		if bytes.Equal(one[i], other[i]) {
			t.Errorf("flow %d is the same with another seed", i)
		}
		source, dest := netip.AddrFrom4([4]byte(one[i][26:30])), netip.AddrFrom4([4]byte(one[i][30:34]))
		if !Sources.Contains(source) || dest != to.Addr() {
			t.Errorf("flow %d is from %s to %s", i, source, dest)
		}
		seen[string(one[i][26:36])] = true
	}
	if len(seen) != 64 {
		t.Errorf("64 flows have %d pairs of address and port", len(seen))
	}
}
