package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/scan"
	"github.com/netsteer/netsteer/internal/testenv"
)

// The ways in which ethtool says no.
var (
	errUnsupported = errors.ErrUnsupported
	errMissing     = fs.ErrNotExist
)

type parseCase[T any] struct {
	name, text string
	want       T
	err        error // nil: no error
}

func runParse[T any](t *testing.T, parse func([]byte) (T, error), cases []parseCase[T]) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := parse([]byte(c.text))
			if c.err != nil {
				if !errors.Is(err, c.err) || strings.Contains(fmt.Sprint(err), "\n") {
					t.Fatalf("error %v, want one line that is %v", err, c.err)
				}
				return
			}
			if err != nil || fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", c.want) {
				t.Fatalf("got  %#v, %v\nwant %#v", got, err, c.want)
			}
		})
	}
}

func pair(current, max uint64) host.Pair {
	return host.Pair{Current: host.Known(current), Max: host.Known(max)}
}

// refusals are every parser's.
func refusals[T any]() []parseCase[T] {
	return []parseCase[T]{
		{name: "netlink", text: "netlink error: Operation not supported\n", err: errUnsupported},
		{name: "ioctl", text: "Cannot get device settings: Operation not supported\n", err: errUnsupported},
		{name: "errno on its own line", text: "Cannot get device channel parameters\n: Operation not supported\nChannel parameters for br0:\n", err: errUnsupported},
		{name: "no device", text: "Cannot get driver information: No such device\n", err: errMissing},
		{name: "no device, netlink", text: "netlink error: no device matches name (offset 24)\nnetlink error: No such device\n", err: errMissing},
		{name: "not root", text: "Cannot get coalesce parameters: Operation not permitted\n", err: syscall.EPERM},
		{name: "old ethtool", text: "ethtool: bad command line argument(s)\nFor more information run ethtool -h\n", err: errUnsupported},
		{name: "no ethtool", text: "bash: ethtool: command not found\n", err: errUnsupported},
		{name: "ENOTSUPP leaks", text: "Cannot get RX rings: Unknown error 524\n", err: errUnsupported},
		{name: "empty", text: "\n", err: scan.ErrNotRecorded},
		{name: "other text", text: "Lorem ipsum: dolor\n", err: errNotEthtool},
	}
}

func TestParseDriverInfo(t *testing.T) {
	runParse(t, parseDriverInfo, append(refusals[scan.DriverInfo](), []parseCase[scan.DriverInfo]{
		{name: "pci", text: "driver: igb\nversion: 6.1.90\nfirmware-version: 3.25, 0x800005cc\nexpansion-rom-version: \nbus-info: 0000:06:00.1\nsupports-statistics: yes\n",
			want: scan.DriverInfo{Driver: "igb", Version: "6.1.90", Firmware: "3.25, 0x800005cc", BusInfo: "0000:06:00.1"}},
		{name: "virtual", text: "driver: veth\nversion: 1.0\nfirmware-version: \nexpansion-rom-version: \nbus-info: \n",
			want: scan.DriverInfo{Driver: "veth", Version: "1.0"}},
	}...))
}

func TestParseChannels(t *testing.T) {
	runParse(t, parseChannels, append(refusals[host.Channels](), []parseCase[host.Channels]{
		{name: "netlink form", text: "Channel parameters for eth7:\nPre-set maximums:\nRX:\t\tn/a\nTX:\t\tn/a\nOther:\t\t1\nCombined:\t63\nCurrent hardware settings:\nRX:\t\tn/a\nTX:\t\tn/a\nOther:\t\t1\nCombined:\t24\n",
			want: host.Channels{Other: pair(1, 1), Combined: pair(24, 63)}},
		{name: "ioctl form has 0 for what is not there", text: "Channel parameters for eth7:\nPre-set maximums:\nRX:\t\t0\nTX:\t\t0\nOther:\t\t0\nCombined:\t6\nCurrent hardware settings:\nRX:\t\t0\nTX:\t\t0\nOther:\t\t0\nCombined:\t2\n",
			want: host.Channels{Combined: pair(2, 6)}},
		{name: "a current of 0 is known", text: "Channel parameters for eth7:\nPre-set maximums:\nRX:\t\t8\nTX:\t\t4\nOther:\t\tn/a\nCombined:\t8\nCurrent hardware settings:\nRX:\t\t8\nTX:\t\t4\nOther:\t\tn/a\nCombined:\t0\n",
			want: host.Channels{RX: pair(8, 8), TX: pair(4, 4), Combined: pair(0, 8)}},
		{name: "blanks for tabs, CRLF", text: "Channel parameters for eth7:\r\nPre-set maximums:\r\nRX:        0\r\nCombined:    5\r\nCurrent hardware settings:\r\nCombined:    3\r\n",
			want: host.Channels{Combined: pair(3, 5)}},
	}...))
}

func TestParseRings(t *testing.T) {
	runParse(t, parseRings, append(refusals[host.Rings](), []parseCase[host.Rings]{
		{name: "new", text: "Ring parameters for eth7:\nPre-set maximums:\nRX:\t\t\t8192\nRX Mini:\t\tn/a\nRX Jumbo:\t\tn/a\nTX:\t\t\t4096\nTX push buff len:\tn/a\nCurrent hardware settings:\nRX:\t\t\t1024\nRX Mini:\t\tn/a\nRX Jumbo:\t\tn/a\nTX:\t\t\t512\nRX Buf Len:\t\tn/a\nCQE Size:\t\tn/a\nTX Push:\toff\nTCP data split:\tn/a\n",
			want: host.Rings{RX: pair(1024, 8192), TX: pair(512, 4096)}},
		{name: "old", text: "Ring parameters for eth7:\nPre-set maximums:\nRX:\t\t256\nRX Mini:\t0\nRX Jumbo:\t0\nTX:\t\t0\nCurrent hardware settings:\nRX:\t\t128\nRX Mini:\t0\nRX Jumbo:\t0\nTX:\t\t0\n",
			want: host.Rings{RX: pair(128, 256)}},
	}...))
}

func TestParseCoalesce(t *testing.T) {
	runParse(t, parseCoalesce, append(refusals[[]host.Option](), []parseCase[[]host.Option]{
		{name: "new", text: "Coalesce parameters for eth7:\nAdaptive RX: off  TX: n/a\nstats-block-usecs:\tn/a\nsample-interval:\tn/a\n\nrx-usecs:\t50\nrx-frames:\tn/a\n\ntx-usecs:\t8\n\nrx-usecs-low:\tn/a\nrx-frame-low:\t16\n\nCQE mode RX: on  TX: off\n\n",
			want: []host.Option{{Name: "adaptive-rx", Value: "off"}, {Name: "cqe-mode-rx", Value: "on"}, {Name: "cqe-mode-tx", Value: "off"}, {Name: "rx-frames-low", Value: "16"}, {Name: "rx-usecs", Value: "50"}, {Name: "tx-usecs", Value: "8"}}},
		{name: "old", text: "Coalesce parameters for eth7:\nAdaptive RX: on  TX: on\nstats-block-usecs: 0\npkt-rate-high: 0\n\nrx-usecs: 1\n",
			want: []host.Option{{Name: "adaptive-rx", Value: "on"}, {Name: "adaptive-tx", Value: "on"}, {Name: "pkt-rate-high", Value: "0"}, {Name: "rx-usecs", Value: "1"}, {Name: "stats-block-usecs", Value: "0"}}},
		{name: "none known", text: "Coalesce parameters for eth7:\nAdaptive RX: n/a  TX: n/a\nrx-usecs:\tn/a\n", want: []host.Option{}},
	}...))
}

func TestParseFeatures(t *testing.T) {
	runParse(t, parseFeatures, append(refusals[[]host.Option](), []parseCase[[]host.Option]{
		{name: "brackets and tabs", text: "Features for eth7:\nrx-checksumming: on\ntx-checksumming: on\n\ttx-checksum-ipv4: off [fixed]\ngeneric-receive-offload: on\nlarge-receive-offload: off [requested on]\nntuple-filters: on [fixed]\nreceive-hashing: off [not requested]\n",
			want: []host.Option{{Name: "generic-receive-offload", Value: "on"}, {Name: "large-receive-offload", Value: "off"}, {Name: "ntuple-filters", Value: "on"}, {Name: "receive-hashing", Value: "off"}}},
		{name: "with complaints", text: "Cannot get device udp-fragmentation-offload settings: Operation not supported\nFeatures for eth7:\ngeneric-receive-offload: off\n",
			want: []host.Option{{Name: "generic-receive-offload", Value: "off"}}},
	}...))
}

func TestParseRSS(t *testing.T) {
	runParse(t, parseRSS, append(refusals[host.RSS](), []parseCase[host.RSS]{
		{name: "not a multiple of 8", text: "RX flow hash indirection table for eth7 with 3 RX ring(s):\n    0:      0     1     2     0     1     2     0     1\n    8:      2     0\nRSS hash key:\n6d:5a:56\nRSS hash function:\n    toeplitz: off\n    xor: on\n    crc32: off\n",
			want: host.RSS{Table: []uint32{0, 1, 2, 0, 1, 2, 0, 1, 2, 0}, Hash: "xor"}},
		{name: "new, no key", text: "RX flow hash indirection table for eth7 with 8 RX ring(s):\n    0:      7     6\nRSS hash key:\nOperation not supported\nRSS hash function:\n    toeplitz: on\n    xor: off\n    crc32: off\nRSS input transformation:\n    symmetric-xor: on\n    symmetric-or-xor: off\n",
			want: host.RSS{Table: []uint32{7, 6}, Hash: "toeplitz"}},
		{name: "no table", text: "RX flow hash indirection table for eth7 with 1 RX ring(s):\nOperation not supported\nRSS hash key:\nOperation not supported\nRSS hash function:\n    toeplitz: on\n    xor: off\n",
			want: host.RSS{Hash: "toeplitz"}},
		{name: "old, table alone", text: "RX flow hash indirection table for eth7 with 2 RX ring(s):\n\t0:      0     1     0     1     0     1     0     1\n\t8:      1     1     1     1     1     1     1     1\n",
			want: host.RSS{Table: []uint32{0, 1, 0, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1}}},
		{name: "nothing but refusals", text: "RX flow hash indirection table for eth7 with 1 RX ring(s):\nOperation not supported\nRSS hash key:\nOperation not supported\n", err: errUnsupported},
		{name: "a row is lost", text: "RX flow hash indirection table for eth7 with 2 RX ring(s):\n    0:      0     1     0     1     0     1     0     1\n   16:      0     1\n", err: errNotEthtool},
		{name: "queue is no number", text: "RX flow hash indirection table for eth7 with 2 RX ring(s):\n    0:      0     x\n", err: errNotEthtool},
	}...))
}

func TestParseRules(t *testing.T) {
	runParse(t, parseRules, append(refusals[rules](), []parseCase[rules]{
		{name: "none", text: "6 RX rings available\nTotal 0 rules\n\n", want: rules{}},
		{name: "several actions", text: "6 RX rings available\nTotal 6 rules\n\nFilter: 1\n\tRule Type: TCP over IPv4\n\tDest port: 80 mask: 0x0\n\tAction: Direct to queue 5\n\nFilter: 2\n\tAction: Drop\n\nFilter: 3\n\tAction: Direct to VF 1 queue 2\n\nFilter: 4\n\tRSS Context ID: 1\n\tAction: Direct to queue 0\n\nFilter: 5\n\tAction: Direct to queue 2\n\nFilter: 6\n\tAction: Direct to queue 5\n\n",
			want: rules{count: 6, queues: []uint32{2, 5}}},
		{name: "no rules by this driver", text: "6 RX rings available\nrxclass: Cannot get RX class rule count: Operation not supported\nRX classification rule retrieval failed\n", err: errUnsupported},
	}...))
}

func TestParseHashFields(t *testing.T) {
	const head = "UDP over IPV4 flows use these fields for computing Hash flow key:\n"
	runParse(t, parseHashFields, append(refusals[string](), []parseCase[string]{
		{name: "addresses", text: head + "IP SA\nIP DA\n\n", want: "sd"},
		{name: "and ports", text: head + "IP SA\nIP DA\nL4 bytes 0 & 1 [TCP/UDP src port]\nL4 bytes 2 & 3 [TCP/UDP dst port]\n\n", want: "sdfn"},
		{name: "others", text: head + "L2DA\nVLAN tag\nL3 proto\nIP DA\nGTP TEID\nIPv6 Flow Label\n", want: "mvtdel"},
		{name: "none", text: head + "None\n", want: ""},
	}...))
}

func TestParseStats(t *testing.T) {
	runParse(t, parseStats, append(refusals[[]NetlinkStat](), []parseCase[[]NetlinkStat]{
		{name: "plain", text: "NIC statistics:\n     rx_packets: 18446744073709551615\n     tx_packets: 2\n", want: []NetlinkStat{{"rx_packets", 1<<64 - 1}, {"tx_packets", 2}}},
		{name: "blanks and repeats are the driver's", text: "NIC statistics:\n     Tx Queue#: 0\n       pkts tx: 10\n          hdr err: 1\n     Tx Queue#: 1\n       pkts tx: 20\n          hdr err: 2\n",
			want: []NetlinkStat{{"Tx Queue#", 0}, {"  pkts tx", 10}, {"     hdr err", 1}, {"Tx Queue#", 1}, {"  pkts tx", 20}, {"     hdr err", 2}}},
		{name: "colons in names", text: "NIC statistics:\n     [0]: rx_ucast_packets: 7\n", want: []NetlinkStat{{"[0]: rx_ucast_packets", 7}}},
		{name: "indent lost", text: "rx_packets: 3\n\ttx_packets: 4\n", want: []NetlinkStat{{"rx_packets", 3}, {"tx_packets", 4}}},
		{name: "none", text: "no stats available\n", err: errUnsupported},
		{name: "header alone", text: "NIC statistics:\n", err: errNotEthtool},
	}...))
}

func TestParseSpeed(t *testing.T) {
	runParse(t, parseSpeed, append(refusals[host.Count](), []parseCase[host.Count]{
		{name: "up", text: "Settings for eth7:\n\tSupported ports: [ FIBRE ]\n\tSpeed: 25000Mb/s\n\tDuplex: Full\n", want: host.Known(3_125_000_000)},
		{name: "down", text: "Settings for eth7:\n\tSpeed: Unknown!\n\tDuplex: Unknown! (255)\n\tLink detected: no\n", want: host.Count{}},
		{name: "none", text: "Settings for veth7:\n\tLink detected: yes\n", want: host.Count{}},
		{name: "nothing at all", text: "Settings for x:\nNo data available\n", err: syscall.ENODATA},
	}...))
}

func TestParseUptime(t *testing.T) {
	for _, c := range []struct {
		text string
		want string
		ok   bool
	}{{"5000.25 34000.70\n", "1h23m20.25s", true}, {"12.07", "12.07s", true}, {"", "0s", false}, {"NaN 1", "0s", false}, {"-1 2", "0s", false}, {"1e300 1", "0s", false}} {
		if d, ok := parseUptime([]byte(c.text)); d.String() != c.want || ok != c.ok {
			t.Errorf("%q: %v, %v", c.text, d, ok)
		}
	}
}

func TestParseTask(t *testing.T) {
	n, err := parseTaskTicks([]byte("71 (napi/a) b) (-9) S 2 0 0 0 -1 69238848 0 0 0 0 3 44 0 0 20 0 1 0 81 0\n"))
	if err != nil || n != 47 {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := parseTaskTicks([]byte("71 (napi) S 2\n")); err == nil {
		t.Error("a short line passed")
	}
	m := parseAllowed([]byte("Name:\tx\nCpus_allowed:\t0c\nCpus_allowed_list:\t2-3\n"))
	if !m.OK || m.Set.String() != "2-3" {
		t.Errorf("%v", m)
	}
	if m := parseAllowed([]byte("Cpus_allowed_list:\tall\n")); m.OK {
		t.Errorf("%v", m)
	}
}

// sosreport's own names of outputs.
func TestFileName(t *testing.T) {
	for command, want := range map[string]string{
		"ethtool -S eth0":                       "ethtool_-S_eth0",
		"ethtool -n p1p1.100 rx-flow-hash udp4": "ethtool_-n_p1p1.100_rx-flow-hash_udp4",
		"ethtool br@x":                          "ethtool_br_x",
		"ethtool ../../etc/passwd":              "ethtool_......etc.passwd",
	} {
		if got := fileName(command); got != want {
			t.Errorf("%q: %q", command, got)
		}
	}
}

// ethtool's texts of many drivers and versions.
func TestSamples(t *testing.T) {
	var files []string
	for _, dir := range []string{"samples", "cases"} {
		root := testenv.Shared(t, dir)
		for _, glob := range []string{"*ethtool*", "*/ethtool*.txt", "*/ethtool*/*.txt"} {
			f, err := filepath.Glob(filepath.Join(root, glob))
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f...)
		}
	}
	tried := 0
	for _, file := range files {
		name := strings.ReplaceAll(strings.TrimPrefix(file, filepath.Dir(filepath.Dir(filepath.Dir(file)))), "_", "-")
		var parse func([]byte) (int, error)
		switch {
		case strings.Contains(name, "ethtool-S"):
			parse = func(b []byte) (int, error) { s, err := parseStats(b); return len(s), err }
		case strings.Contains(name, "ethtool-l"):
			parse = func(b []byte) (int, error) { c, err := parseChannels(b); return int(c.Combined.Max.N), err }
		case strings.Contains(name, "ethtool-x"):
			parse = func(b []byte) (int, error) { r, err := parseRSS(b); return len(r.Table), err }
		default:
			continue
		}
		if i, err := os.Stat(file); err != nil || i.IsDir() {
			continue
		}
		tried++
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n, err := parse(text)
		switch refused := strings.Contains(name, "error"); {
		case refused && !errors.Is(err, errors.ErrUnsupported):
			t.Errorf("%s: %v, want unsupported", file, err)
		case !refused && (err != nil || n == 0):
			t.Errorf("%s: %d, %v", file, n, err)
		}
	}
	if tried < 30 {
		t.Errorf("%d samples only, of %v", tried, slices.Compact(files))
	}
}
