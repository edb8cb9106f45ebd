package netlink

import "golang.org/x/sys/unix"

// FlowType is a kind of packets whose hashed fields are set together. Its text is the word
// `ethtool -n DEV rx-flow-hash` takes.
type FlowType string

// The flow types every multi-queue driver knows.
const (
	TCP4 FlowType = "tcp4"
	UDP4 FlowType = "udp4"
	TCP6 FlowType = "tcp6"
	UDP6 FlowType = "udp6"
)

// flowTypes maps to the ioctl's *_FLOW numbers (include/uapi/linux/ethtool.h).
var flowTypes = map[FlowType]uint32{TCP4: 0x01, UDP4: 0x02, TCP6: 0x05, UDP6: 0x06}

// flowAttrs are the names of ETHTOOL_A_FLOW_* (ethtool_netlink_generated.h, Linux 6.17), by number.
var flowAttrs = [...]FlowType{
	1: "ether", "ip4", "ip6", TCP4, TCP6, UDP4, UDP6, "sctp4", "sctp6", "ah4", "ah6", "esp4", "esp6",
	"ah-esp4", "ah-esp6", "gtpu4", "gtpu6", "gtpc4", "gtpc6", "gtpc-teid4", "gtpc-teid6",
	"gtpu-eh4", "gtpu-eh6", "gtpu-ul4", "gtpu-ul6", "gtpu-dl4", "gtpu-dl6",
}

// hashLetters are ethtool(8)'s letters for RXH_* bits, in the order it prints "sdfn".
var hashLetters = [...]struct {
	bit    uint64
	letter byte
}{
	{1 << 1, 'm'}, {1 << 2, 'v'}, {1 << 3, 't'}, {1 << 4, 's'}, {1 << 5, 'd'}, {1 << 6, 'f'}, {1 << 7, 'n'},
	{1 << 8, 'e'}, {1 << 9, 'l'}, {1 << 31, 'r'},
}

// hashFields spells RXH_* bits, e.g. "sdfn": source and destination address, first and second pair of
// bytes of the layer 4 header (the ports). "" hashes nothing. Bits without a letter end it as "?".
func hashFields(bits uint64) string {
	s := make([]byte, 0, 8)
	for _, h := range hashLetters {
		if bits&h.bit != 0 {
			s = append(s, h.letter)
			bits &^= h.bit
		}
	}
	if bits != 0 {
		s = append(s, '?')
	}
	return string(s)
}

// RXFlowHash reads the hashed fields of one flow type, e.g. "sd" or "sdfn", by the ioctl
// ETHTOOL_GRXFH: the way to know them before Linux 6.17, where RSS has them for all flow types.
func (c *Conn) RXFlowHash(name string, flow FlowType) (string, error) {
	const request = "ioctl ETHTOOL_GRXFH"
	ft, ok := flowTypes[flow]
	if !ok {
		return "", &Error{Request: request, Device: name, Message: "unknown flow type " + string(flow), Err: unix.EINVAL}
	}
	var fields string
	err := c.rxnfc(name, rxnfc{cmd: unix.ETHTOOL_GRXFH, flowType: ft}, func(b []byte) {
		fields = hashFields(ne.Uint64(b[rxnfcData:]))
	})
	if err != nil {
		return "", wrap(err, request, name)
	}
	return fields, nil
}
