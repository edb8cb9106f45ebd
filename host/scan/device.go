package scan

import (
	"path"
	"strconv"
	"strings"

	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/driver"
)

const iffUp = 1 // IFF_UP, include/uapi/linux/if.h

// addDevice reads one device's settings and puts it, its queues and its vectors
// into the Inventory.
func (s *Scanner) addDevice(r *reader, inv *host.Inventory, all []netdev, n *netdev, rows *rowTable, nd Netdev) {
	d := host.Device{
		ID: len(inv.Devices), Name: n.name, Ifindex: n.ifindex, Node: -1,
		Physical: n.physical, Stacked: n.stacked, Lower: n.lower,
		NetlinkExcluded: !n.netlink,
	}
	if flags, err := strconv.ParseUint(strings.TrimPrefix(r.text(n.dir+"/flags"), "0x"), 16, 64); err == nil {
		d.Up = flags&iffUp != 0
	}
	if at := upward(r, n.parent, "numa_node"); at != "" {
		d.Node = r.id(at + "/numa_node")
	}
	d.Driver = parentDriver(r, n.parent)
	s.netlinkSettings(r, &d, n)
	entry := driver.Lookup(d.Driver)
	if entry != nil {
		d.IgnoresXPS, d.RewritesXPS = entry.IgnoresXPS, entry.RewritesXPS
	} else if n.physical && !n.stacked {
		r.notes.say(host.SourceDriver, d.Name, host.ReasonUnknownDriver, "driver "+strconv.Quote(d.Driver)+" is not in netsteer's table")
	}
	d.ThreadedNAPI = r.count(n.dir+"/threaded").N > 0
	d.DeferHardIRQs = r.count(n.dir+"/napi_defer_hard_irqs").N > 0 || r.count(n.dir+"/gro_flush_timeout").N > 0

	first := len(inv.Queues)
	if !n.stacked {
		s.addQueues(r, inv, &d, n, nd)
	}
	queues := inv.Queues[first:]
	for i := range queues {
		if queues[i].Thread.OK {
			d.ThreadedNAPI = true
		}
	}
	if n.physical {
		addVectors(r, inv, &d, all, n, entry, queues, rows, nd)
	}
	inv.Devices = append(inv.Devices, d)
}

// parentDriver is the driver's name by sysfs: of the device itself or, for a
// function with a bus of its own below it, never of the one above.
func parentDriver(r *reader, parent string) string {
	if parent == "" {
		return ""
	}
	if at := resolve(r.tree, parent, "driver"); at != parent+"/driver" {
		return path.Base(at)
	}
	return ""
}

// netlinkSettings asks netlink and ioctl, one RTNL-taking question at a time.
// What a driver does not have is no fault; what could not be asked is said.
func (s *Scanner) netlinkSettings(r *reader, d *host.Device, n *netdev) {
	nics := s.machine.NICs
	switch {
	case s.options.NetlinkOff:
		r.notes.say(host.SourceNetlink, "", host.ReasonDisabled, "--no-source.netlink")
		return
	case nics == nil:
		r.notes.say(host.SourceNetlink, "", host.ReasonMissing, "no netlink answers in this recording")
		return
	case !n.netlink:
		r.notes.say(host.SourceNetlink, d.Name, host.ReasonOtherNamespace, "netlink answers for another network namespace")
		return
	}
	note := func(source host.Source, err error) {
		if err != nil && !unsupported(err) {
			r.notes.add(source, d.Name, err)
		}
	}
	info, err := nics.DriverInfo(d.Name)
	note(host.SourceNetlink, err)
	if info.Driver != "" {
		d.Driver, d.BusInfo = info.Driver, info.BusInfo
	}
	if d.Stacked {
		return
	}
	d.Channels, err = nics.Channels(d.Name)
	note(host.SourceNetlink, err)
	d.Rings, err = nics.Rings(d.Name)
	note(host.SourceNetlink, err)
	d.Coalesce, err = nics.Coalesce(d.Name)
	note(host.SourceNetlink, err)
	d.Features, err = nics.Features(d.Name)
	note(host.SourceNetlink, err)
	d.SpeedBytes, err = nics.Speed(d.Name)
	note(host.SourceNetlink, err)
	d.RSS, err = nics.RSS(d.Name)
	note(host.SourceRSS, err)
}
