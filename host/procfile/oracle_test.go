package procfile

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/prometheus/procfs"
)

// procfsOf is procfs looking at a folder that holds the given files and a process,
// which it wants for /proc/interrupts.
func procfsOf(t testing.TB, files map[string][]byte) procfs.FS {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Join(dir, "1"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	fs, err := procfs.NewFS(dir)
	if err != nil {
		t.Fatal(err)
	}
	return fs
}

// procfs, written by others, reads the same numbers where it works: below 1 MiB,
// all CPUs on line, up to 13 columns of softnet_stat.
func TestAgainstProcfs(t *testing.T) {
	for _, text := range [][]byte{generateInterrupts(2, 20, 1), generateInterrupts(100, 333, 2), generateDense(65, 50, 3)} {
		proc, err := procfsOf(t, map[string][]byte{"interrupts": text}).Proc(1)
		if err != nil {
			t.Fatal(err)
		}
		want, err := proc.Interrupts()
		if err != nil {
			t.Fatal(err)
		}
		var got Interrupts
		if err := got.Parse(text); err != nil {
			t.Fatal(err)
		}
		if len(got.Rows) != len(want) {
			t.Errorf("%d rows, procfs has %d", len(got.Rows), len(want))
		}
		for r := range got.Rows {
			w, ok := want[string(got.Label(r))]
			if !ok || len(w.Values) != int(got.Rows[r].Counts) {
				t.Fatalf("row %s has %d counts, procfs %d", got.Label(r), got.Rows[r].Counts, len(w.Values))
			}
			for c, s := range w.Values {
				if v, err := strconv.ParseUint(s, 10, 32); err != nil || uint32(v) != got.Row(r)[c] {
					t.Errorf("row %s column %d is %d, procfs %s", got.Label(r), c, got.Row(r)[c], s)
				}
			}
		}
	}

	files := map[string][]byte{
		"softirqs":         generateSoftirqs(130),
		"net/softnet_stat": generateSoftnet(130),
		"stat":             []byte("cpu  3 0 0 4\ncpu0 1 2 300 4 5 6 7 8 9 10\ncpu7 11 12 13 14 15 16 17 18 19 20\nintr 1 1\nctxt 1\n"),
	}
	fs := procfsOf(t, files)
	irqs, err := fs.Softirqs()
	if err != nil {
		t.Fatal(err)
	}
	var table Softirqs
	if err := table.Parse(files["softirqs"]); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]uint64{
		"HI": irqs.Hi, "TIMER": irqs.Timer, "NET_TX": irqs.NetTx, "NET_RX": irqs.NetRx, "BLOCK": irqs.Block,
		"IRQ_POLL": irqs.IRQPoll, "TASKLET": irqs.Tasklet, "SCHED": irqs.Sched, "HRTIMER": irqs.HRTimer, "RCU": irqs.RCU,
	} {
		if !slices.EqualFunc(table.Row(name), want, func(a uint32, b uint64) bool { return uint64(a) == b }) {
			t.Errorf("%s is %v, procfs %v", name, table.Row(name), want)
		}
	}

	stats, err := fs.NetSoftnetStat()
	if err != nil {
		t.Fatal(err)
	}
	rows, err := ParseSoftnet(nil, files["net/softnet_stat"])
	if err != nil || len(rows) != len(stats) {
		t.Fatalf("%d rows, procfs has %d, %v", len(rows), len(stats), err)
	}
	for i, r := range rows {
		w := stats[i]
		if r.Processed != w.Processed || r.Dropped != w.Dropped || r.TimeSqueeze != w.TimeSqueezed || r.ReceivedRPS != w.ReceivedRps ||
			r.FlowLimit != w.FlowLimitCount || r.BacklogLen != w.SoftnetBacklogLen || r.CPU != int32(w.Index) || int(r.Columns) != w.Width {
			t.Errorf("row %d is %+v, procfs %+v", i, r, w)
		}
	}

	stat, err := fs.Stat()
	if err != nil {
		t.Fatal(err)
	}
	ticks, err := ParseStat(nil, files["stat"])
	if err != nil || len(ticks) != len(stat.CPU) {
		t.Fatalf("%d CPUs, procfs has %d, %v", len(ticks), len(stat.CPU), err)
	}
	for _, c := range ticks {
		w := stat.CPU[int64(c.CPU)]
		for i, p := range [...]struct {
			ticks   uint64
			seconds float64
		}{
			{c.User, w.User}, {c.Nice, w.Nice}, {c.System, w.System}, {c.Idle, w.Idle}, {c.IOWait, w.Iowait}, {c.IRQ, w.IRQ},
			{c.SoftIRQ, w.SoftIRQ}, {c.Steal, w.Steal}, {c.Guest, w.Guest}, {c.GuestNice, w.GuestNice},
		} {
			if float64(p.ticks)/100 != p.seconds {
				t.Errorf("CPU %d time %d is %d ticks, procfs %g s", c.CPU, i, p.ticks, p.seconds)
			}
		}
	}
}
