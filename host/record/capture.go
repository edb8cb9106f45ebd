package record

import (
	"maps"
	"slices"
	"time"

	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/scan"
)

// Taking is a capture while it is taken: a machine is read by scan as ever, and
// what scan asks for is written down with the answer. So a capture holds what is
// read and nothing else, and opened again it answers the same.
type Taking struct {
	machine scan.Machine
	options TakeOptions
	first   *notebook
	second  *notebook // nil: not taken

	inv       *host.Inventory
	counters  *scan.Counters
	t0, t1    time.Time
	rivals    []host.Rival
	rivalsErr error
}

// TakeOptions say what is captured.
type TakeOptions struct {
	Scan scan.Options
	// Devices, if not empty, are the only ones: others are as if they were not
	// there. Those that they are stacked on must be named as well.
	Devices []string
	// Addresses adds sys/class/net/NAME/address, which nothing reads.
	Addresses bool
}

// Take captures settings and a first sample of the counters.
func Take(m scan.Machine, o TakeOptions) *Taking {
	t := &Taking{machine: m, options: o, first: newNotebook("", o.Devices)}
	machine := t.first.open(m)
	if m.Rivals != nil {
		machine.Rivals = func() ([]host.Rival, error) {
			t.rivals, t.rivalsErr = m.Rivals()
			return t.rivals, t.rivalsErr
		}
	}
	scanner := scan.New(machine, o.Scan)
	t.inv = scanner.Inventory()
	t.counters = scanner.Counters(t.inv, nil)
	t.t0 = sampleOnce(t.counters, t.inv)
	if o.Addresses {
		for i := range t.inv.Devices {
			_, _ = machine.Tree.Read(nil, "sys/class/net/"+t.inv.Devices[i].Name+"/address") // an error is noted too
		}
	}
	return t
}

// Again captures a second sample of the counters, once.
func (t *Taking) Again() {
	t.second = newNotebook(t1Dir+"/", t.options.Devices)
	scanner := scan.New(t.second.open(t.machine), t.options.Scan)
	t.t1 = sampleOnce(scanner.Counters(t.inv, t.counters), t.inv)
}

// Inventory is what the capture is of.
func (t *Taking) Inventory() *host.Inventory { return t.inv }

// sampleOnce reads every counter and says when it began.
func sampleOnce(c *scan.Counters, inv *host.Inventory) time.Time {
	s := &host.Sample{}
	c.Read(s)
	for i := range inv.Devices {
		d := &inv.Devices[i]
		var queues []host.QueueCounters
		if all := slices.Concat(d.RX, d.TX); len(all) > 0 {
			queues = s.Queues[all[0].ID:][:len(all)]
		}
		c.Device(i, &s.Devices[i], queues)
	}
	return s.Time
}

// notebook is what was asked at one time, and the answers.
type notebook struct {
	prefix string // of file names: "" or "netsteer/t1/"
	only   []string
	files  memstore
	links  map[string]string // target by place, "" for what is no link
	asked  map[string]*NetlinkDevice
	netdev *NetlinkNetdev
}

func newNotebook(prefix string, only []string) *notebook {
	return &notebook{prefix: prefix, only: only, files: newMemstore(), links: map[string]string{}, asked: map[string]*NetlinkDevice{}}
}

// open is the machine with every answer noted. scan reads in one goroutine.
func (n *notebook) open(m scan.Machine) scan.Machine {
	tree := &notedTree{tree: m.Tree, book: n}
	noted := scan.Machine{Tree: tree}
	if m.NICs != nil {
		noted.NICs = &notedNICs{inner: m.NICs, book: n}
	}
	if m.Threads != nil {
		noted.Threads = threads{tree} // by the files that a recording has
	}
	return noted
}

// netlink is the document of all answers, nil if nothing was asked.
func (n *notebook) netlink() *Netlink {
	if len(n.asked) == 0 && n.netdev == nil {
		return nil
	}
	doc := &Netlink{Schema: NetlinkSchema, Netdev: n.netdev}
	for _, name := range slices.Sorted(maps.Keys(n.asked)) {
		doc.Devices = append(doc.Devices, *n.asked[name])
	}
	return doc
}
