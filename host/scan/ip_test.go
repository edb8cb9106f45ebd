package scan_test

import (
	"testing"

	"github.com/netsteer/netsteer/host"
)

// Own packets and forwarded ones are told apart on kernels that count the
// forwarded among OutRequests, and on those that do not.
func TestOwnAndForwardedPackets(t *testing.T) {
	for _, c := range []struct {
		name, snmp, snmp6 string
		out, forwarded    host.Count
	}{
		{"since 6.7", "Ip: Forwarding ForwDatagrams OutRequests OutTransmits\nIp: 1 10000 11 10011\n", "Ip6OutRequests 3\nIp6OutForwDatagrams 20\nIp6OutTransmits 23\n", host.Known(14), host.Known(10020)},
		{"before", "Ip: Forwarding ForwDatagrams OutRequests\nIp: 1 10000 10006\n", "Ip6OutRequests 23\nIp6OutForwDatagrams 20\n", host.Known(9), host.Known(10020)},
		{"without IPv6", "Ip: Forwarding ForwDatagrams OutRequests OutTransmits\nIp: 1 2 3 5\nTcp: RtoAlgorithm\nTcp: 1\n", "", host.Known(3), host.Known(2)},
		{"unreadable", "Ip: Forwarding\nIp: 1\n", "", host.Count{}, host.Count{}},
	} {
		m := base()
		m.interrupts()
		m["proc/net/snmp"] = c.snmp
		if c.snmp6 != "" {
			m["proc/net/snmp6"] = c.snmp6
		}
		_, s, _, _ := read(t, m)
		if s.IPOut != c.out || s.IPForwarded != c.forwarded {
			t.Errorf("%s: own %+v, forwarded %+v; want %+v, %+v", c.name, s.IPOut, s.IPForwarded, c.out, c.forwarded)
		}
	}
}
