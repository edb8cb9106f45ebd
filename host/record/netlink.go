package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
)

// NetlinkSchema is the schema of netsteer/netlink.json.
const NetlinkSchema = "netsteer.netlink/v1"

// Netlink is netsteer/netlink.json: what netlink and the ethtool ioctls said. A
// missing key is unknown: not asked, or not answered; an empty list or object is
// an answer. netsteer/t1/netlink.json
// is the same with the second sample's stats and queue_stats.
type Netlink struct {
	Schema  string          `json:"schema"`
	Devices []NetlinkDevice `json:"devices"` // sorted by name
	// Netdev is netdev-genl's dump of all devices; nil before Linux 6.8.
	Netdev *NetlinkNetdev `json:"netdev,omitempty"`
}

// NetlinkDevice is the answers for one device.
type NetlinkDevice struct {
	Device     string            `json:"device"`
	Ifindex    int               `json:"ifindex,omitempty"`
	DriverInfo *NetlinkDriver    `json:"driver_info,omitempty"`
	Channels   *NetlinkChannels  `json:"channels,omitempty"`
	Rings      *NetlinkRings     `json:"rings,omitempty"`
	Coalesce   map[string]string `json:"coalesce,omitzero"` // ethtool -c names
	Features   map[string]string `json:"features,omitzero"` // ethtool -k names, "on" or "off"
	RSS        *NetlinkRSS       `json:"rss,omitempty"`
	SpeedBytes *uint64           `json:"speed_bytes,omitempty"` // per second
	Stats      []NetlinkStat     `json:"stats,omitzero"`        // ethtool -S, in the driver's order
	QueueStats []NetlinkQstat    `json:"queue_stats,omitzero"`
	// Errors says, by the key of the question, how it failed: strerror's text.
	Errors map[string]string `json:"errors,omitempty"`
}

// NetlinkDriver is ETHTOOL_GDRVINFO.
type NetlinkDriver struct {
	Driver   string `json:"driver"`
	Version  string `json:"version,omitempty"`
	Firmware string `json:"firmware,omitempty"`
	BusInfo  string `json:"bus_info,omitempty"`
}

// NetlinkPair is a current value and the hardware's maximum.
type NetlinkPair struct {
	Current *uint64 `json:"current,omitempty"`
	Max     *uint64 `json:"max,omitempty"`
}

// NetlinkChannels is ethtool -l.
type NetlinkChannels struct {
	RX       *NetlinkPair `json:"rx,omitempty"`
	TX       *NetlinkPair `json:"tx,omitempty"`
	Other    *NetlinkPair `json:"other,omitempty"`
	Combined *NetlinkPair `json:"combined,omitempty"`
}

// NetlinkRings is ethtool -g, in descriptors.
type NetlinkRings struct {
	RX *NetlinkPair `json:"rx,omitempty"`
	TX *NetlinkPair `json:"tx,omitempty"`
}

// NetlinkRSS is ethtool -x and -n.
type NetlinkRSS struct {
	Table      []uint32            `json:"table,omitempty"`
	Contexts   map[uint32][]uint32 `json:"contexts,omitempty"`
	Hash       string              `json:"hash,omitempty"`
	HashFields map[string]string   `json:"hash_fields,omitempty"`
	RuleQueues []uint32            `json:"rule_queues,omitempty"`
	Rules      *uint64             `json:"rules,omitempty"`
}

// NetlinkStat is one line of ethtool -S, in JSON the pair ["rx_packets",12]: an
// object would lose the order, and a name that comes twice.
type NetlinkStat struct {
	Name  string
	Value uint64
}

// MarshalJSON writes the pair.
func (s NetlinkStat) MarshalJSON() ([]byte, error) { return json.Marshal([2]any{s.Name, s.Value}) }

// UnmarshalJSON reads the pair.
func (s *NetlinkStat) UnmarshalJSON(text []byte) error {
	var pair []json.RawMessage
	if err := json.Unmarshal(text, &pair); err != nil {
		return err
	}
	if len(pair) != 2 {
		return fmt.Errorf("a stat is [name, value], not %d parts", len(pair))
	}
	return errors.Join(json.Unmarshal(pair[0], &s.Name), json.Unmarshal(pair[1], &s.Value))
}

// NetlinkQstat is netdev-genl's qstats of one queue.
type NetlinkQstat struct {
	Direction string  `json:"direction"` // rx, tx
	Queue     int     `json:"queue"`
	Packets   *uint64 `json:"packets,omitempty"`
	Bytes     *uint64 `json:"bytes,omitempty"`
	Drops     *uint64 `json:"drops,omitempty"`
}

// NetlinkNetdev is netdev-genl's queue-get and napi-get.
type NetlinkNetdev struct {
	Queues []NetlinkQueue `json:"queues"`
	NAPIs  []NetlinkNAPI  `json:"napis"`
}

// NetlinkQueue is one queue; no napi: the driver never linked it.
type NetlinkQueue struct {
	Ifindex   int     `json:"ifindex"`
	Direction string  `json:"direction"`
	Queue     int     `json:"queue"`
	NAPI      *uint64 `json:"napi,omitempty"`
}

// NetlinkNAPI is one NAPI.
type NetlinkNAPI struct {
	Ifindex  int     `json:"ifindex"`
	ID       uint64  `json:"id"`
	IRQ      *uint64 `json:"irq,omitempty"`
	Thread   *uint64 `json:"thread,omitempty"` // PID
	Deferred bool    `json:"deferred,omitempty"`
}

// DecodeNetlink reads a document and refuses what no kernel says.
func DecodeNetlink(text []byte) (*Netlink, error) {
	n := new(Netlink)
	if err := decode(text, n, &n.Schema, NetlinkSchema); err != nil {
		return nil, err
	}
	return n, n.check()
}

func (n *Netlink) check() error {
	seen := map[string]bool{}
	for i, d := range n.Devices {
		switch {
		case d.Device == "":
			return fmt.Errorf("devices[%d] has no name", i)
		case seen[d.Device]:
			return fmt.Errorf("device %.20q is there twice", d.Device)
		}
		seen[d.Device] = true
		for j, q := range d.QueueStats {
			if err := checkQueue(q.Direction, q.Queue); err != nil {
				return fmt.Errorf("device %.20q, queue_stats[%d]: %w", d.Device, j, err)
			}
		}
	}
	if n.Netdev == nil {
		return nil
	}
	for i, q := range n.Netdev.Queues {
		if err := checkQueue(q.Direction, q.Queue); err != nil {
			return fmt.Errorf("netdev.queues[%d]: %w", i, err)
		}
	}
	return nil
}

func checkQueue(direction string, queue int) error {
	switch {
	case direction != "rx" && direction != "tx":
		return fmt.Errorf("direction is %.20q, not rx or tx", direction)
	case queue < 0 || queue > 1<<16: // netdev.num_tx_queues is at most 65,535
		return fmt.Errorf("queue is %d", queue)
	}
	return nil
}

// Encode writes the document, a line for each device: stats would take three
// lines each if everything were indented.
func (n *Netlink) Encode() ([]byte, error) {
	var buf bytes.Buffer
	fmt.Fprintf(&buf, "{\"schema\":%q,\n\"devices\":[", NetlinkSchema)
	line := func(v any) error {
		text, err := json.Marshal(v)
		buf.Write(text)
		return err
	}
	for i, d := range n.Devices {
		if i > 0 {
			buf.WriteByte(',')
		}
		buf.WriteByte('\n')
		if err := line(d); err != nil {
			return nil, err
		}
	}
	buf.WriteByte(']')
	if n.Netdev != nil {
		buf.WriteString(",\n\"netdev\":")
		if err := line(n.Netdev); err != nil {
			return nil, err
		}
	}
	buf.WriteString("}\n")
	return buf.Bytes(), nil
}

// device returns the answers for a device, nil if it has none.
func (n *Netlink) device(name string) *NetlinkDevice {
	if n != nil {
		for i := range n.Devices {
			if n.Devices[i].Device == name {
				return &n.Devices[i]
			}
		}
	}
	return nil
}

// readNetlink reads the first of the files that is there; nil if none is.
func readNetlink(t *tree, names ...string) (*Netlink, error) {
	for _, name := range names {
		text, err := t.Read(nil, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return nil, err
		}
		doc, err := DecodeNetlink(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return doc, nil
	}
	return nil, nil
}
