package scan

import (
	"strconv"

	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/driver"
	"github.com/netsteer/netsteer/host/procfile"
)

// deviceCounters reads one device's own counters: per queue from netdev-genl
// qstats where the driver has them, else from ethtool -S by the driver's table.
type deviceCounters struct {
	device *host.Device
	dir    string // statistics/
	nics   NICs   // nil: not asked for this device
	thread Threads
	entry  *driver.Entry
	reader reader

	qstats  source // whether the driver has qstats of packets
	ethtool source
	stats   StatsReader
	names   *string // first name of the list that slots was made from
	slots   []slot  // by index of ethtool -S
	sums    []host.QueueCounters
	buf     []QueueStat
}

// source is whether something exists: not known before it was asked.
type source uint8

const (
	untried source = iota
	present
	absent
)

// slot says which queue's which counter a statistic is; queue -1: none.
type slot struct {
	queue  int // place among the device's queues
	counts driver.Counter
}

func newDeviceCounters(m Machine, d *host.Device) deviceCounters {
	dc := deviceCounters{
		device: d, dir: resolve(m.Tree, netDir, d.Name) + "/statistics/",
		thread: m.Threads, entry: driver.Lookup(d.Driver),
		reader: reader{tree: m.Tree, notes: &notes{}},
	}
	if !d.NetlinkExcluded {
		dc.nics = m.NICs
	}
	return dc
}

// Device reads one device's counters: its own into dst, its queues' into queues,
// RX first, then TX, as in the Inventory. It may take RTNL and be slow. Where a
// driver counts per device only, QueuesTime stays zero.
func (c *Counters) Device(id int, dst *host.DeviceCounters, queues []host.QueueCounters) []host.Degraded {
	dc := &c.devices[id]
	n := &notes{}
	dc.reader.notes = n
	*dst = host.DeviceCounters{}
	clear(queues)
	dst.RXMissed = dc.reader.count(dc.dir + "rx_missed_errors")
	dst.RXPackets = dc.reader.count(dc.dir + "rx_packets")
	dst.TXPackets = dc.reader.count(dc.dir + "tx_packets")
	if !dst.RXPackets.OK {
		_, err := dc.reader.bytes(dc.dir + "rx_packets")
		n.add(host.SourceSysfs, dc.device.Name, err)
	}
	if dc.device.Stacked || len(dc.device.RX)+len(dc.device.TX) == 0 {
		return n.sorted()
	}
	dc.threads(queues, n)
	switch {
	case dc.nics == nil:
		n.say(host.SourceStats, dc.device.Name, host.ReasonMissing, "counters of queues need netlink or ioctl")
		return n.sorted()
	case dc.readQstats(queues, n):
		dst.QueuesTime = c.now()
	}
	if dc.readEthtool(queues, n) {
		dst.QueuesTime = c.now()
	}
	if dst.QueuesTime.IsZero() && dc.qstats == absent && dc.ethtool == absent {
		n.say(host.SourceStats, dc.device.Name, host.ReasonNoCounters, "driver "+strconv.Quote(dc.device.Driver)+" counts per device only")
	}
	return n.sorted()
}

func (dc *deviceCounters) threads(queues []host.QueueCounters, n *notes) {
	if dc.thread == nil || !dc.device.ThreadedNAPI {
		return
	}
	for i := range dc.device.RX {
		q := &dc.device.RX[i]
		if !q.Thread.OK {
			continue
		}
		ticks, _, err := dc.thread.Thread(int(q.Thread.N))
		if err != nil {
			n.add(host.SourceThreads, dc.device.Name, err)
			continue
		}
		queues[i].ThreadTicks = host.Known(ticks)
	}
}

// readQstats reads netdev-genl qstats. It is true if they count packets.
func (dc *deviceCounters) readQstats(queues []host.QueueCounters, n *notes) bool {
	if dc.qstats == absent {
		return false
	}
	stats, err := dc.nics.QueueStats(dc.buf[:0], dc.device.Name)
	dc.buf = stats
	if err != nil {
		if unsupported(err) || reasonOf(err) == host.ReasonMissing {
			dc.qstats = absent
			return false
		}
		n.add(host.SourceStats, dc.device.Name, err)
		return false
	}
	counted := false
	for i := range stats {
		s := &stats[i]
		at := dc.at(s.Direction, s.Index)
		if at < 0 {
			continue // a queue that came after the Inventory
		}
		to := &queues[at]
		to.Packets, to.Bytes, to.Drops = s.Packets, s.Bytes, s.Drops
		counted = counted || s.Packets.OK
	}
	dc.qstats = absent
	if counted {
		dc.qstats = present
	}
	return counted
}

// readEthtool reads ethtool -S: all of it where there are no qstats, else what
// these leave out (virtio_net's drops). It is true if it counts packets.
func (dc *deviceCounters) readEthtool(queues []host.QueueCounters, n *notes) bool {
	if dc.ethtool == absent || dc.entry == nil {
		dc.ethtool = absent
		return false
	}
	if dc.stats == nil {
		dc.stats = dc.nics.Stats(dc.device.Name)
	}
	names, values, err := dc.stats.Read()
	if err != nil {
		if unsupported(err) {
			dc.ethtool = absent
			return false
		}
		n.add(host.SourceStats, dc.device.Name, err)
		return false
	}
	if len(names) == 0 || len(values) < len(names) {
		dc.ethtool = absent
		return false
	}
	if dc.names != &names[0] || len(dc.slots) != len(names) {
		dc.names, dc.slots = &names[0], dc.place(names, values)
	}
	dc.sums = sized(dc.sums, len(queues))
	counted, any := false, false
	for i, s := range dc.slots {
		if s.queue < 0 {
			continue
		}
		any = true
		// Some drivers count unicast, multicast and broadcast apart.
		to := &dc.sums[s.queue]
		switch s.counts {
		case driver.Packets:
			counted = true
			add(&to.Packets, host.Known(values[i]))
		case driver.Bytes:
			add(&to.Bytes, host.Known(values[i]))
		case driver.Drops:
			add(&to.Drops, host.Known(values[i]))
		}
	}
	for i := range queues {
		to, from := &queues[i], &dc.sums[i]
		set(&to.Packets, from.Packets)
		set(&to.Bytes, from.Bytes)
		set(&to.Drops, from.Drops)
	}
	dc.ethtool = present
	if !any {
		dc.ethtool = absent
	}
	return counted
}

// set fills what qstats left out; it never adds two sources up.
func set(to *host.Count, from host.Count) {
	if !to.OK {
		*to = from
	}
}

// place finds the queue and counter of each statistic name, once per list.
func (dc *deviceCounters) place(names []string, values []uint64) []slot {
	slots := make([]slot, len(names))
	for i, s := range dc.entry.Place(names, values) {
		slots[i].queue = -1
		if s.Queue < 0 {
			continue
		}
		dir := host.RX
		if s.Direction == driver.TX {
			dir = host.TX
		}
		at := dc.at(dir, s.Queue)
		if at >= 0 && s.ClassZero && dir == host.TX && dc.device.TX[at-len(dc.device.RX)].TrafficClass > 0 {
			continue
		}
		slots[i] = slot{queue: at, counts: s.Counts}
	}
	return slots
}

// at returns the place of a queue among the device's, RX first, or -1.
func (dc *deviceCounters) at(dir host.Direction, index int) int {
	list, before := dc.device.RX, 0
	if dir == host.TX {
		list, before = dc.device.TX, len(dc.device.RX)
	}
	// sysfs numbers queues without gaps; a capture may miss some.
	if index >= 0 && index < len(list) && list[index].Index == index {
		return before + index
	}
	for i := range list {
		if list[i].Index == index {
			return before + i
		}
	}
	return -1
}

// perCPUCount reads /sys/kernel/irq/N/per_cpu_count: all possible CPUs in order
// of their ids (kernel/irq/irqdesc.c, Linux 7.2).
func perCPUCount(r *reader, irq int, dst []uint32) ([]uint32, error) {
	name := "sys/kernel/irq/" + strconv.Itoa(irq) + "/per_cpu_count"
	b, err := r.bytes(name)
	if err != nil {
		return nil, err
	}
	counts, err := procfile.ParsePerCPUCount(dst[:0], b)
	return counts, within(name, err)
}
