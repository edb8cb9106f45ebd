package record

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// every sets every field of the document, so that none can be forgotten in one
// of the two directions.
func every() *Netlink {
	n := func(v uint64) *uint64 { return &v }
	p := func(a, b uint64) *NetlinkPair { return &NetlinkPair{n(a), n(b)} }
	return &Netlink{
		Schema: NetlinkSchema,
		Devices: []NetlinkDevice{{
			Device: "eth0", Ifindex: 2,
			DriverInfo: &NetlinkDriver{"igb", "1", "2", "0000:01:00.0"},
			Channels:   &NetlinkChannels{p(0, 1), p(2, 3), p(4, 5), &NetlinkPair{Current: n(6)}},
			Rings:      &NetlinkRings{p(7, 8), p(9, 10)},
			Coalesce:   map[string]string{"rx-usecs": "3"}, Features: map[string]string{"ntuple-filters": "off"},
			RSS: &NetlinkRSS{Table: []uint32{0, 1}, Contexts: map[uint32][]uint32{1: {2, 3}}, Hash: "toeplitz",
				HashFields: map[string]string{"udp4": "sd"}, RuleQueues: []uint32{3}, Rules: n(0)},
			SpeedBytes: n(125_000_000),
			Stats:      []NetlinkStat{{"  pkts <tx>", 1<<64 - 1}, {"  pkts <tx>", 0}},
			QueueStats: []NetlinkQstat{{"rx", 0, n(1), n(2), n(3)}},
			Errors:     map[string]string{"rings": "Operation not supported"},
		}},
		Netdev: &NetlinkNetdev{
			Queues: []NetlinkQueue{{2, "tx", 1, n(513)}},
			NAPIs:  []NetlinkNAPI{{2, 513, n(36), n(77), true}},
		},
	}
}

func TestNetlinkRoundTrip(t *testing.T) {
	doc := every()
	var empty func(v reflect.Value, name string)
	empty = func(v reflect.Value, name string) {
		switch v.Kind() {
		case reflect.Pointer:
			if v.IsNil() {
				t.Errorf("%s is not set", name)
			} else if v.Elem().Kind() == reflect.Struct {
				empty(v.Elem(), name)
			}
		case reflect.Struct:
			for i := range v.NumField() {
				if name != "Combined" { // leaves one out on purpose
					empty(v.Field(i), v.Type().Field(i).Name)
				}
			}
		case reflect.Slice:
			if v.Len() == 0 {
				t.Errorf("%s is empty", name)
			} else if v.Index(0).Kind() == reflect.Struct {
				empty(v.Index(0), name)
			}
		}
	}
	empty(reflect.ValueOf(*doc), "")
	text, err := doc.Encode()
	if err != nil {
		t.Fatal(err)
	}
	again, err := DecodeNetlink(text)
	if err != nil || !reflect.DeepEqual(doc, again) {
		t.Fatalf("%v\n%s", err, text)
	}
	twice, err := again.Encode()
	if err != nil || string(twice) != string(text) {
		t.Errorf("the same facts give other bytes:\n%s\n%s", text, twice)
	}
	if strings.Contains(string(text), "null") {
		t.Errorf("a missing key is unknown, never null:\n%s", text)
	}
}

// What the answers become.
func TestNetlinkAnswers(t *testing.T) {
	n := &nics{settings: source{doc: every()}, counters: source{doc: every()}}
	c, err := n.Channels("eth0")
	if err != nil || c.RX != pair(0, 1) || c.Combined.Current.N != 6 || c.Combined.Max.OK {
		t.Errorf("%+v, %v", c, err)
	}
	nd, err := n.Netdev()
	if err != nil || len(nd.Queues) != 1 || nd.Queues[0].Direction.String() != "tx" || nd.Queues[0].NAPI.N != 513 ||
		nd.NAPIs[0].IRQ.N != 36 || nd.NAPIs[0].Thread.N != 77 || !nd.NAPIs[0].Deferred {
		t.Errorf("%+v, %v", nd, err)
	}
	names, values, err := n.Stats("eth0").Read()
	if err != nil || len(names) != 2 || names[0] != "  pkts <tx>" || names[1] != names[0] || values[0] != 1<<64-1 {
		t.Errorf("%q, %v, %v", names, values, err)
	}
	q, err := n.QueueStats(nil, "eth0")
	if err != nil || len(q) != 1 || q[0].Packets.N != 1 || q[0].Bytes.N != 2 || q[0].Drops.N != 3 {
		t.Errorf("%+v, %v", q, err)
	}
	rss, err := n.RSS("eth0")
	if err != nil || len(rss.Contexts[1]) != 2 || !rss.Rules.OK || rss.Rules.N != 0 {
		t.Errorf("%+v, %v", rss, err)
	}
	rss.Table[0] = 9
	if again, _ := n.RSS("eth0"); again.Table[0] != 0 {
		t.Error("an Inventory can change the recording")
	}
}

func TestNetlinkRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{"devices":[]}`: `schema is ""`,
		`[]`:             "not the JSON of netsteer.netlink/v1",
		`{"schema":"netsteer.netlink/v1","devices":[{}]}`:                                                                "devices[0] has no name",
		`{"schema":"netsteer.netlink/v1","devices":[{"device":"a"},{"device":"a"}]}`:                                     `device "a" is there twice`,
		`{"schema":"netsteer.netlink/v1","devices":[{"device":"a","queue_stats":[{"direction":"rx","queue":-1}]}]}`:      "queue is -1",
		`{"schema":"netsteer.netlink/v1","devices":[{"device":"a","stats":[["x"]]}]}`:                                    "a stat is [name, value], not 1 parts",
		`{"schema":"netsteer.netlink/v1","devices":[{"device":"a","stats":[["x",-1]]}]}`:                                 "cannot unmarshal",
		`{"schema":"netsteer.netlink/v1","devices":[{"device":"a","rss":{"table":[-1]}}]}`:                               "cannot unmarshal",
		`{"schema":"netsteer.netlink/v1","netdev":{"queues":[{"ifindex":1,"direction":"combined","queue":0,"napi":1}]}}`: "not rx or tx",
	} {
		if _, err := DecodeNetlink([]byte(text)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", text, err)
		}
	}
	// A later netsteer may add keys.
	if _, err := DecodeNetlink([]byte(`{"schema":"netsteer.netlink/v1","later":{"x":[1]}}`)); err != nil {
		t.Error(err)
	}
	var _ json.Marshaler = NetlinkStat{}
}
