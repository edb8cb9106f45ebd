package netlink

// NAPI is one NAPI instance of a device that is up. What the kernel or the driver does not tell is
// absent.
type NAPI struct {
	Ifindex           int
	ID                uint32
	IRQ               uint32
	HasIRQ            bool
	PID               uint32  // of the kernel thread that polls it
	HasPID            bool    // true: threaded
	DeferHardIRQs     Count   // Linux 6.13
	GROFlushTimeout   Counter // ns, 6.13
	IRQSuspendTimeout Counter // ns, 6.13
	Threaded          Count   // 0 off, else polled by a thread (enum netdev_napi_threaded); 6.17
}

// NAPIs appends the NAPI instances of all devices to dst (NETDEV_CMD_NAPI_GET, Linux 6.8), device by
// device. It does not call drivers.
func (c *Conn) NAPIs(dst []NAPI) ([]NAPI, error) {
	start := len(dst)
	err := c.netdev.dump(c.timeout(), CmdNAPIGet, nil, func() { dst = dst[:start] }, func(attrs []byte) error {
		var n NAPI
		err := n.decode(attrs)
		dst = append(dst, n)
		return err
	})
	return dst, wrap(err, "netdev napi-get", "")
}

func (n *NAPI) decode(attrs []byte) error {
	return walk(attrs, func(typ uint16, v []byte) (err error) {
		var c Count
		switch typ {
		case aNAPIIfindex:
			c, err = count(v)
			n.Ifindex = int(c.N)
		case aNAPIID:
			c, err = count(v)
			n.ID = c.N
		case aNAPIIRQ:
			c, err = count(v)
			n.IRQ, n.HasIRQ = c.N, c.OK
		case aNAPIPID:
			c, err = count(v)
			n.PID, n.HasPID = c.N, c.OK
		case aNAPIDeferHardIRQs:
			n.DeferHardIRQs, err = count(v)
		case aNAPIGROFlushTimeout:
			n.GROFlushTimeout, err = counter(v)
		case aNAPIIRQSuspendTimeout:
			n.IRQSuspendTimeout, err = counter(v)
		case aNAPIThreaded:
			n.Threaded, err = count(v)
		}
		return err
	})
}
