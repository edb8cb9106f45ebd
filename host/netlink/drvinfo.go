package netlink

import "golang.org/x/sys/unix"

// DriverInfo is `ethtool -i`.
type DriverInfo struct {
	Driver, Version, Firmware, BusInfo string
	NStats                             int // number of private statistics (`ethtool -S`)
}

const drvinfoSize = 196 // struct ethtool_drvinfo

// DriverInfo asks by ETHTOOL_GDRVINFO. A device with neither a parent device nor ethtool operations
// for it (lo) is EOPNOTSUPP.
func (c *Conn) DriverInfo(name string) (DriverInfo, error) {
	var d DriverInfo
	err := c.ioctl.do(c.timeout(), name, func() error {
		b, err := c.ioctl.zeroed(drvinfoSize)
		if err != nil {
			return err
		}
		ne.PutUint32(b, unix.ETHTOOL_GDRVINFO)
		if err := c.ioctl.call(); err != nil {
			return err
		}
		d.decode(b)
		return nil
	})
	return d, wrap(err, "ioctl ETHTOOL_GDRVINFO", name)
}

func (d *DriverInfo) decode(b []byte) {
	d.Driver, d.Version = text(b[4:36]), text(b[36:68])
	d.Firmware, d.BusInfo = text(b[68:100]), text(b[100:132])
	d.NStats = int(ne.Uint32(b[180:]))
}
