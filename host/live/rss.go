package live

import (
	"errors"
	"io/fs"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/netlink"
)

// flowTypes are those whose fields are asked for, sorted: the ones that make up
// nearly all traffic, and that the ioctl and netlink both know.
var flowTypes = []netlink.FlowType{netlink.TCP4, netlink.TCP6, netlink.UDP4, netlink.UDP6}

// RSS puts together what netlink tells (ETHTOOL_MSG_RSS_GET, Linux 6.2; contexts
// 6.12; hash fields 6.17) and the ioctls for the rest. What one part cannot tell
// does not keep the others back. With an error other than
// errors.ErrUnsupported the answer holds what was learned all the same.
func (n *NICs) RSS(device string) (host.RSS, error) {
	q := rssQuestion{nics: n, device: device}
	table, err := about(n, device, func(ifindex int) (netlink.RSS, error) { return n.conn.RSS(ifindex, 0) })
	if q.told(err) {
		q.rss.Table = table.Indir
		q.rss.Hash = table.HashFunction()
		q.contexts()
	}
	q.fields(table.FlowHash)
	q.rules()
	switch {
	case len(q.errs) > 0:
		return q.rss, errors.Join(q.errs...)
	case !q.any:
		return host.RSS{}, err
	}
	return q.rss, nil
}

// rssQuestion is the state of one RSS.
type rssQuestion struct {
	nics   *NICs
	device string
	rss    host.RSS
	any    bool // something was told
	errs   []error
}

// told sorts the answers: told, cannot be told, and failed.
func (q *rssQuestion) told(err error) bool {
	switch {
	case err == nil:
		q.any = true
	case errors.Is(err, errors.ErrUnsupported):
	case errors.Is(err, fs.ErrNotExist):
		q.errs = []error{err} // the device went away: the rest only repeats it
	default:
		q.errs = append(q.errs, err)
	}
	return err == nil
}

func (q *rssQuestion) contexts() {
	n := q.nics
	ids, err := about(n, q.device, n.conn.RSSContexts)
	if !q.told(err) {
		return
	}
	for _, id := range ids {
		context, err := about(n, q.device, func(ifindex int) (netlink.RSS, error) { return n.conn.RSS(ifindex, id) })
		if errors.Is(err, unix.ENOENT) || !q.told(err) { // ENOENT: deleted meanwhile
			continue
		}
		if q.rss.Contexts == nil {
			q.rss.Contexts = map[uint32][]uint32{}
		}
		q.rss.Contexts[id] = context.Indir
	}
}

// fields takes the hash fields netlink told, or asks for them.
func (q *rssQuestion) fields(known map[netlink.FlowType]string) {
	for _, flow := range flowTypes {
		fields, ok := known[flow]
		if known == nil {
			var err error
			fields, err = q.nics.conn.RXFlowHash(q.device, flow)
			ok = q.told(unlessInvalid(err))
		}
		if ok {
			q.rss.Fields = append(q.rss.Fields, host.Option{Name: string(flow), Value: fields})
		}
	}
}

// rules asks for the ntuple rules.
func (q *rssQuestion) rules() {
	cookies, err := q.nics.conn.RXRules(q.device)
	if !q.told(unlessInvalid(err)) {
		return
	}
	q.rss.Rules = host.Known(uint64(len(cookies)))
	q.rss.RuleQueues = ruleQueues(cookies)
}

// ruleQueues are the queues of this device that rules send to, sorted.
func ruleQueues(cookies []uint64) []uint32 {
	var queues []uint32
	for _, c := range cookies {
		// Not 0: a virtual function's queue. A rule that drops
		// (RX_CLS_FLOW_DISC) or only wakes the machine has all bits set.
		if ring, vf := netlink.CookieRing(c); vf == 0 {
			queues = append(queues, ring)
		}
	}
	slices.Sort(queues)
	return slices.Compact(queues)
}

// unlessInvalid takes EINVAL for what it means here: drivers say it of a flow
// type, or of rules, that they do not have.
func unlessInvalid(err error) error {
	if errors.Is(err, unix.EINVAL) {
		return errors.ErrUnsupported
	}
	return gone(err)
}
