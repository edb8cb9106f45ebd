package netlink

import (
	"bytes"
	"errors"
	"maps"
	"net"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func have(n uint32) Count { return Count{n, true} }

// A veth has RX and TX channels and no combined ones: absent, not 0. What is set shows up.
func TestChannels(t *testing.T) {
	r := newRig(t, 8)
	for _, n := range []uint32{8, 5} {
		r.setChannels(t, n)
		ch, err := r.Channels(r.va)
		want := Channels{RX: Limit{have(n), have(8)}, TX: Limit{have(n), have(8)}}
		if err != nil || ch != want {
			t.Errorf("%+v, %v\nwant %+v", ch, err, want)
		}
	}
}

// Features are those the kernel lists, each with what it is and what was wanted.
func TestFeatures(t *testing.T) {
	r := newRig(t, 2)
	for _, on := range []bool{true, false} {
		r.setFeature(t, FeatureGRO, on)
		f, err := r.Features(r.va)
		if err != nil {
			t.Fatal(err)
		}
		if want := (Feature{Active: on, Wanted: on, HW: true}); f[FeatureGRO] != want {
			t.Errorf("%s is %+v, want %+v", FeatureGRO, f[FeatureGRO], want)
		}
		names, err := r.StringSet(r.va, StringsFeatures)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{FeatureNTuple, FeatureRXHash, FeatureGRO, FeatureGROHW, FeatureLRO} {
			if _, ok := f[name]; !ok || !slices.Contains(names, name) {
				t.Errorf("%s is not among the kernel's features %q", name, names)
			}
		}
		if got := f["lltx"]; got.HW { // no device may change how it locks
			t.Errorf("lltx is %+v", got)
		}
	}
}

// GRO on a veth gives each RX queue a NAPI instance, and each can be a thread.
func TestNAPIs(t *testing.T) {
	r := newRig(t, 4)
	need(t, r.Conn, netdevFamily, CmdNAPIGet)
	r.setFeature(t, FeatureGRO, true)
	napis := func() map[uint32]NAPI {
		t.Helper()
		all, err := r.NAPIs(nil)
		if err != nil {
			t.Fatal(err)
		}
		m := map[uint32]NAPI{}
		for _, n := range all {
			if n.Ifindex == r.va {
				m[n.ID] = n
			}
		}
		return m
	}
	before := napis()
	if len(before) != 4 {
		t.Fatalf("%d NAPI instances of va, want 4", len(before))
	}
	for _, n := range before {
		if n.HasIRQ || n.HasPID || n.ID == 0 {
			t.Errorf("%+v: a veth has no interrupt, and no thread yet", n)
		}
	}
	r.Run(t, "ip", "netns", "exec", r.Name, "sh", "-c", "echo 1 >/sys/class/net/va/threaded")
	for _, n := range napis() {
		if !n.HasPID || n.PID == 0 {
			t.Errorf("%+v: threaded without a thread", n)
		}
	}
}

// The NIC of this machine: its queues are those of sysfs, and their counters grow with what is sent.
func TestQueueStatsGrow(t *testing.T) {
	n := findNIC(t)
	c := dial(t)
	need(t, c, netdevFamily, CmdQStatsGet)
	sum := func() (packets, bytes uint64) {
		t.Helper()
		qs, err := c.QueueStats(n.ifindex, nil)
		if errors.Is(err, ErrUnsupported) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		var rx int
		for _, q := range qs {
			if q.Ifindex != n.ifindex {
				t.Errorf("%+v was not asked for", q)
			}
			if !q.TX {
				rx++
				continue
			}
			if !q.Packets.OK || !q.Bytes.OK || q.RXAllocFail.OK {
				t.Errorf("TX queue %+v", q)
			}
			packets, bytes = packets+q.Packets.N, bytes+q.Bytes.N
		}
		if dirs, err := filepath.Glob("/sys/class/net/" + n.name + "/queues/rx-*"); err != nil || len(dirs) != rx {
			t.Errorf("%d RX queues, sysfs has %d, %v", rx, len(dirs), err)
		}
		return packets, bytes
	}
	// 198.51.100.0/24 is for documentation (RFC 5737): it leaves by the default route and goes nowhere.
	// Not connected, so that an ICMP answer is no error.
	conn, err := net.ListenPacket("udp4", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	before, beforeBytes := sum()
	const packets, size = 200, 100
	for range packets {
		_, err := conn.WriteTo(make([]byte, size), &net.UDPAddr{IP: net.IPv4(198, 51, 100, 1), Port: 9})
		if err != nil {
			t.Skip("no default route:", err)
		}
	}
	// The driver counts when it hands over; what a queueing discipline holds comes a little later.
	after, afterBytes := sum()
	for try := 0; after < before+packets && try < 50; try++ {
		time.Sleep(20 * time.Millisecond)
		after, afterBytes = sum()
	}
	if after < before+packets || afterBytes < beforeBytes+packets*size {
		t.Errorf("packets %d -> %d, bytes %d -> %d after %d packets of %d bytes", before, after, beforeBytes, afterBytes, packets, size)
	}

	all, err := c.QueueStats(0, nil)
	if err != nil || !slices.ContainsFunc(all, func(q QueueStat) bool { return q.Ifindex == n.ifindex }) {
		t.Errorf("dump of all devices: %+v, %v", all, err)
	}
}

// Speed, rings, coalescing and RSS of this machine's NIC are read or unsupported, nothing else.
func TestSettingsOfNIC(t *testing.T) {
	n := findNIC(t)
	c := dial(t)
	for name, err := range map[string]error{
		"rings":    second(c.Rings(n.ifindex)),
		"channels": second(c.Channels(n.ifindex)),
		"rss":      second(c.RSS(n.ifindex, 0)),
		"contexts": second(c.RSSContexts(n.ifindex)),
		"rxrules":  second(c.RXRules(n.name)),
	} {
		if err != nil && !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
	co, err := c.Coalesce(n.ifindex)
	if err != nil && !errors.Is(err, ErrUnsupported) {
		t.Error(err)
	}
	if !slices.IsSortedFunc(co, func(a, b Param) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) }) {
		t.Errorf("not sorted: %v", co)
	}
	for _, p := range co {
		if v, ok := co.Get(p.Name); !ok || v != p.Value {
			t.Errorf("Get(%q) = %d, %v", p.Name, v, ok)
		}
	}
	if _, ok := co.Get("nothing"); ok {
		t.Error("has a parameter that does not exist")
	}
	if bps, ok, err := c.LinkSpeed(n.ifindex); err != nil || ok == (bps == 0) {
		t.Errorf("speed %d, known %v, %v", bps, ok, err)
	}
	byNetlink, err := c.RSS(n.ifindex, 0)
	byIoctl, err2 := c.rssByIoctl(n.ifindex, 0)
	if errors.Is(err, ErrUnsupported) != errors.Is(err2, ErrUnsupported) || !slices.Equal(byNetlink.Indir, byIoctl.Indir) || !bytes.Equal(byNetlink.HKey, byIoctl.HKey) {
		t.Errorf("RSS by netlink %+v, %v\nby ioctl %+v, %v", byNetlink, err, byIoctl, err2)
	}
}

// A veth's speed is a made-up 10 Gbit/s the driver reports; lo has none.
func TestLinkSpeed(t *testing.T) {
	r := newRig(t, 1)
	if bps, ok, err := r.LinkSpeed(r.va); err != nil || !ok || bps != 10_000_000_000 {
		t.Errorf("%d, %v, %v", bps, ok, err)
	}
}

// The letters are ethtool(8)'s, and a bit without a letter is not lost.
func TestHashFields(t *testing.T) {
	for bits, want := range map[uint64]string{
		0:             "",
		0x30:          "sd",
		0xf0:          "sdfn",
		0x0e:          "mvt",
		1 << 31:       "r",
		0x30 | 1<<40:  "sd?",
		0x30 | 1<<9:   "sdl",
		0xf0 | 1<<8:   "sdfne",
		1<<0 | 1<<3:   "t?",
		1<<41 | 1<<42: "?",
	} {
		if got := hashFields(bits); got != want {
			t.Errorf("%#x is %q, want %q", bits, got, want)
		}
	}
}

// An RSS answer as a NIC with a table gives it, which no device of this machine does.
func TestRSSDecode(t *testing.T) {
	var r RSS
	err := r.decode(join(
		attribute(aRSSContext, u32(2)),
		attribute(aRSSHFunc, u32(1)),
		attribute(aRSSIndir, join(u32(0), u32(1), u32(0), u32(1))),
		attribute(aRSSHKey, []byte{1, 2, 3, 4, 5}),
		attribute(aRSSInputXfrm, u32(1)),
		attribute(aRSSFlowHash|0x8000, join(attribute(6, u32(0x30)), attribute(4, u32(0xf0)), attribute(99, u32(1)))),
	))
	want := RSS{Context: 2, HFunc: have(1), InputXfrm: have(1)}
	if err != nil || r.Context != 2 || r.HFunc != want.HFunc || r.InputXfrm != want.InputXfrm ||
		!slices.Equal(r.Indir, []uint32{0, 1, 0, 1}) || !bytes.Equal(r.HKey, []byte{1, 2, 3, 4, 5}) ||
		!maps.Equal(r.FlowHash, map[FlowType]string{UDP4: "sd", TCP4: "sdfn"}) || r.HashFunction() != "toeplitz" {
		t.Errorf("%+v, %v", r, err)
	}

	rxfh := join(u32(ethtoolGRSSH), u32(0), u32(3), u32(2), []byte{2, 0, 0, 0}, u32(0), u32(5), u32(6), u32(7), []byte{8, 9})
	r = RSS{}
	if err := r.decodeRXFH(rxfh); err != nil || !slices.Equal(r.Indir, []uint32{5, 6, 7}) || !bytes.Equal(r.HKey, []byte{8, 9}) || r.HashFunction() != "xor" {
		t.Errorf("%+v, %v", r, err)
	}
	if err := r.decodeRXFH(rxfh[:len(rxfh)-1]); !errors.Is(err, errMalformed) {
		t.Errorf("cut off: %v", err)
	}
}

// A cookie is the ring, and the virtual function above it.
func TestCookieRing(t *testing.T) {
	for cookie, want := range map[uint64][2]uint32{0: {0, 0}, 7: {7, 0}, 3<<32 | 5: {5, 3}} {
		ring, vf := CookieRing(cookie)
		if ring != want[0] || uint32(vf) != want[1] {
			t.Errorf("%#x: ring %d vf %d", cookie, ring, vf)
		}
	}
}
