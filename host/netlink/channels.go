package netlink

import "golang.org/x/sys/unix"

// Channels is `ethtool -l`: queues by kind. A kind the device does not have is absent: a NIC has
// either combined channels, or RX and TX ones, or both.
type Channels struct {
	RX, TX, Other, Combined Limit
}

// Channels reads ETHTOOL_MSG_CHANNELS_GET (Linux 5.7).
func (c *Conn) Channels(ifindex int) (Channels, error) {
	var ch Channels
	err := c.ask("ethtool channels-get", unix.ETHTOOL_MSG_CHANNELS_GET, ifindex, nil, ch.decode)
	return ch, err
}

func (ch *Channels) decode(attrs []byte) error {
	return walk(attrs, func(typ uint16, v []byte) (err error) {
		switch typ {
		case unix.ETHTOOL_A_CHANNELS_RX_COUNT:
			ch.RX.Current, err = count(v)
		case unix.ETHTOOL_A_CHANNELS_RX_MAX:
			ch.RX.Max, err = count(v)
		case unix.ETHTOOL_A_CHANNELS_TX_COUNT:
			ch.TX.Current, err = count(v)
		case unix.ETHTOOL_A_CHANNELS_TX_MAX:
			ch.TX.Max, err = count(v)
		case unix.ETHTOOL_A_CHANNELS_OTHER_COUNT:
			ch.Other.Current, err = count(v)
		case unix.ETHTOOL_A_CHANNELS_OTHER_MAX:
			ch.Other.Max, err = count(v)
		case unix.ETHTOOL_A_CHANNELS_COMBINED_COUNT:
			ch.Combined.Current, err = count(v)
		case unix.ETHTOOL_A_CHANNELS_COMBINED_MAX:
			ch.Combined.Max, err = count(v)
		}
		return err
	})
}
