package nic_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/netsteer/netsteer/internal/testenv"
	"github.com/netsteer/netsteer/lab/nic"
)

// What the ioctls set up is what ip(8) shows.
func TestSetUpIsSeenByIP(t *testing.T) {
	ns := testenv.Netns(t)
	ns.Run(t, "ip", "link", "add", "a0", "type", "veth", "peer", "name", "a1")
	ns.Run(t, "ip", "link", "set", "a1", "up")
	ns.Do(t, func() {
		for what, err := range map[string]error{
			"address": nic.Address("a0", netip.MustParsePrefix("10.77.3.1/24")),
			"up":      nic.Up("a0"),
		} {
			if err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		if err := nic.Neighbour("a0", netip.MustParseAddr("10.77.3.254"), [6]byte{0x52, 0x54, 0, 1, 2, 0xfe}); err != nil {
			t.Error(err)
		}
		if err := nic.Route(netip.MustParsePrefix("198.19.0.0/16"), netip.MustParseAddr("10.77.3.254")); err != nil {
			t.Error(err)
		}
	})
	for command, want := range map[string]string{
		"ip -4 addr show dev a0":   "inet 10.77.3.1/24",
		"ip link show dev a0":      "UP",
		"ip route show":            "198.19.0.0/16 via 10.77.3.254 dev a0",
		"ip neighbour show dev a0": "10.77.3.254 lladdr 52:54:00:01:02:fe PERMANENT",
	} {
		args := strings.Fields(command)
		if got := ns.Run(t, args[0], args[1:]...); !strings.Contains(got, want) {
			t.Errorf("%s: no %q in\n%s", command, want, got)
		}
	}
}

// Channels are set on a device that has them, and what is refused says of
// which device.
func TestCombined(t *testing.T) {
	ns := testenv.Netns(t)
	ns.Run(t, "ip", "link", "add", "b0", "type", "veth", "peer", "name", "b1")
	ns.Do(t, func() {
		if err := nic.Combined("none", 4); err == nil || !strings.Contains(err.Error(), "none") {
			t.Errorf("channels of a device that is not there: %v", err)
		}
		// A veth has rx and tx channels and no combined ones.
		if err := nic.Combined("b0", 0); err != nil {
			t.Errorf("the present count is not left alone: %v", err)
		}
		if err := nic.Combined("b0", 4); err == nil || !strings.Contains(err.Error(), "b0") {
			t.Errorf("4 combined channels of a veth: %v", err)
		}
	})
}

// A device that is down takes a name, one that is too long is refused here: the
// kernel would cut it.
func TestRename(t *testing.T) {
	ns := testenv.Netns(t)
	ns.Run(t, "ip", "link", "add", "c0", "type", "veth", "peer", "name", "c1")
	ns.Do(t, func() {
		if err := nic.Rename("c0", "enp9s0f0np0lan"); err != nil {
			t.Error(err)
		}
		if err := nic.Rename("c1", "enp9s0f0np0lan0x"); err == nil || !strings.Contains(err.Error(), "15 bytes") {
			t.Errorf("a name of 16 bytes: %v", err)
		}
		if err := nic.Rename("none", "c2"); err == nil || !strings.Contains(err.Error(), "none") {
			t.Errorf("a device that is not there: %v", err)
		}
	})
	if links := ns.Run(t, "ip", "link"); !strings.Contains(links, "enp9s0f0np0lan@") {
		t.Errorf("no device of the new name in\n%s", links)
	}
}
