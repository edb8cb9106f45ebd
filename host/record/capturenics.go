package record

import (
	"errors"

	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/scan"
)

var _ scan.NICs = (*notedNICs)(nil)

// notedNICs notes every question put to netlink and ioctl with its answer.
type notedNICs struct {
	inner scan.NICs
	book  *notebook
}

func (n *notedNICs) device(name string) *NetlinkDevice {
	d := n.book.asked[name]
	if d == nil {
		d = &NetlinkDevice{Device: name}
		n.book.asked[name] = d
	}
	return d
}

// failed notes the error of a question, and says whether there is one.
func (d *NetlinkDevice) failed(question string, err error) bool {
	if err == nil {
		return false
	}
	if d.Errors == nil {
		d.Errors = map[string]string{}
	}
	d.Errors[question] = errorText(err)
	return true
}

func (n *notedNICs) DriverInfo(device string) (scan.DriverInfo, error) {
	i, err := n.inner.DriverInfo(device)
	if d := n.device(device); !d.failed(askDriver, err) {
		d.DriverInfo = &NetlinkDriver{Driver: i.Driver, Version: i.Version, Firmware: i.Firmware, BusInfo: i.BusInfo}
	}
	return i, err
}

func (n *notedNICs) Channels(device string) (host.Channels, error) {
	c, err := n.inner.Channels(device)
	if d := n.device(device); !d.failed(askChannels, err) {
		d.Channels = &NetlinkChannels{RX: pairOf(c.RX), TX: pairOf(c.TX), Other: pairOf(c.Other), Combined: pairOf(c.Combined)}
	}
	return c, err
}

func (n *notedNICs) Rings(device string) (host.Rings, error) {
	r, err := n.inner.Rings(device)
	if d := n.device(device); !d.failed(askRings, err) {
		d.Rings = &NetlinkRings{RX: pairOf(r.RX), TX: pairOf(r.TX)}
	}
	return r, err
}

func (n *notedNICs) Coalesce(device string) ([]host.Option, error) {
	list, err := n.inner.Coalesce(device)
	if d := n.device(device); !d.failed(askCoalesce, err) {
		d.Coalesce = optionsOf(list)
	}
	return list, err
}

func (n *notedNICs) Features(device string) ([]host.Option, error) {
	list, err := n.inner.Features(device)
	if d := n.device(device); !d.failed(askFeatures, err) {
		d.Features = optionsOf(list)
	}
	return list, err
}

func (n *notedNICs) RSS(device string) (host.RSS, error) {
	r, err := n.inner.RSS(device)
	if d := n.device(device); !d.failed(askRSS, err) {
		d.RSS = &NetlinkRSS{
			Table: r.Table, Contexts: r.Contexts, Hash: r.Hash,
			HashFields: optionsOf(r.Fields), RuleQueues: r.RuleQueues, Rules: numberOf(r.Rules),
		}
	}
	return r, err
}

func (n *notedNICs) Speed(device string) (host.Count, error) {
	speed, err := n.inner.Speed(device)
	if d := n.device(device); !d.failed(askSpeed, err) {
		if d.SpeedBytes = numberOf(speed); !speed.OK {
			d.failed(askSpeed, errors.ErrUnsupported) // a virtual device, or no link
		}
	}
	return speed, err
}

func (n *notedNICs) Netdev() (scan.Netdev, error) {
	all, err := n.inner.Netdev()
	if err == nil {
		n.book.netdev = netdevOf(all, n.book.only, n.book.asked)
	}
	return all, err
}

func (n *notedNICs) QueueStats(dst []scan.QueueStat, device string) ([]scan.QueueStat, error) {
	before := len(dst)
	dst, err := n.inner.QueueStats(dst, device)
	if d := n.device(device); !d.failed(askQueues, err) {
		d.QueueStats = []NetlinkQstat{}
		for _, q := range dst[before:] {
			d.QueueStats = append(d.QueueStats, NetlinkQstat{
				Direction: q.Direction.String(), Queue: q.Index,
				Packets: numberOf(q.Packets), Bytes: numberOf(q.Bytes), Drops: numberOf(q.Drops),
			})
		}
	}
	return dst, err
}

func (n *notedNICs) Same(device string, ifindex, iflink int) bool {
	same := n.inner.Same(device, ifindex, iflink)
	d := n.device(device)
	d.Ifindex = ifindex
	if !same {
		d.failed(askSame, errors.New("another network namespace"))
	}
	return same
}

func (n *notedNICs) Stats(device string) scan.StatsReader {
	return notedStats{n.inner.Stats(device), n, device}
}

type notedStats struct {
	inner  scan.StatsReader
	nics   *notedNICs
	device string
}

func (s notedStats) Read() ([]string, []uint64, error) {
	names, values, err := s.inner.Read()
	if d := s.nics.device(s.device); !d.failed(askStats, err) {
		d.Stats = make([]NetlinkStat, len(names))
		for i, name := range names {
			d.Stats[i] = NetlinkStat{name, values[i]}
		}
	}
	return names, values, err
}

func netdevOf(all scan.Netdev, only []string, asked map[string]*NetlinkDevice) *NetlinkNetdev {
	wanted := func(ifindex int) bool { return true }
	if len(only) > 0 {
		ids := map[int]bool{}
		for _, d := range asked {
			ids[d.Ifindex] = true
		}
		wanted = func(ifindex int) bool { return ids[ifindex] }
	}
	doc := &NetlinkNetdev{Queues: []NetlinkQueue{}, NAPIs: []NetlinkNAPI{}}
	for _, q := range all.Queues {
		if wanted(q.Ifindex) {
			doc.Queues = append(doc.Queues, NetlinkQueue{Ifindex: q.Ifindex, Direction: q.Direction.String(), Queue: q.Index, NAPI: numberOf(q.NAPI)})
		}
	}
	for _, p := range all.NAPIs {
		if wanted(p.Ifindex) {
			doc.NAPIs = append(doc.NAPIs, NetlinkNAPI{Ifindex: p.Ifindex, ID: p.ID, IRQ: numberOf(p.IRQ), Thread: numberOf(p.Thread), Deferred: p.Deferred})
		}
	}
	return doc
}

func pairOf(p host.Pair) *NetlinkPair {
	if !p.Current.OK && !p.Max.OK {
		return nil
	}
	return &NetlinkPair{Current: numberOf(p.Current), Max: numberOf(p.Max)}
}

func numberOf(c host.Count) *uint64 {
	if !c.OK {
		return nil
	}
	return new(c.N)
}

// optionsOf is never nil: no options is an answer.
func optionsOf(list []host.Option) map[string]string {
	m := make(map[string]string, len(list))
	for _, o := range list {
		m[o.Name] = o.Value
	}
	return m
}
