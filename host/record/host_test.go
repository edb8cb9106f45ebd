package record

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/scan"
	"github.com/netsteer/netsteer/internal/testenv"
)

func ownHost(t *testing.T) *Recording {
	t.Helper()
	r, err := Open(filepath.Join(testenv.ModuleRoot(t), "testdata", "hosts", "two-nic-8cpu"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// Our own recorded host, read by scan: nothing is degraded, and what others
// assert on is what is there.
func TestOwnHost(t *testing.T) {
	r := ownHost(t)
	t0, t1, ok := r.Times()
	if !ok || t1.Sub(t0) != 10*time.Second {
		t.Errorf("%v, %v, %v", t0, t1, ok)
	}
	first := scan.New(r.Machine(), scan.Options{})
	inv := first.Inventory()
	for _, d := range inv.Degraded {
		t.Errorf("degraded: %+v", d)
	}
	if got := fmt.Sprintf("%s, %s, %v, %d, %s", inv.CPUs.Online, inv.CPUs.Isolated(), inv.CPUs.ByID[5], len(inv.Nodes), inv.Kernel); got != "0-7, 7, {1 1 4 4 0}, 2, 6.18.21" {
		t.Error(got)
	}
	var devices []string
	for _, d := range inv.Devices {
		devices = append(devices, fmt.Sprintf("%s %s node=%d rx=%d tx=%d vectors=%d lower=%v threaded=%v", d.Name, d.Driver, d.Node, len(d.RX), len(d.TX), len(d.Vectors), d.Lower, d.ThreadedNAPI))
	}
	if got, want := strings.Join(devices, "\n"), `bond0 bonding node=-1 rx=0 tx=0 vectors=0 lower=[eth1] threaded=false
eth0 virtio_net node=0 rx=4 tx=4 vectors=9 lower=[] threaded=false
eth1 igb node=1 rx=4 tx=4 vectors=5 lower=[] threaded=false
veth0 veth node=-1 rx=4 tx=4 vectors=0 lower=[] threaded=true`; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	var vectors []string
	for _, v := range inv.Vectors {
		vectors = append(vectors, fmt.Sprintf("%d %s %s %d %s [%s] [%s]", v.IRQ, v.Actions[0], v.Role, v.Queue, v.Mapping, v.Affinity.Set, v.Effective.Set))
	}
	if got, want := strings.Join(vectors, "\n"), `26 virtio1-config control -1 none [0-7] [0]
27 virtio1-input.0 rx 0 name [0-1] [0]
28 virtio1-output.0 tx 0 name [0-1] [1]
29 virtio1-input.1 rx 1 name [2-3] [2]
30 virtio1-output.1 tx 1 name [2-3] [2]
31 virtio1-input.2 rx 2 name [4-5] [4]
32 virtio1-output.2 tx 2 name [4-5] [4]
33 virtio1-input.3 rx 3 name [6-7] [7]
34 virtio1-output.3 tx 3 name [6-7] [7]
35 eth1 control -1 none [0-7] [6]
36 eth1-TxRx-0 combined 0 netdev-genl [4] [4]
37 eth1-TxRx-1 combined 1 netdev-genl [6] [5]
38 eth1-TxRx-2 combined 2 netdev-genl [0-7] [0]
39 eth1-TxRx-3 combined 3 netdev-genl [4] [4]`; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	eth1 := inv.Device("eth1")
	if q := eth1.RX[0]; q.RPS.Set.String() != "5-6" || q.FlowEntries != host.Known(4096) || q.RSSWeight != 0.25 {
		t.Errorf("eth1 rx-0: %+v", q)
	}
	if eth1.SpeedBytes != host.Known(125_000_000) || eth1.Rings.RX != pair(512, 4096) || eth1.Channels.Combined != pair(4, 8) || inv.Sysctls.RPSSockFlowEntries != host.Known(32768) {
		t.Errorf("eth1: %+v; %+v", eth1, inv.Sysctls)
	}

	late, ok := r.T1()
	if !ok {
		t.Fatal("no second sample")
	}
	second := scan.New(late, scan.Options{})
	a, b := readSample(t, first, inv), readSample(t, second, second.Inventory())
	for i, want := range [][3]uint64{{90_000, 45_000_000, 50}, {0, 0, 0}, {6_000, 6_000_000, 0}, {4_000, 4_000_000, 0}} {
		id := eth1.RX[i].ID
		x, y := a.Queues[id], b.Queues[id]
		if got := [3]uint64{y.Packets.N - x.Packets.N, y.Bytes.N - x.Bytes.N, y.Drops.N - x.Drops.N}; got != want {
			t.Errorf("eth1 rx-%d adds %v, want %v", i, got, want)
		}
	}
	for irq, want := range map[int]uint32{27: 2_000, 29: 2_200, 31: 1_800, 33: 2_000, 28: 500, 36: 8_000, 37: 0, 38: 3_000, 39: 2_000} {
		for _, v := range inv.Vectors {
			if v.IRQ == irq && b.Sums[v.ID]-a.Sums[v.ID] != want {
				t.Errorf("IRQ %d adds %d, want %d", irq, b.Sums[v.ID]-a.Sums[v.ID], want)
			}
		}
	}
	if got := b.Softnet[4].Processed - a.Softnet[4].Processed; got != 103_000 {
		t.Errorf("CPU 4 processed %d", got)
	}
	if got := b.Ticks[4].SoftIRQ - a.Ticks[4].SoftIRQ; got != 760 {
		t.Errorf("CPU 4: %d ticks in softirq", got)
	}
	if got := b.Devices[eth1.ID].RXMissed.N - a.Devices[eth1.ID].RXMissed.N; got != 30 {
		t.Errorf("eth1 missed %d", got)
	}
	veth := inv.Device("veth0").RX
	if got := b.Queues[veth[2].ID].ThreadTicks.N - a.Queues[veth[2].ID].ThreadTicks.N; got != 22 || veth[2].ThreadCPUs.Set.String() != "2" {
		t.Errorf("veth0 rx-2: thread used %d ticks, may run on %s", got, veth[2].ThreadCPUs.Set)
	}
}

func readSample(t *testing.T, s *scan.Scanner, inv *host.Inventory) *host.Sample {
	t.Helper()
	c, sample := s.Counters(inv, nil), new(host.Sample)
	fits, degraded := c.Read(sample)
	if !fits || len(degraded) > 0 {
		t.Fatalf("sample: fits %v, degraded %v", fits, degraded)
	}
	for i, d := range inv.Devices {
		if d.Stacked {
			continue
		}
		queues := sample.Queues
		if len(d.RX) > 0 {
			queues = queues[d.RX[0].ID:][:len(d.RX)+len(d.TX)]
		}
		for _, g := range c.Device(i, &sample.Devices[i], queues) {
			// veth counts per device only: that is all there may be to say.
			if d.Name != "veth0" || g.Reason != host.ReasonNoCounters {
				t.Errorf("degraded: %+v", g)
			}
		}
	}
	return sample
}

// A sosreport of ours, one sample, without queues/, -x and topology: what is
// missing is said, the rest is read.
func TestOwnSosreport(t *testing.T) {
	r, err := Open(filepath.Join(testenv.ModuleRoot(t), "testdata", "hosts", "sosreport-2cpu"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	if _, ok := r.T1(); ok {
		t.Error("it has a second sample")
	}
	s := scan.New(r.Machine(), scan.Options{})
	inv := s.Inventory()
	var degraded []string
	for _, d := range inv.Degraded {
		degraded = append(degraded, fmt.Sprintf("%s %s %s", d.Source, d.Device, d.Reason))
	}
	slices.Sort(degraded)
	if got, want := strings.Join(degraded, "\n"), `driver eth1 unknown-driver
queue_mapping eth1 unknown-driver
queues eth0 missing
queues eth1 missing
rss eth0 missing
rss eth1 missing
topology  missing`; got != want {
		t.Errorf("degraded:\n%s\nwant\n%s", got, want)
	}
	eth0 := inv.Device("eth0")
	if eth0.Driver != "igb" || len(eth0.RX) != 2 || eth0.Channels.Combined != pair(2, 2) || eth0.Rings.TX != pair(256, 4096) ||
		eth0.SpeedBytes != host.Known(125_000_000) || len(eth0.RSS.Fields) != 1 || eth0.RSS.Fields[0] != (host.Option{Name: "udp4", Value: "sd"}) || eth0.RSS.Table != nil {
		t.Errorf("%+v", eth0)
	}
	c, sample := s.Counters(inv, nil), new(host.Sample)
	if fits, degraded := c.Read(sample); !fits || len(degraded) > 0 {
		t.Errorf("%v, %v", fits, degraded)
	}
	c.Device(eth0.ID, &sample.Devices[eth0.ID], sample.Queues[:4])
	for i, want := range []uint64{21_000_075, 7_000_025, 8_000_030, 6_000_020} {
		if sample.Queues[i].Packets != host.Known(want) {
			t.Errorf("queue %d: %v packets, want %d", i, sample.Queues[i].Packets, want)
		}
	}
}

// The numbers of the files agree with one another as a kernel's do.
func TestOwnHostAgrees(t *testing.T) {
	r := ownHost(t)
	late, _ := r.T1()
	for i, m := range []scan.Machine{r.Machine(), late} {
		table, err := m.Tree.Read(nil, "proc/interrupts")
		if err != nil {
			t.Fatal(err)
		}
		rows := 0
		for line := range strings.Lines(string(table)) {
			f := strings.Fields(line)
			irq := strings.TrimSuffix(f[0], ":")
			cells, err := m.Tree.Read(nil, "sys/kernel/irq/"+irq+"/per_cpu_count")
			if err != nil {
				continue
			}
			rows++
			if got, want := strings.TrimSpace(string(cells)), strings.Join(f[1:9], ","); got != want {
				t.Errorf("sample %d, IRQ %s: per_cpu_count %s, row %s", i, irq, got, want)
			}
		}
		if rows != 18 {
			t.Errorf("sample %d: %d rows", i, rows)
		}
		names, values, err := m.NICs.Stats("eth1").Read()
		if err != nil {
			t.Fatal(err)
		}
		var total, sum uint64
		for j, name := range names {
			if name == "rx_packets" {
				total = values[j]
			} else if strings.HasPrefix(name, "rx_queue_") && strings.HasSuffix(name, "_packets") {
				sum += values[j]
			}
		}
		sysfs, err := m.Tree.Read(nil, "sys/class/net/eth1/statistics/rx_packets")
		if err != nil || total != sum || strings.TrimSpace(string(sysfs)) != fmt.Sprint(total) {
			t.Errorf("sample %d: eth1 received %d, its queues %d, sysfs %s, %v", i, total, sum, sysfs, err)
		}
	}
}

// The committed host is what its generator writes.
func TestOwnHostGenerated(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the generator")
	}
	root := testenv.ModuleRoot(t)
	dir := filepath.Join(t.TempDir(), "host")
	cmd := exec.Command(testenv.Tool(t, "go"), "run", filepath.Join("testdata", "hosts", "generate.go"), dir)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want := content(t, filepath.Join(root, "testdata", "hosts", "two-nic-8cpu"))
	got := content(t, dir)
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s: committed %.60q, generated %.60q", name, text, got[name])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d files are committed, %d generated: go run testdata/hosts/generate.go", len(want), len(got))
	}
}

// content is every file's text and every link's target below a folder.
func content(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if e.Type()&fs.ModeSymlink != 0 {
			files[name], err = os.Readlink(path)
			files[name] = "-> " + files[name]
			return err
		}
		text, err := os.ReadFile(path)
		files[name] = string(bytes.TrimSpace(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
