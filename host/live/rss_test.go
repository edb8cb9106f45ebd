package live

import (
	"slices"
	"testing"

	"github.com/netsteer/netsteer/host/netlink"
)

func TestRuleQueues(t *testing.T) {
	const wake = netlink.RXDrop - 1 // RX_CLS_FLOW_WAKE
	for _, c := range []struct {
		why     string
		cookies []uint64
		want    []uint32
	}{
		{"no rule", nil, nil},
		{"sorted, each once", []uint64{7, 2, 7, 0}, []uint32{0, 2, 7}},
		{"drop and wake have no queue", []uint64{netlink.RXDrop, 3, wake}, []uint32{3}},
		{"a virtual function's queue 1 is not ours", []uint64{1<<32 | 1, 4}, []uint32{4}},
	} {
		if got := ruleQueues(c.cookies); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.why, got, c.want)
		}
	}
}
