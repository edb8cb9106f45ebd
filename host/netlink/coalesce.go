package netlink

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Param is a named setting; a flag (adaptive-rx, cqe-mode-tx) is 0 or 1.
type Param struct {
	Name  string // as `ethtool -C` takes it
	Value uint32
}

// Coalesce is `ethtool -c`, sorted by name: only what the driver supports is in it.
type Coalesce []Param

// Get returns the value of one parameter.
func (c Coalesce) Get(name string) (value uint32, ok bool) {
	i, ok := slices.BinarySearchFunc(c, name, func(p Param, n string) int { return strings.Compare(p.Name, n) })
	if !ok {
		return 0, false
	}
	return c[i].Value, true
}

// coalesceNames are ethtool(8)'s words for ETHTOOL_A_COALESCE_*.
var coalesceNames = map[uint16]string{
	unix.ETHTOOL_A_COALESCE_RX_USECS:             "rx-usecs",
	unix.ETHTOOL_A_COALESCE_RX_MAX_FRAMES:        "rx-frames",
	unix.ETHTOOL_A_COALESCE_RX_USECS_IRQ:         "rx-usecs-irq",
	unix.ETHTOOL_A_COALESCE_RX_MAX_FRAMES_IRQ:    "rx-frames-irq",
	unix.ETHTOOL_A_COALESCE_TX_USECS:             "tx-usecs",
	unix.ETHTOOL_A_COALESCE_TX_MAX_FRAMES:        "tx-frames",
	unix.ETHTOOL_A_COALESCE_TX_USECS_IRQ:         "tx-usecs-irq",
	unix.ETHTOOL_A_COALESCE_TX_MAX_FRAMES_IRQ:    "tx-frames-irq",
	unix.ETHTOOL_A_COALESCE_STATS_BLOCK_USECS:    "stats-block-usecs",
	unix.ETHTOOL_A_COALESCE_USE_ADAPTIVE_RX:      "adaptive-rx",
	unix.ETHTOOL_A_COALESCE_USE_ADAPTIVE_TX:      "adaptive-tx",
	unix.ETHTOOL_A_COALESCE_PKT_RATE_LOW:         "pkt-rate-low",
	unix.ETHTOOL_A_COALESCE_RX_USECS_LOW:         "rx-usecs-low",
	unix.ETHTOOL_A_COALESCE_RX_MAX_FRAMES_LOW:    "rx-frames-low",
	unix.ETHTOOL_A_COALESCE_TX_USECS_LOW:         "tx-usecs-low",
	unix.ETHTOOL_A_COALESCE_TX_MAX_FRAMES_LOW:    "tx-frames-low",
	unix.ETHTOOL_A_COALESCE_PKT_RATE_HIGH:        "pkt-rate-high",
	unix.ETHTOOL_A_COALESCE_RX_USECS_HIGH:        "rx-usecs-high",
	unix.ETHTOOL_A_COALESCE_RX_MAX_FRAMES_HIGH:   "rx-frames-high",
	unix.ETHTOOL_A_COALESCE_TX_USECS_HIGH:        "tx-usecs-high",
	unix.ETHTOOL_A_COALESCE_TX_MAX_FRAMES_HIGH:   "tx-frames-high",
	unix.ETHTOOL_A_COALESCE_RATE_SAMPLE_INTERVAL: "sample-interval",
	unix.ETHTOOL_A_COALESCE_USE_CQE_MODE_TX:      "cqe-mode-tx",
	unix.ETHTOOL_A_COALESCE_USE_CQE_MODE_RX:      "cqe-mode-rx",
	aCoalesceTXAggrMaxBytes:                      "tx-aggr-max-bytes",
	aCoalesceTXAggrMaxFrames:                     "tx-aggr-max-frames",
	aCoalesceTXAggrTimeUsecs:                     "tx-aggr-time-usecs",
}

// Coalesce reads ETHTOOL_MSG_COALESCE_GET (Linux 5.7).
func (c *Conn) Coalesce(ifindex int) (Coalesce, error) {
	var co Coalesce
	err := c.ask("ethtool coalesce-get", unix.ETHTOOL_MSG_COALESCE_GET, ifindex, nil, co.decode)
	return co, err
}

func (c *Coalesce) decode(attrs []byte) error {
	err := walk(attrs, func(typ uint16, v []byte) error {
		name, ok := coalesceNames[typ]
		if !ok {
			return nil
		}
		n, err := count(v)
		*c = append(*c, Param{name, n.N})
		return err
	})
	slices.SortFunc(*c, func(a, b Param) int { return strings.Compare(a.Name, b.Name) })
	return err
}
