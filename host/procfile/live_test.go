package procfile

import (
	"os"
	"slices"
	"testing"
)

// The files of the machine the tests run on are read the same by both paths.
func TestLive(t *testing.T) {
	read := func(path string) []byte {
		b, err := os.ReadFile(path)
		if err != nil || len(b) == 0 {
			t.Skipf("%s: %d bytes, %v", path, len(b), err)
		}
		return b
	}
	var a Interrupts
	text := read("/proc/interrupts")
	sameInterrupts(t, text, &a)
	if err := a.Parse(text); err != nil || len(a.Rows) == 0 {
		t.Fatalf("%d rows, %v", len(a.Rows), err)
	}
	var s Softirqs
	text = read("/proc/softirqs")
	sameSoftirqs(t, text, &s)
	if err := s.Parse(text); err != nil || s.Row("NET_RX") == nil {
		t.Fatalf("no NET_RX row: %v", err)
	}
	if !slices.Equal(s.CPUs[:1], []int32{0}) {
		t.Errorf("CPUs %v, want CPU 0 first", s.CPUs)
	}
	text = read("/proc/net/softnet_stat")
	sameSoftnet(t, text)
	rows, err := ParseSoftnet(nil, text)
	if err != nil || len(rows) != len(a.CPUs) {
		t.Errorf("%d rows of softnet_stat for %d online CPUs, %v", len(rows), len(a.CPUs), err)
	}
	ticks, err := ParseStat(nil, read("/proc/stat"))
	if err != nil || len(ticks) != len(a.CPUs) {
		t.Errorf("%d CPU lines of stat for %d online CPUs, %v", len(ticks), len(a.CPUs), err)
	}
	for i, c := range ticks {
		if c.CPU != a.CPUs[i] || c.Idle == 0 {
			t.Errorf("stat line %d is %+v, want CPU %d with idle time", i, c, a.CPUs[i])
		}
	}
}
