package procfile

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// Rows are found by name and columns by id, in the layouts of all kernels.
func TestSoftirqs(t *testing.T) {
	text := []byte("                    CPU0       CPU1       CPU5       \n" +
		"          HI:          1          0          0\n" +
		"      NET_RX: 4294967295 1000000000         17\n" +
		"BLOCK_IOPOLL:          0          2          0\n" + // up to 4.4
		"     NEWKIND: 1\t2 3 \n" +
		"\n" +
		"         RCU:          7          8          9") // no newline
	var fast Softirqs
	sameSoftirqs(t, text, &fast)
	if err := fast.Parse(text); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(fast.CPUs, []int32{0, 1, 5}) || fast.Len() != 5 {
		t.Fatalf("CPUs %v, %d rows", fast.CPUs, fast.Len())
	}
	for name, want := range map[string][]uint32{
		"HI":           {1, 0, 0},
		"NET_RX":       {4294967295, 1000000000, 17},
		"BLOCK_IOPOLL": {0, 2, 0},
		"NEWKIND":      {1, 2, 3},
		"RCU":          {7, 8, 9},
		"NET_TX":       nil,
		"":             nil,
	} {
		if got := fast.Row(name); !slices.Equal(got, want) || (got == nil) != (want == nil) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if name := string(fast.Name(1)); name != "NET_RX" {
		t.Errorf("row 1 is %q, want NET_RX", name)
	}
}

// A row that does not fit the header is refused, never padded.
func TestSoftirqsErrors(t *testing.T) {
	const header = "                    CPU0       CPU1\n"
	var fast Softirqs
	for _, tt := range []struct {
		text string
		is   error
		says string
	}{
		{"", ErrEmpty, "containers mask it"},
		{"HI: 1 2\n", ErrMalformed, "line 1"},
		{header + "      NET_RX:          1\n", ErrMalformed, `line 2: "NET_RX" has 1 counts, the header has 2 CPUs`},
		{header + "      NET_RX:          1          2          3\n", ErrMalformed, "line 2"},
		{header + "      NET_RX:          1          2x\n", ErrMalformed, "line 2"},
		{header + "          HI:          1          2\n      NET_RX:          1 4294967296\n", ErrMalformed, "line 3"},
		{header + "      NET_RX:          1          2 packets\n", ErrMalformed, "line 2"},
		{header + "      NET_RX           1          2\n", ErrMalformed, "line 2"},
	} {
		text := []byte(tt.text)
		sameSoftirqs(t, text, &fast)
		if err := fast.Parse(text); !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%q: %v, want %v saying %q", tt.text, err, tt.is, tt.says)
		}
		if fast.Len()+len(fast.CPUs)+len(fast.Cells) != 0 {
			t.Errorf("%q leaves %v behind", tt.text, fast)
		}
	}
}

func TestSoftirqsAllocations(t *testing.T) {
	text := generateSoftirqs(64)
	var table Softirqs
	var sum uint32
	if n := testing.AllocsPerRun(10, func() {
		if err := table.Parse(text); err != nil {
			t.Fatal(err)
		}
		sum += table.Row("NET_RX")[63]
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if sum == 0 {
		t.Error("NET_RX of CPU 63 is 0")
	}
}
