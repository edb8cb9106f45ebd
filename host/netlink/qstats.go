package netlink

import "github.com/mdlayher/netlink"

// QueueStat are the counters of one queue. A driver reports only some; they restart when the device
// is reconfigured, and need not add up to the device's totals.
type QueueStat struct {
	Ifindex        int
	ID             uint32
	TX             bool
	Packets, Bytes Counter

	// RX only.
	RXAllocFail        Counter // no memory for a packet or a descriptor
	RXHWDrops          Counter // by the device, all reasons that follow included
	RXHWDropOverruns   Counter // no descriptor or buffer
	RXHWDropRatelimits Counter

	// TX only.
	TXHWDrops          Counter
	TXHWDropErrors     Counter
	TXHWDropRatelimits Counter
	TXStop, TXWake     Counter // the driver stopped the queue (no room), woke it
}

// QueueStats appends per-queue counters to dst (NETDEV_CMD_QSTATS_GET with scope queue, Linux 6.9) of
// one device, or of all when ifindex is 0. A device whose driver has none is EOPNOTSUPP when asked
// for, and left out when all are. It takes RTNL or the device's lock and calls the driver.
func (c *Conn) QueueStats(ifindex int, dst []QueueStat) ([]QueueStat, error) {
	const request = "netdev qstats-get"
	start := len(dst)
	ae := netlink.NewAttributeEncoder()
	ae.Uint32(aQStatsScope, qstatsScopeQueue)
	if ifindex != 0 {
		ae.Uint32(aQStatsIfindex, uint32(ifindex))
	}
	attrs, err := ae.Encode()
	if err == nil {
		err = c.netdev.dump(c.timeout(), CmdQStatsGet, attrs, func() { dst = dst[:start] }, func(attrs []byte) error {
			var q QueueStat
			err := q.decode(attrs)
			dst = append(dst, q)
			return err
		})
	}
	return dst, wrap(err, request, ifindexName(ifindex))
}

func (q *QueueStat) decode(attrs []byte) error {
	return walk(attrs, func(typ uint16, v []byte) (err error) {
		var c Count
		switch typ {
		case aQStatsIfindex:
			c, err = count(v)
			q.Ifindex = int(c.N)
		case aQStatsQueueID:
			c, err = count(v)
			q.ID = c.N
		case aQStatsQueueType:
			c, err = count(v)
			q.TX = c.N == queueTypeTX
		case aQStatsRXPackets, aQStatsTXPackets:
			q.Packets, err = counter(v)
		case aQStatsRXBytes, aQStatsTXBytes:
			q.Bytes, err = counter(v)
		case aQStatsRXAllocFail:
			q.RXAllocFail, err = counter(v)
		case aQStatsRXHWDrops:
			q.RXHWDrops, err = counter(v)
		case aQStatsRXHWDropOverruns:
			q.RXHWDropOverruns, err = counter(v)
		case aQStatsRXHWDropRatelimits:
			q.RXHWDropRatelimits, err = counter(v)
		case aQStatsTXHWDrops:
			q.TXHWDrops, err = counter(v)
		case aQStatsTXHWDropErrors:
			q.TXHWDropErrors, err = counter(v)
		case aQStatsTXHWDropRatelimits:
			q.TXHWDropRatelimits, err = counter(v)
		case aQStatsTXStop:
			q.TXStop, err = counter(v)
		case aQStatsTXWake:
			q.TXWake, err = counter(v)
		}
		return err
	})
}
