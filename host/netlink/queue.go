package netlink

// NetdevQueue is one queue of a device that is up. Without HasNAPI the driver does not tell which
// NAPI instance serves it.
type NetdevQueue struct {
	Ifindex int
	ID      uint32
	TX      bool
	NAPI    uint32
	HasNAPI bool
}

// Queues appends the queues of all devices to dst (NETDEV_CMD_QUEUE_GET, Linux 6.8), device by device,
// RX before TX. A device that is down lists none. It does not call drivers.
func (c *Conn) Queues(dst []NetdevQueue) ([]NetdevQueue, error) {
	start := len(dst)
	err := c.netdev.dump(c.timeout(), CmdQueueGet, nil, func() { dst = dst[:start] }, func(attrs []byte) error {
		var q NetdevQueue
		err := q.decode(attrs)
		dst = append(dst, q)
		return err
	})
	return dst, wrap(err, "netdev queue-get", "")
}

func (q *NetdevQueue) decode(attrs []byte) error {
	return walk(attrs, func(typ uint16, v []byte) error {
		switch typ {
		case aQueueID, aQueueIfindex, aQueueType, aQueueNAPIID:
		default:
			return nil
		}
		n, err := count(v)
		switch typ {
		case aQueueID:
			q.ID = n.N
		case aQueueIfindex:
			q.Ifindex = int(n.N)
		case aQueueType:
			q.TX = n.N == queueTypeTX
		case aQueueNAPIID:
			q.NAPI, q.HasNAPI = n.N, n.OK
		}
		return err
	})
}
