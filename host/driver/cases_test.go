package driver

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/netsteer/netsteer/internal/testenv"
)

// The published cases name some drivers by their directory.
var caseNames = map[string]string{"mlx5": "mlx5_core", "bnxt": "bnxt_en"}

// The table agrees with every published pattern case of the drivers it has.
func TestPatternCases(t *testing.T) {
	f, err := os.Open(testenv.Shared(t, "facts", "driver-pattern-cases.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	seen := map[string]int{}
	for sc := bufio.NewScanner(f); sc.Scan(); {
		col := strings.Split(sc.Text(), "\t")
		if len(col) < 4 {
			continue
		}
		name := col[0]
		if full, ok := caseNames[name]; ok {
			name = full
		}
		e := Lookup(name)
		if e == nil {
			continue
		}
		want := map[string]string{}
		for kv := range strings.SplitSeq(col[3], "|") {
			if k, v, ok := strings.Cut(kv, "="); ok {
				want[k] = v
			}
		}
		seen[name]++
		switch col[1] {
		case "irq", "misc":
			checkVector(t, e, col[1], col[2], want)
		case "stat":
			checkStat(t, e, col[2], want)
		default:
			t.Errorf("%s: kind %q", name, col[1])
		}
	}
	for name, least := range map[string]int{
		"ixgbe": 7, "igb": 5, "igc": 1, "virtio_net": 1, "e1000e": 1, "i40e": 8, "iavf": 3, "ice": 7, "mlx5_core": 13, "ena": 7, "bnxt_en": 6, "vmxnet3": 4, "r8169": 1,
	} {
		if seen[name] < least {
			t.Errorf("%s: %d cases; want %d", name, seen[name], least)
		}
	}
}

func checkVector(t *testing.T, e *Entry, kind, action string, want map[string]string) {
	t.Helper()
	v, ok := e.Vector(action)
	// The single pair's name up to 3.7, which virtio-rng shares, is left unmapped.
	if e.Name == "virtio_net" && kind == "irq" && want["q"] == "" && want["dir"] == "" {
		return
	}
	switch {
	case !ok:
		t.Errorf("%s %s: %q is not read", e.Name, kind, action)
		return
	case kind == "misc":
		if v.Role != Control {
			t.Errorf("%s: %q is no control vector: %+v", e.Name, action, v)
		}
	case e.Name == "r8169": // a plain name: scan takes it for the pair's where it is alone
		if v.Role != Control {
			t.Errorf("%s: %q: %+v", e.Name, action, v)
		}
	case v.Role == Control:
		t.Errorf("%s: %q has no queue: %+v", e.Name, action, v)
	}
	roles := map[string]Role{"TxRx": Combined, "rxtx": Combined, "RxTx": Combined, "rx": RX, "tx": TX, "input": RX, "output": TX}
	if role, ok := roles[want["dir"]]; ok && role != v.Role {
		t.Errorf("%s: %q has role %d; want %d", e.Name, action, v.Role, role)
	}
	first, last := v.Queue, v.Last
	for key, got := range map[string]string{"dev": v.Device, "pci": v.Unit, "q": strconv.Itoa(first), "qlast": strconv.Itoa(last)} {
		if kind == "misc" && key == "q" {
			continue // the number of a control vector is no queue's
		}
		if w, ok := want[key]; ok && w != got {
			t.Errorf("%s: %q: %s is %q; want %q", e.Name, action, key, got, w)
		}
	}
}

// A statistic that is no counter of packets, bytes or drops of a queue must not
// be taken for one.
func checkStat(t *testing.T, e *Entry, name string, want map[string]string) {
	t.Helper()
	counts := map[string]Counter{
		"packets": Packets, "cnt": Packets, "ucast_packets": Packets, "rx_packets": Packets, "tx_packets": Packets,
		"bytes": Bytes, "rx_bytes": Bytes, "drops": Drops, "discards": Drops, "dropped": Drops,
	}
	counter, counted := counts[want["stat"]]
	direction := map[string]Role{"rx": RX, "tx": TX}[want["dir"]]
	s, ok := e.Stat(name)
	if ok != (counted && direction != Control && want["queue"] != "") {
		t.Errorf("%s: %q is read as %+v, %v", e.Name, name, s, ok)
		return
	}
	if ok && (s.Counts != counter || s.Direction != direction || strconv.Itoa(s.Queue) != want["queue"]) {
		t.Errorf("%s: %q is %+v; want %v", e.Name, name, s, want)
	}
}
