package procfile

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// Each kernel's number of columns is read, and columns that are not there stay 0.
func TestSoftnetColumns(t *testing.T) {
	const zeros = " 00000000 00000000 00000000 00000000 00000000"
	nine := "00000010 00000002 00000003" + zeros + " 00000004"
	for _, tt := range []struct {
		name, text string
		want       SoftnetRow
	}{
		{"2.6.18", nine, SoftnetRow{CPU: -1, Columns: 9}},
		{"2.6.32", nine + " 0000000a", SoftnetRow{CPU: -1, Columns: 10, ReceivedRPS: 10}},
		{"3.11", nine + " 0000000a 0000000b", SoftnetRow{CPU: -1, Columns: 11, ReceivedRPS: 10, FlowLimit: 11}},
		{"5.10", nine + " 0000000a 0000000b 0000000c 0000001f",
			SoftnetRow{CPU: 31, Columns: 13, ReceivedRPS: 10, FlowLimit: 11, BacklogLen: 12}},
		{"6.4", nine + " 0000000a 0000000b 0000000c 0000001f 00000005 00000007",
			SoftnetRow{CPU: 31, Columns: 15, ReceivedRPS: 10, FlowLimit: 11, BacklogLen: 12, InputQlen: 5, ProcessQlen: 7}},
		{"a column of later", nine + " 0000000a 0000000b 0000000c 0000001f 00000005 00000007 soon",
			SoftnetRow{CPU: 31, Columns: 15, ReceivedRPS: 10, FlowLimit: 11, BacklogLen: 12, InputQlen: 5, ProcessQlen: 7}},
		{"upper case", nine + " 0000000A", SoftnetRow{CPU: -1, Columns: 10, ReceivedRPS: 10}},
		{"short words, more blanks", " 10  2\t3 0 0 0 0 0 4 a ", SoftnetRow{CPU: -1, Columns: 10, ReceivedRPS: 10}},
	} {
		tt.want.Processed, tt.want.Dropped, tt.want.TimeSqueeze = 16, 2, 3
		for _, end := range []string{"", "\n", "\n\n"} {
			text := []byte(tt.text + end)
			sameSoftnet(t, text)
			rows, err := ParseSoftnet(nil, text)
			if err != nil || !slices.Equal(rows, []SoftnetRow{tt.want}) {
				t.Errorf("%s: %+v, %v, want %+v", tt.name, rows, err, tt.want)
			}
		}
	}
}

// A row of another width than the last does not inherit its columns, and rows are
// appended to what the caller has.
func TestSoftnetRows(t *testing.T) {
	wide := strings.Repeat("000000ff ", 12) + "00000001 000000ff 000000ff\n"
	narrow := strings.TrimRight(strings.Repeat("00000001 ", 9), " ") + "\n"
	text := []byte(wide + narrow)
	sameSoftnet(t, text)
	rows, err := ParseSoftnet([]SoftnetRow{{CPU: 99}}, text)
	if err != nil || len(rows) != 3 {
		t.Fatalf("%v, %v", rows, err)
	}
	if rows[0].CPU != 99 || rows[1].CPU != 1 || rows[1].ProcessQlen != 255 {
		t.Errorf("%+v", rows)
	}
	if want := (SoftnetRow{CPU: -1, Columns: 9, Processed: 1, Dropped: 1, TimeSqueeze: 1}); rows[2] != want {
		t.Errorf("%+v, want %+v", rows[2], want)
	}
}

func TestSoftnetErrors(t *testing.T) {
	good := strings.Repeat("00000001 ", 9) + "\n"
	for _, tt := range []struct {
		text string
		is   error
		says string
	}{
		{"", ErrEmpty, "containers mask it"},
		{"00015c73 00020e76 f0000769 00000000\n", ErrMalformed, "line 1: 4 columns, at least 9"},
		{good + strings.Repeat("00000001 ", 8), ErrMalformed, "line 2: 8 columns"},
		{strings.Repeat("00000001 ", 8) + "0000000g\n", ErrMalformed, "line 1: column 9"},
		{strings.Repeat("00000001 ", 8) + "0000000`\n", ErrMalformed, "line 1: column 9"},
		{strings.Repeat("00000001 ", 8) + "000000001\n", ErrMalformed, "line 1: column 9"},
		{strings.Repeat("00000001 ", 12) + "00010000\n", ErrMalformed, "line 1: column 13 is no CPU: 65536"},
		{"CPU0 CPU1\n", ErrMalformed, "line 1: column 1"},
	} {
		text := []byte(tt.text)
		sameSoftnet(t, text)
		rows, err := ParseSoftnet([]SoftnetRow{{CPU: 99}}, text)
		if !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%q: %v, want %v saying %q", tt.text, err, tt.is, tt.says)
		}
		if len(rows) != 1 {
			t.Errorf("%q leaves %v", tt.text, rows)
		}
	}
}

// Each byte of a word changed to each value is judged alike by both paths.
func TestSoftnetEveryByte(t *testing.T) {
	text := []byte("09afcd37" + strings.Repeat(" 00000001", 8) + "\n")
	for i := range 10 {
		old := text[i]
		for c := range 256 {
			text[i] = byte(c)
			sameSoftnet(t, text)
		}
		text[i] = old
	}
}

func TestSoftnetAllocations(t *testing.T) {
	text := generateSoftnet(64)
	var rows []SoftnetRow
	if n := testing.AllocsPerRun(10, func() {
		var err error
		if rows, err = ParseSoftnet(rows[:0], text); err != nil || len(rows) != 64 {
			t.Fatal(len(rows), err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
