package record

import (
	"errors"
	"io/fs"
	"testing"
	"time"

	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/scan"
)

// The second sample has the first one's settings and links, and only its own
// counters.
func TestSecondSample(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, map[string]string{
		"sys/class/net/eth0": "->../../devices/a/net/eth0", "sys/devices/a/net/eth0/mtu": "1500", "sys/devices/a/net/eth0/tx_queue_len": "1",
		"sys/devices/a/net/eth0/statistics/rx_packets": "1", "sys/devices/a/net/eth0/statistics/tx_packets": "1", "sys/devices/a/net/eth0/statistics/rx_missed_errors": "1",
		"sys/kernel/irq/5/per_cpu_count": "1", "proc/interrupts": "1", "proc/stat": "1", "proc/softirqs": "1", "proc/net/softnet_stat": "1", "proc/net/snmp": "1",
		"proc/77/stat": "1", "proc/77/status": "1", "proc/irq/5/smp_affinity_list": "1",
		"netsteer/t1/sys/class/net/eth0/statistics/rx_packets":     "2", // by class, as it was asked for
		"netsteer/t1/sys/devices/a/net/eth0/statistics/tx_packets": "2", // by device
		"netsteer/t1/proc/interrupts":                              "2", "netsteer/t1/proc/softirqs.err": "Permission denied", "netsteer/t1/sys/class/net/eth0/mtu": "9000",
	})
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	m, ok := r.T1()
	if !ok {
		t.Fatal("no second sample")
	}
	for name, want := range map[string]string{
		"sys/class/net/eth0/statistics/rx_packets": "2", "sys/class/net/eth0/statistics/tx_packets": "2", "proc/interrupts": "2",
		"sys/class/net/eth0/mtu": "9000", "sys/class/net/eth0/tx_queue_len": "1", "proc/irq/5/smp_affinity_list": "1", "proc/77/status": "1",
	} {
		if got, err := m.Tree.Read(nil, name); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if got, err := fs.ReadFile(m.Tree, name); err != nil || string(got) != want {
			t.Errorf("%s opened: %q, %v", name, got, err)
		}
	}
	for name, want := range map[string]error{
		"sys/class/net/eth0/statistics/rx_missed_errors": fs.ErrNotExist, "sys/devices/a/net/eth0/statistics/rx_missed_errors": fs.ErrNotExist,
		"sys/kernel/irq/5/per_cpu_count": fs.ErrNotExist, "proc/stat": fs.ErrNotExist, "proc/net/softnet_stat": fs.ErrNotExist,
		"proc/net/snmp": fs.ErrNotExist, "proc/77/stat": fs.ErrNotExist, "proc/softirqs": fs.ErrPermission, "../x": fs.ErrInvalid,
	} {
		got, err := m.Tree.Read([]byte("kept"), name)
		var p *fs.PathError
		if !errors.Is(err, want) || !errors.As(err, &p) || p.Path != name || string(got) != "kept" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := r.Machine().Tree.Read(nil, "proc/stat"); err != nil {
		t.Errorf("the first sample is not touched: %v", err)
	}
}

func TestTimes(t *testing.T) {
	at := func(s string) time.Time {
		v, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	const both = `{"schema":"netsteer.capture/v1","t0":"2026-03-01T10:00:00Z","t1":"2026-03-01T10:00:10.5Z"}`
	for _, c := range []struct {
		name          string
		capture       string
		up0, up1      string
		t0, t1        time.Time
		ok, onlySpace bool
	}{
		{name: "capture.json", capture: both, t0: at("2026-03-01T10:00:00Z"), t1: at("2026-03-01T10:00:10.5Z"), ok: true},
		{name: "capture.json first", capture: both, up0: "1.00 1", up1: "2.00 1", t0: at("2026-03-01T10:00:00Z"), t1: at("2026-03-01T10:00:10.5Z"), ok: true},
		{name: "uptimes", up0: "100.25 1", up1: "107.75 1", t0: time.Unix(100, 25e7).UTC(), t1: time.Unix(107, 75e7).UTC(), ok: true},
		{name: "t0 and uptimes", capture: `{"schema":"netsteer.capture/v1","t0":"2026-03-01T10:00:00Z"}`, up0: "1.00 1", up1: "4.00 1", t0: at("2026-03-01T10:00:00Z"), t1: at("2026-03-01T10:00:03Z"), ok: true},
		{name: "one uptime", up0: "100.25 1"},
		{name: "uptime goes back", up0: "100.25 1", up1: "99.00 1"},
		{name: "nothing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			files := map[string]string{"proc/stat": "1", t1Dir + "/proc/stat": "2"}
			for name, text := range map[string]string{captureFile: c.capture, "proc/uptime": c.up0, t1Dir + "/proc/uptime": c.up1} {
				if text != "" {
					files[name] = text
				}
			}
			plant(t, dir, files)
			r, err := Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			t0, t1, ok := r.Times()
			if !t0.Equal(c.t0) || !t1.Equal(c.t1) || ok != c.ok {
				t.Errorf("%v, %v, %v", t0, t1, ok)
			}
		})
	}
}

// sosreport's texts answer what netlink.json does not, in both samples.
func TestTextAndDocument(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, map[string]string{
		"sys/class/net/eth0/ifindex": "2", "sys/class/net/eth1/ifindex": "3",
		"netsteer/netlink.json": `{"schema":"netsteer.netlink/v1","devices":[{"device":"eth0","driver_info":{"driver":"igb"},"stats":[["a",1]],
			"errors":{"rings":"Operation not supported","features":"Operation not permitted"}}]}`,
		sosDir + "/ethtool_-i_eth0": "driver: other\n", sosDir + "/ethtool_-g_eth0": "Pre-set maximums:\nRX: 1\n",
		sosDir + "/ethtool_-l_eth0": "Pre-set maximums:\nCombined: 8\nCurrent hardware settings:\nCombined: 4\n",
		sosDir + "/ethtool_-S_eth1": "NIC statistics:\n     b: 2\n", sosDir + "/ethtool_eth1": "Settings for eth1:\n\tSpeed: 100Mb/s\n",
		sosDir + "/ethtool_-n_eth1":                   "4 RX rings available\nTotal 1 rules\n\nFilter: 0\n\tAction: Direct to queue 3\n",
		sosDir + "/ethtool_-n_eth1_rx-flow-hash_udp4": "UDP over IPV4 flows use these fields for computing Hash flow key:\nIP SA\nIP DA\n",
		sosDir + "/ethtool_-n_eth1_rx-flow-hash_tcp4": "TCP over IPV4 flows use these fields for computing Hash flow key:\nIP SA\nIP DA\nL4 bytes 0 & 1 [TCP/UDP src port]\nL4 bytes 2 & 3 [TCP/UDP dst port]\n",
		t1Dir + "/" + sosDir + "/ethtool_-S_eth1":     "NIC statistics:\n     b: 5\n",
	})
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	nics := r.Machine().NICs
	if d, err := nics.DriverInfo("eth0"); err != nil || d.Driver != "igb" {
		t.Errorf("the document comes first: %v, %v", d, err)
	}
	if c, err := nics.Channels("eth0"); err != nil || c.Combined != pair(4, 8) {
		t.Errorf("the text comes next: %v, %v", c, err)
	}
	if _, err := nics.Rings("eth0"); !errors.Is(err, errors.ErrUnsupported) || errors.Is(err, scan.ErrNotRecorded) {
		t.Errorf("the document's refusal counts: %v", err)
	}
	if _, err := nics.Features("eth0"); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("%v", err)
	}
	if _, err := nics.Coalesce("eth1"); !errors.Is(err, scan.ErrNotRecorded) {
		t.Errorf("%v", err)
	}
	if _, err := nics.Coalesce("eth2"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if s, err := nics.Speed("eth1"); err != nil || s != host.Known(12_500_000) {
		t.Errorf("%v, %v", s, err)
	}
	rss, err := nics.RSS("eth1") // -x was not run, the rest was
	if !errors.Is(err, scan.ErrNotRecorded) || len(rss.Fields) != 2 || rss.Fields[0] != (host.Option{Name: "tcp4", Value: "sdfn"}) || rss.Fields[1] != (host.Option{Name: "udp4", Value: "sd"}) ||
		rss.Rules != host.Known(1) || len(rss.RuleQueues) != 1 || rss.RuleQueues[0] != 3 || rss.Table != nil {
		t.Errorf("%+v, %v", rss, err)
	}
	m, _ := r.T1()
	names, values, err := m.NICs.Stats("eth1").Read()
	if err != nil || names[0] != "b" || values[0] != 5 {
		t.Errorf("%v, %v, %v", names, values, err)
	}
	if _, _, err := m.NICs.Stats("eth0").Read(); !errors.Is(err, scan.ErrNotRecorded) {
		t.Errorf("t0's counters are not t1's: %v", err)
	}
	if d, err := m.NICs.DriverInfo("eth0"); err != nil || d.Driver != "igb" {
		t.Errorf("t0's settings are t1's: %v, %v", d, err)
	}
	if !nics.Same("eth0", 2, 2) {
		t.Error("a recording is of one namespace")
	}
}
