package netlink

import (
	"context"
	"errors"
	"os"
	"runtime"
	"sync"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// Kind is what an Event is about.
type Kind string

// Kinds of events.
const (
	// Resync: whatever was read before may be outdated. It comes first, once the sockets listen, and
	// whenever the kernel had to drop notifications. Ifindex is 0.
	Resync Kind = "resync"

	Link        Kind = "link" // made, removed, renamed, up, down, carrier, address, MTU, master ...
	LinkModes   Kind = "linkmodes"
	PrivFlags   Kind = "privflags"
	ChannelSet  Kind = "channels"
	RingSet     Kind = "rings"
	CoalesceSet Kind = "coalesce"
	FeatureSet  Kind = "features"
	RSSSet      Kind = "rss" // Linux 6.17: earlier kernels don't tell
	Other       Kind = "other"
)

// Event says that something about one interface changed, not how.
type Event struct {
	Kind    Kind
	Ifindex int
	Gone    bool // Link only: the interface left this namespace
}

// ethtoolKinds are the notifications of the ethtool family (include/uapi/linux/ethtool_netlink.h, messages
// from kernel to user) by command.
var ethtoolKinds = map[uint8]Kind{
	unix.ETHTOOL_MSG_LINKINFO_NTF:  LinkModes,
	unix.ETHTOOL_MSG_LINKMODES_NTF: LinkModes,
	unix.ETHTOOL_MSG_FEATURES_NTF:  FeatureSet,
	unix.ETHTOOL_MSG_PRIVFLAGS_NTF: PrivFlags,
	unix.ETHTOOL_MSG_RINGS_NTF:     RingSet,
	unix.ETHTOOL_MSG_CHANNELS_NTF:  ChannelSet,
	unix.ETHTOOL_MSG_COALESCE_NTF:  CoalesceSet,
	msgRSSNtf:                      RSSSet,
	msgRSSCreateNtf:                RSSSet,
	msgRSSDeleteNtf:                RSSSet,
}

// Monitor calls f, one call at a time, for each link notification (RTNLGRP_LINK) and each ethtool
// notification (group "monitor") of the Conn's namespace, until ctx is done or a socket fails. It
// returns the cause ctx ended for, or the failure, wrapped. The ethtool group tells what was set by netlink
// or by ioctl, not what a driver changed on its own, and RSS only from 6.17 on: a slow re-read stays
// necessary. f should be quick; what is missed meanwhile ends in a Resync.
func (c *Conn) Monitor(ctx context.Context, f func(Event)) error {
	const request = "monitor"
	var mu sync.Mutex
	emit := func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		f(e)
	}

	listeners, err := c.listeners()
	if err != nil {
		return wrap(err, request, "")
	}
	emit(Event{Kind: Resync})

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(ctx, func() {
		for _, l := range listeners {
			_ = l.conn.Close() // what unblocks Receive
		}
	})
	defer stop()
	var wg sync.WaitGroup
	for _, l := range listeners {
		wg.Go(func() { cancel(l.run(ctx, emit)) })
	}
	wg.Wait()
	for _, l := range listeners {
		_ = l.conn.Close()
	}
	return wrap(context.Cause(ctx), request, "")
}

// listener is one socket of Monitor. event decodes a message; false: not of interest.
type listener struct {
	conn  *netlink.Conn
	event func(netlink.Message) (Event, bool)
}

func (l listener) run(ctx context.Context, emit func(Event)) error {
	for {
		msgs, err := l.conn.Receive()
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, unix.ENOBUFS):
			emit(Event{Kind: Resync})
			continue
		case err != nil:
			return err
		}
		for _, m := range msgs {
			if e, ok := l.event(m); ok {
				emit(e)
			}
		}
	}
}

// listeners dials in the Conn's namespace. Going there takes CAP_SYS_ADMIN, so it is done only when
// the calling thread is elsewhere.
func (c *Conn) listeners() (ls []listener, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ns := 0
	if here := threadNetNS(); here != nil && c.ns != nil {
		defer here.Close()
		a, aerr := here.Stat()
		b, berr := c.ns.Stat()
		if aerr != nil || berr != nil || !os.SameFile(a, b) {
			ns = int(c.ns.Fd())
		}
	}
	defer func() {
		if err != nil {
			for _, l := range ls {
				_ = l.conn.Close()
			}
		}
	}()
	route, err := netlink.Dial(unix.NETLINK_ROUTE, &netlink.Config{NetNS: ns})
	if err != nil {
		return nil, err
	}
	ls = append(ls, listener{route, linkEvent})
	if err := route.JoinGroup(unix.RTNLGRP_LINK); err != nil {
		return ls, err
	}
	group, ok := c.ethtool.groups[unix.ETHTOOL_MCGRP_MONITOR_NAME]
	if !ok {
		return ls, nil
	}
	genl, err := netlink.Dial(unix.NETLINK_GENERIC, &netlink.Config{NetNS: ns})
	if err != nil {
		return ls, err
	}
	ls = append(ls, listener{genl, ethtoolEvent})
	return ls, genl.JoinGroup(group)
}

// linkEvent reads struct ifinfomsg. Messages of another family than AF_UNSPEC are about bridge ports.
func linkEvent(m netlink.Message) (Event, bool) {
	if len(m.Data) < unix.SizeofIfInfomsg || m.Data[0] != unix.AF_UNSPEC {
		return Event{}, false
	}
	e := Event{Kind: Link, Ifindex: int(int32(ne.Uint32(m.Data[4:])))}
	switch m.Header.Type {
	case unix.RTM_NEWLINK:
	case unix.RTM_DELLINK:
		e.Gone = true
	default:
		return Event{}, false
	}
	return e, true
}

// ethtoolEvent reads the header that starts every notification.
func ethtoolEvent(m netlink.Message) (Event, bool) {
	if len(m.Data) < unix.GENL_HDRLEN {
		return Event{}, false
	}
	kind, ok := ethtoolKinds[m.Data[0]]
	if !ok {
		kind = Other
	}
	e := Event{Kind: kind}
	err := walk(m.Data[unix.GENL_HDRLEN:], func(typ uint16, v []byte) error {
		if typ != 1 { // ETHTOOL_A_*_HEADER
			return nil
		}
		return walk(v, func(typ uint16, v []byte) error {
			if typ != unix.ETHTOOL_A_HEADER_DEV_INDEX {
				return nil
			}
			n, err := count(v)
			e.Ifindex = int(n.N)
			return err
		})
	})
	return e, err == nil && e.Ifindex != 0
}
