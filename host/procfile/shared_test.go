package procfile

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/netsteer/netsteer/internal/testenv"
)

// readShared is a file under ../shared without the line that names its source.
func readShared(t *testing.T, elem ...string) []byte {
	t.Helper()
	text, err := os.ReadFile(testenv.Shared(t, elem...))
	if err != nil {
		t.Fatal(err)
	}
	for bytes.HasPrefix(text, []byte("#")) {
		text = text[lineEnd(text, 0)+1:]
	}
	return text
}

// Real files of many machines are read by both paths, to the same numbers.
func TestSamples(t *testing.T) {
	files, err := os.ReadDir(testenv.Shared(t, "samples"))
	if err != nil {
		t.Fatal(err)
	}
	var a Interrupts
	var s Softirqs
	seen := map[string]int{}
	for _, f := range files {
		text := readShared(t, "samples", f.Name())
		var err error
		switch name := f.Name(); {
		case strings.Contains(name, "interrupts"):
			seen["interrupts"]++
			sameInterrupts(t, text, &a)
			err = a.Parse(text)
			for r := range a.Rows {
				if tail := SplitTail(string(a.Tail(r))); a.Rows[r].Number >= 0 && tail.Chip == "" {
					t.Errorf("%s: row %s has no chip: %q", name, a.Label(r), a.Tail(r))
				}
			}
		case strings.Contains(name, "softirqs"):
			seen["softirqs"]++
			sameSoftirqs(t, text, &s)
			if err = s.Parse(text); s.Row("NET_RX") == nil {
				t.Errorf("%s: no NET_RX row", name)
			}
		case strings.Contains(name, "softnet"):
			seen["softnet"]++
			sameSoftnet(t, text)
			if _, err = ParseSoftnet(nil, text); strings.Contains(name, "broken") {
				if !errors.Is(err, ErrMalformed) {
					t.Errorf("%s: %v, want ErrMalformed", name, err)
				}
				continue
			}
		default:
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", f.Name(), err)
		}
	}
	for _, kind := range []string{"interrupts", "softirqs", "softnet"} {
		if seen[kind] == 0 {
			t.Errorf("no sample of %s", kind)
		}
	}
}

// Numbers read by eye from samples whose form is a trap.
func TestSampleValues(t *testing.T) {
	var table Interrupts
	for _, tt := range []struct {
		file, label string
		cpu         int32
		count       uint32
		actions     []string
	}{
		{"offline_cpu__interrupts_8of9cpu_CPU6_missing.txt", "", 0, 0, nil},
		{"ena__interrupts_8cpu_arm64_gicv3_its_no_space_after_IPI.txt", "IPI0", 0, 2768808080, nil},
		{"ena__interrupts_8cpu_arm64_gicv3_its_no_space_after_IPI.txt", "10", 7, 3225020442, []string{"arch_timer"}},
		{"mana__interrupts_4cpu_hyperv_chip_name_with_spaces.txt", "26", 2, 4005360, []string{"mana_q1@pci:7870:00:00.0"}},
		{"raspberrypi3__interrupts_4cpu_ARMCTRL_FIQ_row.txt", "62", 0, 521451447, []string{"dwc_otg", "dwc_otg_pcd", "dwc_otg_hcd:usb1"}},
		{"raspberrypi3__interrupts_4cpu_ARMCTRL_FIQ_row.txt", "FIQ", 3, 0, nil},
		{"xen_netfront__interrupts_8cpu_4.4_split_evtchn.txt", "101", 4, 3249375, []string{"vif0-q0-rx"}},
		{"iwlwifi__interrupts_8cpu_queue_names_with_space.txt", "54", 5, 190816, []string{"iwlwifi: queue 1"}},
		{"e1000e__interrupts_8cpu_row_without_name.txt", "30", 7, 5, nil},
		{"ixgbevf_virtio__interrupts_4cpu_counters_near_u32_wrap.txt", "CAL", 0, 4294967071, nil},
	} {
		if err := table.Parse(readShared(t, "samples", tt.file)); err != nil {
			t.Errorf("%s: %v", tt.file, err)
			continue
		}
		if tt.label == "" { // the header is the point
			if slices.Contains(table.CPUs, 6) || !slices.Contains(table.CPUs, 8) || len(table.CPUs) != 8 {
				t.Errorf("%s: CPUs %v", tt.file, table.CPUs)
			}
			continue
		}
		r := findRow(&table, tt.label)
		c := slices.Index(table.CPUs, tt.cpu)
		if r < 0 || c < 0 {
			t.Errorf("%s: row %q is %d, CPU %d is column %d", tt.file, tt.label, r, tt.cpu, c)
			continue
		}
		if got := table.Row(r)[c]; got != tt.count {
			t.Errorf("%s: %s of CPU %d is %d, want %d", tt.file, tt.label, tt.cpu, got, tt.count)
		}
		if got := SplitTail(string(table.Tail(r))).Actions; !slices.Equal(got, tt.actions) {
			t.Errorf("%s: %s has actions %q, want %q", tt.file, tt.label, got, tt.actions)
		}
	}
}

func findRow(t *Interrupts, label string) int {
	for r := range t.Rows {
		if string(t.Label(r)) == label {
			return r
		}
	}
	return -1
}

// Recorded guests of three kernels: every file of every kind, and one CPU offline.
func TestRecorded(t *testing.T) {
	archives, err := filepath.Glob(filepath.Join(testenv.Shared(t, "recorded"), "*.tar.gz"))
	if err != nil || len(archives) == 0 {
		t.Fatal(archives, err)
	}
	var a Interrupts
	var s Softirqs
	for _, archive := range archives {
		cpus, counts := 0, map[string][]uint32{}
		eachFile(t, archive, func(name string, text []byte) {
			var err error
			switch {
			case strings.HasSuffix(name, "/proc/interrupts"):
				sameInterrupts(t, text, &a)
				err = a.Parse(text)
				if offline := strings.Contains(archive, "cpu3offline"); slices.Contains(a.CPUs, 3) == offline {
					t.Errorf("%s: CPUs %v", name, a.CPUs)
				}
			case strings.HasSuffix(name, "/proc/softirqs"):
				sameSoftirqs(t, text, &s)
				if err = s.Parse(text); len(s.CPUs) != 8 {
					t.Errorf("%s: CPUs %v, want all 8 possible", name, s.CPUs)
				}
			case strings.HasSuffix(name, "/proc/net/softnet_stat"):
				sameSoftnet(t, text)
				var rows []SoftnetRow
				rows, err = ParseSoftnet(nil, text)
				cpus = len(rows)
				if want := map[bool]int32{true: 13, false: 15}[strings.Contains(archive, "deb-6.1-")]; rows[0].Columns != want {
					t.Errorf("%s: %d columns, want %d", name, rows[0].Columns, want)
				}
			case strings.HasSuffix(name, "/proc/stat"):
				sameStat(t, text)
				_, err = ParseStat(nil, text)
			case path.Base(name) == "per_cpu_count":
				var v []uint32
				if v, err = ParsePerCPUCount(nil, text); len(v) != 8 {
					t.Errorf("%s: %d counts, want all 8 possible CPUs", name, len(v))
				}
				counts[path.Base(path.Dir(name))] = v
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
		if cpus == 0 || cpus != len(a.CPUs) {
			t.Errorf("%s: %d softnet rows for %d online CPUs", archive, cpus, len(a.CPUs))
		}
		// Two files, one counter: what the IRQ's own file says is in the row, but for
		// the moments between the two readings.
		for r := range a.Rows {
			v := counts[string(a.Label(r))]
			for c, cpu := range a.CPUs {
				if v == nil {
					break
				}
				if d := int32(v[cpu] - a.Row(r)[c]); d < 0 || d > 1000 {
					t.Errorf("%s: IRQ %s of CPU %d is %d in one file, %d in the other", archive, a.Label(r), cpu, a.Row(r)[c], v[cpu])
				}
			}
		}
	}
}

func eachFile(t *testing.T, archive string, f func(name string, text []byte)) {
	t.Helper()
	file, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		f(h.Name, text)
	}
}

// wantRow is a row of a case's expected.json.
type wantRow struct {
	IRQ     string            `json:"irq"`
	Total   uint64            `json:"total"`
	Nonzero map[string]uint32 `json:"nonzero"`
	Counts  int32             `json:"n_counts"`
	Desc    string            `json:"desc"`
}

// checkRows compares every row of a case; the same label may come twice.
func checkRows(t *testing.T, table *Interrupts, rows []wantRow) {
	t.Helper()
	if len(rows) == 0 {
		t.Fatal("the case expects no row")
	}
	r := -1
	for _, want := range rows {
		// Both are in the order of the file; cases leave rows out.
		for r++; r < len(table.Rows) && string(table.Label(r)) != want.IRQ; r++ {
		}
		if r >= len(table.Rows) {
			t.Fatalf("no row %q", want.IRQ)
		}
		if table.Rows[r].Counts != want.Counts {
			t.Errorf("row %s has %d counts, want %d", want.IRQ, table.Rows[r].Counts, want.Counts)
		}
		var total uint64
		for c, v := range table.Row(r) {
			total += uint64(v)
			if len(table.CPUs) == int(table.Rows[r].Counts) && v != want.Nonzero["cpu"+itoa(table.CPUs[c])] {
				t.Errorf("row %s CPU %d is %d, want %d", want.IRQ, table.CPUs[c], v, want.Nonzero["cpu"+itoa(table.CPUs[c])])
			}
		}
		if total != want.Total {
			t.Errorf("row %s adds up to %d, want %d", want.IRQ, total, want.Total)
		}
		if got := strings.Join(strings.Fields(string(table.Tail(r))), " "); got != want.Desc {
			t.Errorf("row %s is %q, want %q", want.IRQ, got, want.Desc)
		}
	}
}

func itoa(v int32) string { return strconv.Itoa(int(v)) }

func expected(t *testing.T, folder string, v any) {
	t.Helper()
	if err := json.Unmarshal(readShared(t, "cases", folder, "expected.json"), v); err != nil {
		t.Fatal(err)
	}
}

// Faults reported against other parsers of these files do not occur here.
func TestCaseInterrupts(t *testing.T) {
	parse := func(t *testing.T, folder string) *Interrupts {
		var a Interrupts
		text := readShared(t, "cases", folder, "interrupts.txt")
		sameInterrupts(t, text, &a)
		if err := a.Parse(text); err != nil {
			t.Fatal(err)
		}
		return &a
	}
	for _, folder := range []string{"27-legacy-shared-intx-two-nics", "46-usb-nic-irq-is-the-host-controller"} {
		t.Run(folder, func(t *testing.T) {
			var want struct{ Rows []wantRow }
			expected(t, folder, &want)
			checkRows(t, parse(t, folder), want.Rows)
		})
	}
	t.Run("52", func(t *testing.T) {
		const folder = "52-arm64-ipi-row-without-space"
		var want struct{ All struct{ Rows []wantRow } }
		expected(t, folder, &want)
		checkRows(t, parse(t, folder), want.All.Rows)
	})
	t.Run("54", func(t *testing.T) {
		const folder = "54-offline-cpus-columns-differ"
		var want struct{ Interrupts struct{ Rows []wantRow } }
		expected(t, folder, &want)
		table := parse(t, folder)
		checkRows(t, table, want.Interrupts.Rows)
		if got := table.CPUs[10]; got != 20 {
			t.Errorf("column 10 is CPU %d, want 20", got)
		}
	})
	t.Run("55", func(t *testing.T) {
		table := parse(t, "55-rows-without-counts")
		for label, want := range map[string]struct {
			counts int32
			total  uint64
			tail   string
		}{
			"FIQ": {0, 0, "usb_fiq"}, "ERR": {1, 36, ""}, "Err": {1, 0, ""},
			"99": {4, 100, "GICv2 110 Level     eth0"}, "IPI4": {4, 87798, "Single function call interrupts"},
		} {
			r := findRow(table, label)
			if r < 0 {
				t.Errorf("no row %s", label)
				continue
			}
			var total uint64
			for _, v := range table.Row(r) {
				total += uint64(v)
			}
			if table.Rows[r].Counts != want.counts || total != want.total || string(table.Tail(r)) != want.tail {
				t.Errorf("%s: %d counts, total %d, tail %q, want %+v", label, table.Rows[r].Counts, total, table.Tail(r), want)
			}
		}
	})
}

// All interrupts files of all cases are read alike by both paths.
func TestCaseFiles(t *testing.T) {
	root := testenv.Shared(t, "cases")
	n := 0
	for kind, same := range map[string]func([]byte) error{
		"*interrupts*.txt": func(text []byte) error {
			var a Interrupts
			sameInterrupts(t, text, &a)
			if err := a.Parse(text); bytes.Contains(text, []byte("CPU0 ")) {
				return err
			}
			return nil // an excerpt without the header
		},
		"*softirqs*.txt": func(text []byte) error { var a Softirqs; sameSoftirqs(t, text, &a); return a.Parse(text) },
		"*softnet*.txt": func(text []byte) error {
			sameSoftnet(t, text)
			_, err := ParseSoftnet(nil, text)
			return err
		},
	} {
		files, err := filepath.Glob(filepath.Join(root, "*", kind))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			n++
			rel, err := filepath.Rel(filepath.Dir(root), f)
			if err != nil {
				t.Fatal(err)
			}
			err = same(readShared(t, rel))
			if broken := strings.Contains(f, "broken"); (err != nil) != broken {
				t.Errorf("%s: %v", rel, err)
			}
		}
	}
	if n < 5 {
		t.Errorf("only %d files", n)
	}
}

func TestCaseSoftirqs(t *testing.T) {
	const folder = "54-offline-cpus-columns-differ"
	var want struct {
		Delta map[string]uint32 `json:"softirqs_net_rx_delta"`
	}
	expected(t, folder, &want)
	var one, two Softirqs
	if err := one.Parse(readShared(t, "cases", folder, "softirqs_dualcore_t1.txt")); err != nil {
		t.Fatal(err)
	}
	if err := two.Parse(readShared(t, "cases", folder, "softirqs_dualcore_t2.txt")); err != nil {
		t.Fatal(err)
	}
	if len(want.Delta) != len(one.CPUs) {
		t.Fatalf("%d CPUs, want %d", len(one.CPUs), len(want.Delta))
	}
	for c, cpu := range one.CPUs {
		if d := two.Row("NET_RX")[c] - one.Row("NET_RX")[c]; d != want.Delta["cpu"+itoa(cpu)] {
			t.Errorf("NET_RX of CPU %d grew by %d, want %d", cpu, d, want.Delta["cpu"+itoa(cpu)])
		}
	}
}

// wantSoftnet is a row of a case's expected.json.
type wantSoftnet struct {
	Width        int32
	Processed    uint32
	Dropped      uint32
	TimeSqueeze  uint32 `json:"time_squeeze"`
	ReceivedRPS  uint32 `json:"received_rps"`
	FlowLimit    uint32 `json:"flow_limit_count"`
	BacklogLen   uint32 `json:"backlog_len"`
	CPU          *int32 `json:"cpu_id"`
	InputQlen    uint32 `json:"input_qlen"`
	ProcessQlen  uint32 `json:"process_qlen"`
	CPUCollision uint32 `json:"cpu_collision"`
}

func TestCaseSoftnet(t *testing.T) {
	check := func(t *testing.T, text []byte, want []wantSoftnet) {
		t.Helper()
		sameSoftnet(t, text)
		rows, err := ParseSoftnet(nil, text)
		if err != nil || len(rows) != len(want) || len(rows) == 0 {
			t.Fatalf("%d rows, want %d, %v", len(rows), len(want), err)
		}
		for i, w := range want {
			cpu := int32(-1)
			if w.CPU != nil {
				cpu = *w.CPU
			}
			if want := (SoftnetRow{cpu, w.Width, w.Processed, w.Dropped, w.TimeSqueeze, w.ReceivedRPS, w.FlowLimit, w.BacklogLen, w.InputQlen, w.ProcessQlen}); rows[i] != want {
				t.Errorf("row %d is %+v, want %+v", i, rows[i], want)
			}
		}
	}
	const folder = "48-softnet-column-counts"
	var want map[string]json.RawMessage
	expected(t, folder, &want)
	for key, file := range map[string]string{
		"10col": "softnet_10col.txt", "mixed": "softnet_mixed_procfs_fixture.txt", "15col": "softnet_15col_linux6.18.txt",
	} {
		var rows []wantSoftnet
		if err := json.Unmarshal(want[key], &rows); err != nil {
			t.Fatal(err)
		}
		check(t, readShared(t, "cases", folder, file), rows)
	}
	if _, err := ParseSoftnet(nil, readShared(t, "cases", folder, "softnet_broken.txt")); !errors.Is(err, ErrMalformed) {
		t.Errorf("broken: %v, want ErrMalformed", err)
	}
	var rows []wantSoftnet
	expected(t, "50-time-squeeze-false-alarm", &rows)
	check(t, readShared(t, "cases", "50-time-squeeze-false-alarm", "softnet_stat.txt"), rows)
}
