package procfile

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The per-CPU lines of each kernel are read, the sum and what follows is not.
func TestParseStat(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []CPUTicks
	}{
		{
			"6.x, CPU 1 offline", "cpu  31 32 33 34 35 36 37 38 39 40\ncpu0 1 2 3 4 5 6 7 8 9 10\ncpu2 11 12 13 14 15 16 17 18 19 20\nintr 5 0 cpu\nctxt 1\n",
			[]CPUTicks{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {2, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}},
		},
		{"2.4, four times", "cpu  1 2 3 4\ncpu0 1 2 3 4\n", []CPUTicks{{CPU: 0, User: 1, Nice: 2, System: 3, Idle: 4}}},
		{"2.6.18, eight", "cpu  1 2 3 4 5 6 7 8\ncpu0 1 2 3 4 5 6 7 8", []CPUTicks{{CPU: 0, User: 1, Nice: 2, System: 3, Idle: 4, IOWait: 5, IRQ: 6, SoftIRQ: 7, Steal: 8}}},
		{"a time of later", "cpu9 1 2 3 4 5 6 7 8 9 10 x\n", []CPUTicks{{9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}}},
		{"64 bits", "cpu0 18446744073709551615 0 0 0\n", []CPUTicks{{CPU: 0, User: 18446744073709551615}}},
	} {
		got, err := ParseStat(nil, []byte(tt.text))
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: %+v, %v, want %+v", tt.name, got, err, tt.want)
		}
	}
	for _, tt := range []struct {
		text string
		is   error
		says string
	}{
		{"", ErrEmpty, "containers mask it"},
		{"intr 1 2 3\n", ErrMalformed, "line 1: no line of a CPU"},
		{"cpu  1 2 3 4\nintr 1\n", ErrMalformed, "no line of a CPU"},
		{"cpu0 1 2 3\n", ErrMalformed, "line 1: cpu0: fewer than 4 times"},
		{"cpu0 1 2 3 4\ncpu1 1 2 3 -4\n", ErrMalformed, "line 2: cpu1"},
		{"cpu0 1 2 3 18446744073709551616\n", ErrMalformed, "line 1: cpu0"},
		{"cpu0 1 2 3 4x\n", ErrMalformed, "line 1: cpu0"},
		{"cpu1 1 2 3 4\ncpu1 1 2 3 4\n", ErrMalformed, `line 2: "cpu1" is not the next CPU`},
		{"cpux 1 2 3 4\n", ErrMalformed, "line 1"},
	} {
		got, err := ParseStat([]CPUTicks{{CPU: 99}}, []byte(tt.text))
		if !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.says) || len(got) != 1 {
			t.Errorf("%q: %v, %v, want %v saying %q", tt.text, got, err, tt.is, tt.says)
		}
	}
}

// statByFields is the oracle of ParseStat: slow, and by other means.
func statByFields(text string) ([]CPUTicks, error) {
	var out []CPUTicks
	last := int64(-1)
	for line := range strings.SplitSeq(text, "\n") {
		if !strings.HasPrefix(line, "cpu") {
			break
		}
		f := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' })
		if f[0] == "cpu" {
			continue
		}
		id, err := strconv.ParseUint(f[0][3:], 10, 16)
		if err != nil || int64(id) <= last {
			return nil, fmt.Errorf("id %q: %w", f[0], ErrMalformed)
		}
		last = int64(id)
		var v [tickColumns]uint64
		for i, s := range f[1:min(len(f), 1+tickColumns)] {
			if v[i], err = strconv.ParseUint(s, 10, 64); err != nil {
				return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
			}
		}
		if len(f) < 5 {
			return nil, ErrMalformed
		}
		out = append(out, CPUTicks{int32(id), v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9]})
	}
	if strings.Trim(text, " \t\n") == "" {
		return nil, ErrEmpty
	}
	if out == nil {
		return nil, ErrMalformed
	}
	return out, nil
}

func sameStat(t *testing.T, text []byte) {
	t.Helper()
	got, err := ParseStat(nil, text)
	want, oracle := statByFields(string(text))
	if kind(err) != kind(oracle) || !slices.Equal(got, want) {
		t.Fatalf("%v, %v\noracle %v, %v\nof %q", got, err, want, oracle, text)
	}
}

func TestStatAllocations(t *testing.T) {
	var b strings.Builder
	b.WriteString("cpu  1 2 3 4 5 6 7 8 9 10\n")
	for c := range 64 {
		fmt.Fprintf(&b, "cpu%d %d 2 3 4 5 6 7 8 9 10\n", c, c)
	}
	text := []byte(b.String())
	var rows []CPUTicks
	if n := testing.AllocsPerRun(10, func() {
		var err error
		if rows, err = ParseStat(rows[:0], text); err != nil || len(rows) != 64 {
			t.Fatal(len(rows), err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
