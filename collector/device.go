package collector

import (
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/watch"
)

var (
	deviceGroup = &group{"device"}

	deviceInfo = deviceGroup.gauge("device_info",
		"Driver and place of the device; what is unknown is empty. Always 1.",
		"device", "driver", "bus_info", "numa_node")
	deviceLowerInfo = deviceGroup.gauge("device_lower_info",
		"A device below a bond, team, bridge, VLAN or macvlan: that one has the queues. Always 1.",
		"device", "lower")
	deviceQueues = deviceGroup.gauge("device_queues",
		"Channels of the device now (ethtool -l). One that serves RX and TX is combined.",
		"device", "direction")
	deviceQueuesMax = deviceGroup.gauge("device_queues_max",
		"Channels the device can have (ethtool -l).",
		"device", "direction")
	deviceRing = deviceGroup.gauge("device_ring_entries",
		"Descriptors of each ring now (ethtool -g).",
		"device", "direction")
	deviceRingMax = deviceGroup.gauge("device_ring_entries_max",
		"Descriptors each ring can have (ethtool -g).",
		"device", "direction")
	deviceSpeed = deviceGroup.gauge("device_speed_bytes",
		"Link speed in bytes per second. Absent if unknown.",
		"device")
	deviceMissed = deviceGroup.counter("device_receive_missed_total",
		"Packets the device dropped because no ring buffer was free (rx_missed_errors).",
		"device")
	devicesIgnored = deviceGroup.gauge("devices_ignored",
		"Network devices that are not reported. --device.include, --device.exclude and --device.limit decide.",
		"reason")
)

var deviceCollector = collector{
	group:   deviceGroup,
	sources: []host.Source{host.SourceSysfs, host.SourceNetlink},
	emit:    emitDevice,
}

func emitDevice(st *watch.State, s *sink) {
	for i := range st.Inventory.Devices {
		d := &st.Inventory.Devices[i]
		s.add(deviceInfo, 1, d.Name, d.Driver, d.BusInfo, decimal(d.Node))
		if d.Stacked {
			for _, lower := range d.Lower {
				s.add(deviceLowerInfo, 1, d.Name, lower)
			}
			continue
		}
		emitPair(s, deviceQueues, deviceQueuesMax, d.Name, host.RX, d.Channels.RX)
		emitPair(s, deviceQueues, deviceQueuesMax, d.Name, host.TX, d.Channels.TX)
		emitPair(s, deviceQueues, deviceQueuesMax, d.Name, host.Combined, d.Channels.Combined)
		emitPair(s, deviceRing, deviceRingMax, d.Name, host.RX, d.Rings.RX)
		emitPair(s, deviceRing, deviceRingMax, d.Name, host.TX, d.Rings.TX)
		s.count(deviceSpeed, d.SpeedBytes, d.Name)
		s.count(deviceMissed, st.Sample.Devices[d.ID].RXMissed, d.Name)
	}
	ignored := &st.Inventory.Ignored
	s.add(devicesIgnored, float64(ignored.SingleQueueVirtual), "single-queue-virtual")
	s.add(devicesIgnored, float64(ignored.Excluded), "excluded")
	s.add(devicesIgnored, float64(ignored.OverLimit), "over-limit")
}

func emitPair(s *sink, current, most *family, device string, direction host.Direction, p host.Pair) {
	s.count(current, p.Current, device, direction.String())
	s.count(most, p.Max, device, direction.String())
}
