package record

import (
	"bytes"
	"io/fs"
	"path"
	"testing"
)

// Whatever the text, a parser gives a bounded answer or an error, never a panic.
func FuzzEthtool(f *testing.F) {
	for _, text := range []string{
		"driver: igb\nbus-info: 0000:06:00.1\n",
		"Pre-set maximums:\nRX:\t\tn/a\nCombined:\t8\nCurrent hardware settings:\nCombined:\t4\n",
		"Coalesce parameters for eth7:\nAdaptive RX: off  TX: n/a\nrx-usecs:\t50\nrx-frame-low:\t16\nCQE mode RX: n/a  TX: n/a\n",
		"Features for eth7:\nreceive-hashing: on [fixed]\n\ttx-checksum-ipv4: off\n",
		"RX flow hash indirection table for eth7 with 3 RX ring(s):\n    0:      0     1     2     0     1     2     0     1\n    8:      2\nRSS hash key:\n6d:5a\nRSS hash function:\n    toeplitz: on\n",
		"4 RX rings available\nTotal 2 rules\n\nFilter: 1\n\tRSS Context ID: 1\n\tAction: Direct to queue 3\n",
		"UDP over IPV4 flows use these fields for computing Hash flow key:\nIP SA\nL4 bytes 0 & 1 [TCP/UDP src port]\n",
		"NIC statistics:\n     Tx Queue#: 0\n       pkts tx: 10\n     [0]: rx: 7\n",
		"Settings for eth7:\n\tSpeed: 25000Mb/s\n", "netlink error: Operation not supported\n", "Cannot get x\n: No such device\n",
		"5000.25 3.1\n", "71 (napi/a) b) S 2 0 0 0 -1 69238848 0 0 0 0 3 44 0\n", "Cpus_allowed_list:\t2-3\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		_, _ = parseDriverInfo(text)
		_, _ = parseChannels(text)
		_, _ = parseRings(text)
		_, _ = parseFeatures(text)
		_, _ = parseHashFields(text)
		_, _ = parseSpeed(text)
		_, _ = parseUptime(text)
		_, _ = parseTaskTicks(text)
		parseAllowed(text)
		if c, err := parseCoalesce(text); err == nil && len(c) > 64 {
			t.Errorf("%d parameters", len(c))
		}
		if r, err := parseRSS(text); err == nil && (len(r.Table) > maxTable || 2*len(r.Table) > len(text)) {
			t.Errorf("a table of %d from %d bytes", len(r.Table), len(text))
		}
		if r, err := parseRules(text); err == nil && len(r.queues) > len(text) {
			t.Errorf("%d queues", len(r.queues))
		}
		if s, err := parseStats(text); err == nil && len(s) == 0 {
			t.Error("no stats and no error")
		}
		if err := refusal(text); err == nil || bytes.ContainsAny([]byte(err.Error()), "\n\r") {
			t.Errorf("%v", err)
		}
	})
}

// A document that is read is written and read again as the same.
func FuzzNetlink(f *testing.F) {
	text, err := every().Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"schema":"netsteer.netlink/v1","devices":[{"device":"a","stats":[["x",1]]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		doc, err := DecodeNetlink(text)
		if err != nil {
			return
		}
		a, err := doc.Encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := DecodeNetlink(a)
		if err != nil {
			t.Fatalf("%v\n%s", err, a)
		}
		if b, err := again.Encode(); err != nil || !bytes.Equal(a, b) {
			t.Fatalf("%v\n%s\n%s", err, a, b)
		}
	})
}

// Any bytes are an archive or an error, and any archive can be walked to its end.
func FuzzArchive(f *testing.F) {
	plain := archive(f,
		entry{name: "h/proc/interrupts", text: "x"}, entry{name: "h/sys/a", text: "/sys/b", kind: '2'}, entry{name: "h/sys/b", text: "../sys/a", kind: '2'},
		entry{name: "h/proc/hard", text: "h/proc/interrupts", kind: '1'}, entry{name: "h/netsteer/netlink.json", text: `{"schema":"netsteer.netlink/v1"}`},
		entry{name: "h/netsteer/t1/proc/stat.err", text: "Input/output error"})
	f.Add(plain)
	f.Add(gz(f, plain))
	f.Add(xzip(f, plain))
	lim := limits{stream: 1 << 20, kept: 1 << 18, file: 1 << 16, nodes: 500}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := readArchive(bytes.NewReader(text), lim)
		if err != nil {
			return
		}
		if len(s) > lim.nodes {
			t.Fatalf("%d nodes", len(s))
		}
		r, err := newRecording(s)
		if err != nil {
			return
		}
		m := r.Machine()
		if late, ok := r.T1(); ok {
			m = late
		}
		_ = fs.WalkDir(m.Tree, ".", func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return nil
			}
			_, _ = m.Tree.Read(nil, name)
			_, _ = m.Tree.ReadLink(name)
			_, _ = fs.Stat(m.Tree, path.Join(name, "x"))
			return nil
		})
	})
}
