package record

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/scan"
)

var _ scan.NICs = (*nics)(nil)

// nics answers from what was recorded. Settings and counters have sources of
// their own: a second sample has the first one's settings.
type nics struct{ settings, counters source }

// The keys of the questions in netlink.json.
const (
	askDriver   = "driver_info"
	askChannels = "channels"
	askRings    = "rings"
	askCoalesce = "coalesce"
	askFeatures = "features"
	askRSS      = "rss"
	askSpeed    = "speed_bytes"
	askStats    = "stats"
	askQueues   = "queue_stats"
	askSame     = "namespace"
)

func (n *nics) DriverInfo(device string) (scan.DriverInfo, error) {
	if d := n.settings.doc.device(device); d != nil && d.DriverInfo != nil {
		i := d.DriverInfo
		return scan.DriverInfo{Driver: i.Driver, Version: i.Version, Firmware: i.Firmware, BusInfo: i.BusInfo}, nil
	}
	return ask(n.settings, device, askDriver, "-i", parseDriverInfo)
}

func (n *nics) Channels(device string) (host.Channels, error) {
	if d := n.settings.doc.device(device); d != nil && d.Channels != nil {
		c := d.Channels
		return host.Channels{RX: c.RX.host(), TX: c.TX.host(), Other: c.Other.host(), Combined: c.Combined.host()}, nil
	}
	return ask(n.settings, device, askChannels, "-l", parseChannels)
}

func (n *nics) Rings(device string) (host.Rings, error) {
	if d := n.settings.doc.device(device); d != nil && d.Rings != nil {
		return host.Rings{RX: d.Rings.RX.host(), TX: d.Rings.TX.host()}, nil
	}
	return ask(n.settings, device, askRings, "-g", parseRings)
}

func (n *nics) Coalesce(device string) ([]host.Option, error) {
	if d := n.settings.doc.device(device); d != nil && d.Coalesce != nil {
		return options(d.Coalesce), nil
	}
	return ask(n.settings, device, askCoalesce, "-c", parseCoalesce)
}

func (n *nics) Features(device string) ([]host.Option, error) {
	if d := n.settings.doc.device(device); d != nil && d.Features != nil {
		return options(d.Features), nil
	}
	return ask(n.settings, device, askFeatures, "-k", parseFeatures)
}

func (n *nics) RSS(device string) (host.RSS, error) {
	if d := n.settings.doc.device(device); d != nil && d.RSS != nil {
		return d.RSS.host(), nil
	}
	return n.settings.rss(device)
}

func (n *nics) Speed(device string) (host.Count, error) {
	if d := n.settings.doc.device(device); d != nil && d.SpeedBytes != nil {
		return count(d.SpeedBytes), nil
	}
	return ask(n.settings, device, askSpeed, "", parseSpeed)
}

func (n *nics) Stats(device string) scan.StatsReader {
	return &stats{source: n.counters, device: device}
}

func (n *nics) Netdev() (scan.Netdev, error) {
	if n.settings.doc == nil || n.settings.doc.Netdev == nil {
		// A sosreport never has it, and names are an equal way to the queues.
		return scan.Netdev{}, fmt.Errorf("netdev-genl: %w: %w", scan.ErrNotRecorded, errors.ErrUnsupported)
	}
	return n.settings.doc.Netdev.scan(), nil
}

func (n *nics) QueueStats(dst []scan.QueueStat, device string) ([]scan.QueueStat, error) {
	d := n.counters.doc.device(device)
	if d == nil || d.QueueStats == nil {
		return dst, n.counters.missing(device, askQueues)
	}
	for _, q := range d.QueueStats {
		dst = append(dst, scan.QueueStat{
			Direction: direction(q.Direction), Index: q.Queue,
			Packets: count(q.Packets), Bytes: count(q.Bytes), Drops: count(q.Drops),
		})
	}
	return dst, nil
}

// Same is true, a recording being of one namespace, unless it was noted that the
// machine's answers were another's.
func (n *nics) Same(device string, _, _ int) bool {
	d := n.settings.doc.device(device)
	return d == nil || d.Errors[askSame] == ""
}

// stats is ethtool -S, read once: it does not change any more.
type stats struct {
	source source
	device string
	done   bool
	names  []string
	values []uint64
	err    error
}

func (s *stats) Read() ([]string, []uint64, error) {
	if !s.done {
		s.done = true
		s.names, s.values, s.err = s.read()
	}
	return s.names, s.values, s.err
}

func (s *stats) read() ([]string, []uint64, error) {
	var list []NetlinkStat
	if d := s.source.doc.device(s.device); d != nil && d.Stats != nil {
		list = d.Stats
	} else {
		var err error
		if list, err = ask(s.source, s.device, askStats, "-S", parseStats); err != nil {
			return nil, nil, err
		}
	}
	names, values := make([]string, len(list)), make([]uint64, len(list))
	for i, s := range list {
		names[i], values[i] = s.Name, s.Value
	}
	return names, values, nil
}

// missing is the error of a question without an answer: the recorded one, or
// that there is no such device, or that it was never asked.
func (s source) missing(device, question string) error {
	if d := s.doc.device(device); d != nil && d.Errors[question] != "" {
		return fmt.Errorf("%s: %s: %w", device, question, contract(errorOf(d.Errors[question])))
	}
	if _, err := s.tree.Stat("sys/class/net/" + device); errors.Is(err, fs.ErrNotExist) && s.doc.device(device) == nil {
		if _, err := s.tree.Stat("sys/class/net"); err == nil {
			return fmt.Errorf("%s: no such device in the recording: %w", device, fs.ErrNotExist)
		}
	}
	return fmt.Errorf("%s: %s: %w", device, question, scan.ErrNotRecorded)
}

func (n *NetlinkNetdev) scan() scan.Netdev {
	var d scan.Netdev
	for _, q := range n.Queues {
		d.Queues = append(d.Queues, scan.NetdevQueue{Ifindex: q.Ifindex, Direction: direction(q.Direction), Index: q.Queue, NAPI: count(q.NAPI)})
	}
	for _, p := range n.NAPIs {
		d.NAPIs = append(d.NAPIs, scan.NAPI{Ifindex: p.Ifindex, ID: p.ID, IRQ: count(p.IRQ), Thread: count(p.Thread), Deferred: p.Deferred})
	}
	return d
}

func (r *NetlinkRSS) host() host.RSS {
	// Copies: an Inventory keeps what it is given.
	h := host.RSS{
		Table: slices.Clone(r.Table), Hash: r.Hash, Fields: options(r.HashFields),
		RuleQueues: slices.Clone(r.RuleQueues), Rules: count(r.Rules),
	}
	for id, table := range r.Contexts {
		if h.Contexts == nil {
			h.Contexts = map[uint32][]uint32{}
		}
		h.Contexts[id] = slices.Clone(table)
	}
	return h
}

func (p *NetlinkPair) host() host.Pair {
	if p == nil {
		return host.Pair{}
	}
	return host.Pair{Current: count(p.Current), Max: count(p.Max)}
}

func count(n *uint64) host.Count {
	if n == nil {
		return host.Count{}
	}
	return host.Known(*n)
}

func direction(s string) host.Direction {
	if s == "tx" {
		return host.TX
	}
	return host.RX
}
