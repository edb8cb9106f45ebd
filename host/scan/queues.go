package scan

import (
	"errors"
	"io/fs"
	"strconv"

	"github.com/netsteer/netsteer/host"
)

// addQueues reads a device's queues: those of sysfs, which are the real ones
// (real_num_rx_queues, real_num_tx_queues), or of the channels where a capture
// lacks the folder.
func (s *Scanner) addQueues(r *reader, inv *host.Inventory, d *host.Device, n *netdev, nd Netdev) {
	rx, tx := n.rx, n.tx
	if n.noDirs {
		r.notes.say(host.SourceQueues, d.Name, host.ReasonMissing, n.dir+"/queues is missing")
		rx, tx = channelQueues(d.Channels)
	}
	first := len(inv.Queues)
	for _, i := range rx {
		q := newQueue(len(inv.Queues), d.ID, host.RX, i)
		// Queues of a capture without the folder are current by construction.
		q.Usable = !rxBeyondChannels(d.Channels, i)
		if !n.noDirs {
			readRXQueue(r, &q, d.Name, n.dir+"/queues/rx-"+strconv.Itoa(i)+"/")
		}
		inv.Queues = append(inv.Queues, q)
	}
	for _, i := range tx {
		q := newQueue(len(inv.Queues), d.ID, host.TX, i)
		if !n.noDirs {
			readTXQueue(r, &q, d.Name, n.dir+"/queues/tx-"+strconv.Itoa(i)+"/")
		}
		q.Usable = q.TrafficClass <= 0
		inv.Queues = append(inv.Queues, q)
	}
	queues := inv.Queues[first:]
	spreadRSS(queues, &d.RSS)
	if n.netlink {
		s.linkNAPIs(r, queues, d, nd)
	}
}

func newQueue(id, device int, dir host.Direction, index int) host.Queue {
	return host.Queue{ID: id, Device: device, Direction: dir, Index: index, Vector: -1, TrafficClass: -1}
}

// channelQueues are the queue numbers of the current channels.
func channelQueues(c host.Channels) (rx, tx []int) {
	for i := range c.RX.Current.N + c.Combined.Current.N {
		rx = append(rx, int(i))
	}
	for i := range c.TX.Current.N + c.Combined.Current.N {
		tx = append(tx, int(i))
	}
	return rx, tx
}

func rxBeyondChannels(c host.Channels, index int) bool {
	known := c.RX.Current.OK || c.Combined.Current.OK
	return known && uint64(index) >= c.RX.Current.N+c.Combined.Current.N
}

func readRXQueue(r *reader, q *host.Queue, device, dir string) {
	if m, err := r.mask(dir + "rps_cpus"); err == nil {
		q.RPS = host.KnownMask(m)
	} else {
		r.notes.add(host.SourceQueues, device, err)
	}
	if n, err := r.uint(dir + "rps_flow_cnt"); err == nil {
		q.FlowEntries = host.Known(n)
	} else {
		r.notes.add(host.SourceQueues, device, err)
	}
}

// readTXQueue: a device with one TX queue has the xps_cpus file and answers
// ENOENT on reading (net/core/net-sysfs.c): that is "no XPS", no fault. Each
// of these reads takes RTNL.
func readTXQueue(r *reader, q *host.Queue, device, dir string) {
	m, err := r.mask(dir + "xps_cpus")
	switch {
	case err == nil:
		q.XPS = host.KnownMask(m)
	case !errors.Is(err, fs.ErrNotExist):
		r.notes.add(host.SourceQueues, device, err)
	}
	q.TrafficClass = r.id(dir + "traffic_class")
	// xps_rxqs is a bitmap over RX queues in the same text form.
	if m, err := r.mask(dir + "xps_rxqs"); err == nil && !m.IsEmpty() {
		q.XPSRXQueues = m.Slice()
	}
}

// spreadRSS notes each RX queue's share of the RSS table, and which queues
// other contexts and ntuple rules send to.
func spreadRSS(queues []host.Queue, rss *host.RSS) {
	share := map[uint32]float64{}
	for _, q := range rss.Table {
		share[q] += 1 / float64(len(rss.Table))
	}
	steered := map[uint32]bool{}
	for _, q := range rss.RuleQueues {
		steered[q] = true
	}
	for _, table := range rss.Contexts {
		for _, q := range table {
			steered[q] = true
		}
	}
	for i := range queues {
		q := &queues[i]
		if q.Direction != host.RX {
			continue
		}
		if len(rss.Table) > 0 {
			q.RSSWeight, q.RSSWeightOK = share[uint32(q.Index)], true
		}
		q.Steered = steered[uint32(q.Index)]
	}
}

// linkNAPIs notes each queue's NAPI and its thread, as netdev-genl tells them.
func (s *Scanner) linkNAPIs(r *reader, queues []host.Queue, d *host.Device, nd Netdev) {
	napis := map[uint64]NAPI{}
	for _, n := range nd.NAPIs {
		if n.Ifindex == d.Ifindex {
			napis[n.ID] = n
			d.DeferHardIRQs = d.DeferHardIRQs || n.Deferred
		}
	}
	for _, link := range nd.Queues {
		if link.Ifindex != d.Ifindex || !link.NAPI.OK {
			continue
		}
		q := find(queues, link.Direction, link.Index)
		if q == nil {
			continue
		}
		q.NAPI = link.NAPI
		q.Thread = napis[link.NAPI.N].Thread
		if !q.Thread.OK || s.machine.Threads == nil {
			continue
		}
		_, allowed, err := s.machine.Threads.Thread(int(q.Thread.N))
		r.notes.add(host.SourceThreads, d.Name, err)
		q.ThreadCPUs = allowed
	}
}

// find returns the queue of that direction and number, or nil.
func find(queues []host.Queue, dir host.Direction, index int) *host.Queue {
	for i := range queues {
		if queues[i].Direction == dir && queues[i].Index == index {
			return &queues[i]
		}
	}
	return nil
}
