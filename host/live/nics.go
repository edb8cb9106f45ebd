package live

import (
	"errors"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/netlink"
	"github.com/netsteer/netsteer/host/scan"
)

var _ scan.NICs = (*NICs)(nil)

// NICs puts the questions to the kernel, in the network namespace of the thread
// that called NewNICs. A device's number is looked up by its name for each
// question: the answer is of whatever has the name now.
type NICs struct {
	conn  *netlink.Conn
	links *links

	mu    sync.Mutex // for stats
	stats []netlink.QueueStat
}

// NewNICs opens the sockets. It needs no privilege. Kernels without a family
// answer its questions with errors.ErrUnsupported.
func NewNICs() (*NICs, error) {
	runtime.LockOSThread() // all sockets in one namespace
	defer runtime.UnlockOSThread()
	conn, err := netlink.Dial()
	if err != nil {
		return nil, err
	}
	links, err := dialLinks()
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &NICs{conn: conn, links: links}, nil
}

// Close closes the sockets; no question may be under way.
func (n *NICs) Close() error { return errors.Join(n.conn.Close(), n.links.close()) }

// about asks a question that goes by number, and names the device in its error.
func about[T any](n *NICs, device string, ask func(ifindex int) (T, error)) (T, error) {
	ifindex, err := n.links.index(device)
	if err != nil {
		var none T
		return none, err
	}
	answer, err := ask(ifindex)
	return answer, named(err, device)
}

func named(err error, device string) error {
	var e *netlink.Error
	if errors.As(err, &e) {
		e.Device = device // a number says little to people
	}
	return gone(err)
}

// DriverInfo is ETHTOOL_GDRVINFO.
func (n *NICs) DriverInfo(device string) (scan.DriverInfo, error) {
	d, err := n.conn.DriverInfo(device)
	return scan.DriverInfo{Driver: d.Driver, Version: d.Version, Firmware: d.Firmware, BusInfo: d.BusInfo}, gone(err)
}

// Channels is ETHTOOL_MSG_CHANNELS_GET.
func (n *NICs) Channels(device string) (host.Channels, error) {
	c, err := about(n, device, n.conn.Channels)
	return host.Channels{RX: pair(c.RX), TX: pair(c.TX), Other: pair(c.Other), Combined: pair(c.Combined)}, err
}

// Rings is ETHTOOL_MSG_RINGS_GET.
func (n *NICs) Rings(device string) (host.Rings, error) {
	r, err := about(n, device, n.conn.Rings)
	return host.Rings{RX: pair(r.RX), TX: pair(r.TX)}, err
}

func pair(l netlink.Limit) host.Pair { return host.Pair{Current: count(l.Current), Max: count(l.Max)} }

func count(c netlink.Count) host.Count { return host.Count{N: uint64(c.N), OK: c.OK} }

// switches are the coalescing parameters that ethtool -c shows as on and off.
var switches = []string{"adaptive-rx", "adaptive-tx", "cqe-mode-rx", "cqe-mode-tx"}

// Coalesce is ETHTOOL_MSG_COALESCE_GET.
func (n *NICs) Coalesce(device string) ([]host.Option, error) {
	params, err := about(n, device, n.conn.Coalesce)
	if err != nil {
		return nil, err
	}
	options := make([]host.Option, 0, len(params))
	for _, p := range params {
		value := strconv.FormatUint(uint64(p.Value), 10)
		if slices.Contains(switches, p.Name) {
			value = onOff(p.Value != 0)
		}
		options = append(options, host.Option{Name: p.Name, Value: value})
	}
	return options, nil
}

// features are the kernel's names and ethtool -k's, in the order of the latter.
var features = []struct{ kernel, ethtool string }{
	{netlink.FeatureGRO, "generic-receive-offload"},
	{netlink.FeatureLRO, "large-receive-offload"},
	{netlink.FeatureNTuple, "ntuple-filters"},
	{netlink.FeatureRXHash, "receive-hashing"},
}

// Features is ETHTOOL_MSG_FEATURES_GET, of the features that steer packets or
// merge them.
func (n *NICs) Features(device string) ([]host.Option, error) {
	all, err := about(n, device, n.conn.Features)
	if err != nil {
		return nil, err
	}
	var options []host.Option
	for _, f := range features {
		if feature, ok := all[f.kernel]; ok {
			options = append(options, host.Option{Name: f.ethtool, Value: onOff(feature.Active)})
		}
	}
	return options, nil
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// Speed is ETHTOOL_MSG_LINKMODES_GET.
func (n *NICs) Speed(device string) (host.Count, error) {
	return about(n, device, func(ifindex int) (host.Count, error) {
		bits, ok, err := n.conn.LinkSpeed(ifindex)
		return host.Count{N: bits / 8, OK: ok}, err
	})
}

// Same asks RTM_GETLINK. A failure is no: nothing then says that they agree.
func (n *NICs) Same(device string, ifindex, iflink int) bool {
	name, link, err := n.links.link(ifindex)
	return err == nil && name == device && link == iflink
}

// Stats returns a reader of ETHTOOL_GSTATS.
func (n *NICs) Stats(device string) scan.StatsReader { return stats{n.conn.NewStats(device)} }

type stats struct{ *netlink.Stats }

func (s stats) Read() (names []string, values []uint64, err error) {
	values, _, err = s.Stats.Read()
	if err != nil {
		s.Reset() // what answers next may be another device
		return nil, nil, gone(err)
	}
	return s.Names(), values, nil
}

// Netdev is NETDEV_CMD_QUEUE_GET and NETDEV_CMD_NAPI_GET, in the kernel's order.
func (n *NICs) Netdev() (scan.Netdev, error) {
	queues, err := n.conn.Queues(nil)
	if err != nil {
		return scan.Netdev{}, err
	}
	napis, err := n.conn.NAPIs(nil)
	if err != nil {
		return scan.Netdev{}, err
	}
	d := scan.Netdev{
		Queues: make([]scan.NetdevQueue, len(queues)),
		NAPIs:  make([]scan.NAPI, len(napis)),
	}
	for i, q := range queues {
		d.Queues[i] = scan.NetdevQueue{
			Ifindex:   q.Ifindex,
			Direction: direction(q.TX),
			Index:     int(q.ID),
			NAPI:      host.Count{N: uint64(q.NAPI), OK: q.HasNAPI},
		}
	}
	for i, p := range napis {
		d.NAPIs[i] = scan.NAPI{
			Ifindex:  p.Ifindex,
			ID:       uint64(p.ID),
			IRQ:      host.Count{N: uint64(p.IRQ), OK: p.HasIRQ},
			Thread:   host.Count{N: uint64(p.PID), OK: p.HasPID},
			Deferred: p.DeferHardIRQs.N > 0 || p.GROFlushTimeout.N > 0,
		}
	}
	return d, nil
}

// QueueStats is NETDEV_CMD_QSTATS_GET with scope queue. Drops are those of the
// hardware (rx-hw-drops, tx-hw-drops); packets lost for want of memory
// (rx-alloc-fail) are another thing and are not added.
func (n *NICs) QueueStats(dst []scan.QueueStat, device string) ([]scan.QueueStat, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	list, err := about(n, device, func(ifindex int) ([]netlink.QueueStat, error) {
		return n.conn.QueueStats(ifindex, n.stats[:0])
	})
	if list != nil {
		n.stats = list
	}
	if err != nil {
		return dst, err
	}
	for _, q := range list {
		drops := q.RXHWDrops
		if q.TX {
			drops = q.TXHWDrops
		}
		dst = append(dst, scan.QueueStat{
			Direction: direction(q.TX),
			Index:     int(q.ID),
			Packets:   host.Count(q.Packets),
			Bytes:     host.Count(q.Bytes),
			Drops:     host.Count(drops),
		})
	}
	return dst, nil
}

func direction(tx bool) host.Direction {
	if tx {
		return host.TX
	}
	return host.RX
}
