package web

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/watch"
)

func document(t *testing.T, s Snapshot) string {
	t.Helper()
	var out bytes.Buffer
	if err := WriteSnapshot(&out, s); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// TestSnapshotOfLittle proves that what is unknown is a missing key: never null,
// -1 or a made-up 0.
func TestSnapshotOfLittle(t *testing.T) {
	inv := &host.Inventory{
		Devices: []host.Device{{Name: "eth0", Node: -1}},
		Vectors: []host.Vector{{Device: 0, IRQ: 7, Role: host.RoleControl, Queue: -1}},
		Queues: []host.Queue{
			{ID: 0, Direction: host.RX, Vector: -1},
			{ID: 1, Direction: host.TX, Vector: -1},
		},
	}
	inv.Devices[0].RX, inv.Devices[0].TX = inv.Queues[:1], inv.Queues[1:]
	state := &watch.State{Inventory: inv, Sample: &host.Sample{Queues: make([]host.QueueCounters, 2)}}
	rows := []host.InterruptRow{{Label: "7", Vector: 0}, {Label: "ERR", Vector: -1}}

	want := `{"schema":"netsteer.snapshot/v1","cpus":{"isolated":""},` +
		`"interrupts":[{"irq":"7","total":0,"per_cpu":{},"device":"eth0","role":"control","mapping":"none"},{"irq":"ERR","total":0,"per_cpu":{}}],` +
		`"devices":[{"device":"eth0","queues":[{"direction":"rx","queue":0},{"direction":"tx","queue":0}]}],` +
		`"degraded":[]}`
	if diff := cmp.Diff(want, document(t, NewSnapshot(state, rows))); diff != "" {
		t.Error(diff)
	}
}

// TestSnapshotOfMuch proves the keys and their order where all is known.
func TestSnapshotOfMuch(t *testing.T) {
	now := time.Now()
	set := func(first, last int) host.Mask { return host.KnownMask(cpuset.Range(first, last)) }
	inv := &host.Inventory{
		Kernel: "6.12",
		CPUs: host.CPUs{
			Online: cpuset.Range(0, 11), Possible: cpuset.Range(0, 11), NohzFull: cpuset.Of(11),
		},
		Nodes: []host.Node{{ID: 0, CPUs: cpuset.Range(0, 11)}},
		Devices: []host.Device{{
			Name: "eth0", Driver: "igb", Node: 0,
			Channels: host.Channels{Combined: host.Pair{Current: host.Known(1), Max: host.Known(8)}},
			Rings:    host.Rings{RX: host.Pair{Current: host.Known(256)}},
			RSS:      host.RSS{Table: []uint32{0, 0}, Fields: []host.Option{{Name: "tcp4", Value: "sdfn"}, {Name: "udp4", Value: "sd"}}},
		}},
		Vectors: []host.Vector{{
			Device: 0, IRQ: 26, Role: host.RoleCombined, Mapping: host.MappedNetdev,
			Affinity: set(0, 7), Effective: set(5, 5),
		}},
		Queues: []host.Queue{
			{ID: 0, Direction: host.RX, RPS: host.KnownMask(cpuset.Set{}), FlowEntries: host.Known(0)},
			{ID: 1, Direction: host.TX, XPS: set(2, 10), XPSRXQueues: []int{0}},
		},
	}
	inv.Devices[0].RX, inv.Devices[0].TX = inv.Queues[:1], inv.Queues[1:]
	runs := make([]uint32, 12)
	runs[2], runs[10] = 7, 8
	sample := &host.Sample{
		SoftirqsTime: now, SoftnetTime: now,
		NetRX: runs, NetTX: runs[:1],
		Softnet: []host.Softnet{
			{Present: true, Columns: 15, Processed: 1, Dropped: 2, TimeSqueeze: 3, ReceivedRPS: 4, FlowLimit: 5, InputQlen: 6, ProcessQlen: 7},
			{}, // offline
			{Present: true, Columns: 9, Processed: 8},
		},
		Queues: []host.QueueCounters{
			{Packets: host.Known(4), Bytes: host.Known(1), Drops: host.Known(0)},
			{Packets: host.Known(9)},
		},
	}
	state := &watch.State{Inventory: inv, Sample: sample, Degraded: []host.Degraded{
		{Source: host.SourceRSS, Device: "eth0", Reason: host.ReasonUnsupported, Detail: "a <b>"},
		{Source: host.SourceStat, Reason: host.ReasonMissing},
		{Source: host.SourceRSS, Device: "eth1", Reason: host.ReasonMissing},
	}}
	rows := []host.InterruptRow{
		{Label: "NMI", Total: 2, PerCPU: []host.CPUCount{{CPU: 1, Count: 2}}, Actions: []string{"Non-maskable interrupts"}, Vector: -1},
		{Label: "100", Vector: -1},
		{Label: "26", Total: 5, PerCPU: []host.CPUCount{{CPU: 2, Count: 1}, {CPU: 10, Count: 4}}, Chip: "PCI-MSIX-0000:41:00.0", Actions: []string{"eth0-TxRx-0"}},
		{Label: "27", Vector: 0}, // of an Inventory that is gone
	}

	want := `{"schema":"netsteer.snapshot/v1","kernel":"6.12","cpus":{"online":"0-11","possible":"0-11","isolated":"11"},"numa":[{"node":0,"cpus":"0-11"}],` +
		`"interrupts":[{"irq":"26","total":5,"per_cpu":{"2":1,"10":4},"chip":"PCI-MSIX-0000:41:00.0","actions":["eth0-TxRx-0"],"device":"eth0","role":"combined","queue":0,"mapping":"netdev-genl","affinity":"0-7","effective":"5"},` +
		`{"irq":"27","total":0,"per_cpu":{}},{"irq":"100","total":0,"per_cpu":{}},{"irq":"NMI","total":2,"per_cpu":{"1":2},"actions":["Non-maskable interrupts"]}],` +
		`"softirqs":{"NET_RX":{"0":0,"1":0,"2":7,"3":0,"4":0,"5":0,"6":0,"7":0,"8":0,"9":0,"10":8,"11":0},"NET_TX":{"0":0}},` +
		`"softnet":[{"cpu":0,"processed":1,"dropped":2,"time_squeeze":3,"received_rps":4,"flow_limit":5,"input_qlen":6,"process_qlen":7},{"processed":8,"dropped":0,"time_squeeze":0}],` +
		`"devices":[{"device":"eth0","driver":"igb","numa_node":0,"channels":{"combined":{"current":1,"max":8}},"rings":{"rx":{"current":256}},"rss":{"table":[0,0],"hash_fields":{"tcp4":"sdfn","udp4":"sd"}},` +
		`"queues":[{"direction":"rx","queue":0,"packets":4,"bytes":1,"drops":0,"irq":"26","rps_cpus":"","rps_flow_cnt":0},{"direction":"tx","queue":0,"packets":9,"irq":"26","xps_cpus":"2-10","xps_rxqs":[0]}]}],` +
		`"degraded":[{"source":"rss","device":"eth0","reason":"unsupported","detail":"a <b>"},{"source":"stat","reason":"missing"}]}`
	if diff := cmp.Diff(want, document(t, NewSnapshot(state, rows).Only("eth0"))); diff != "" {
		t.Error(diff)
	}
}

// TestSnapshotTwice proves that the same facts give the same bytes.
func TestSnapshotTwice(t *testing.T) {
	watcher := newWatcher(t)
	runWatcher(t, watcher)
	first := do(newRouter(watcher), http.MethodGet, "/snapshot").Body.String()
	second := do(newRouter(watcher), http.MethodGet, "/snapshot").Body.String()
	if diff := cmp.Diff(first, second); diff != "" {
		t.Error(diff)
	}
	if !strings.HasPrefix(first, `{"schema":"netsteer.snapshot/v1","kernel":"6.18.21","cpus":{"online":"0-7","possible":"0-7","isolated":"7"},`) {
		t.Errorf("begins with %.150s", first)
	}
}
