package main

import (
	"strings"
	"testing"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/watch"
)

// TestMaskText proves that off, unknown and long sets can be told apart.
func TestMaskText(t *testing.T) {
	var even cpuset.Builder
	for cpu := 0; cpu < 64; cpu += 2 {
		even.Add(cpu)
	}
	tests := []struct {
		mask host.Mask
		want string
	}{
		{host.Mask{}, "-"},
		{host.KnownMask(cpuset.Set{}), "off"},
		{host.KnownMask(cpuset.Range(0, 63)), "0-63"},
		{host.KnownMask(even.Set()), "0,2,4,6,8,10,12... (32)"},
	}
	for _, tt := range tests {
		if got := maskText(tt.mask); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

func TestSpeedText(t *testing.T) {
	for bytes, want := range map[uint64]string{
		12.5e6: "100 Mbit/s", 125e6: "1 Gbit/s", 312.5e6: "2.5 Gbit/s", 12.5e9: "100 Gbit/s",
	} {
		if got := speedText(bytes); got != want {
			t.Errorf("%d bytes/s: got %q, want %q", bytes, got, want)
		}
	}
}

// TestPairText proves that a kind of channel that a device does not have is not
// shown, but one that is switched off is.
func TestPairText(t *testing.T) {
	tests := []struct {
		pair host.Pair
		want string
	}{
		{host.Pair{}, ""},
		{host.Pair{Current: host.Known(0), Max: host.Known(0)}, ""},
		{host.Pair{Current: host.Known(0), Max: host.Known(8)}, "rx 0 of 8"},
		{host.Pair{Current: host.Known(4), Max: host.Known(8)}, "rx 4 of 8"},
		{host.Pair{Current: host.Known(4)}, "rx 4"},
	}
	for _, tt := range tests {
		if got := pairText("rx", tt.pair); got != tt.want {
			t.Errorf("%+v: got %q, want %q", tt.pair, got, tt.want)
		}
	}
}

// TestInspectionOfNothing proves that a host without a device says what to do,
// and that what is degraded of other devices than those asked for is left out.
func TestInspectionOfNothing(t *testing.T) {
	state := &watch.State{
		Inventory: &host.Inventory{},
		Sample:    &host.Sample{},
		Degraded: []host.Degraded{
			{Source: host.SourceStat, Reason: host.ReasonMissing, Detail: "two\nlines"},
			{Source: host.SourceRSS, Device: "eth1", Reason: host.ReasonUnsupported},
		},
	}
	var out strings.Builder
	writeInspection(&out, state, []string{"eth0"})
	want := `Linux, CPUs -

no device with a parent or several queues; --device.include=REGEXP takes in others

degraded
  stat: missing (two lines)
`
	if out.String() != want {
		t.Errorf("got:\n%swant:\n%s", out.String(), want)
	}
}
