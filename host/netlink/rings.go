package netlink

import "golang.org/x/sys/unix"

// Rings is `ethtool -g`: descriptors per ring, and bytes for RXBufLen and CQESize.
type Rings struct {
	RX, RXMini, RXJumbo, TX Limit
	RXBufLen, CQESize       Count
}

// Rings reads ETHTOOL_MSG_RINGS_GET (Linux 5.7; rx-buf-len 5.16, cqe-size 5.18).
func (c *Conn) Rings(ifindex int) (Rings, error) {
	var r Rings
	err := c.ask("ethtool rings-get", unix.ETHTOOL_MSG_RINGS_GET, ifindex, nil, r.decode)
	return r, err
}

func (r *Rings) decode(attrs []byte) error {
	return walk(attrs, func(typ uint16, v []byte) (err error) {
		switch typ {
		case unix.ETHTOOL_A_RINGS_RX:
			r.RX.Current, err = count(v)
		case unix.ETHTOOL_A_RINGS_RX_MAX:
			r.RX.Max, err = count(v)
		case unix.ETHTOOL_A_RINGS_RX_MINI:
			r.RXMini.Current, err = count(v)
		case unix.ETHTOOL_A_RINGS_RX_MINI_MAX:
			r.RXMini.Max, err = count(v)
		case unix.ETHTOOL_A_RINGS_RX_JUMBO:
			r.RXJumbo.Current, err = count(v)
		case unix.ETHTOOL_A_RINGS_RX_JUMBO_MAX:
			r.RXJumbo.Max, err = count(v)
		case unix.ETHTOOL_A_RINGS_TX:
			r.TX.Current, err = count(v)
		case unix.ETHTOOL_A_RINGS_TX_MAX:
			r.TX.Max, err = count(v)
		case unix.ETHTOOL_A_RINGS_RX_BUF_LEN:
			r.RXBufLen, err = count(v)
		case unix.ETHTOOL_A_RINGS_CQE_SIZE:
			r.CQESize, err = count(v)
		}
		return err
	})
}
