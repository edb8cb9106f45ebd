package record

import (
	"errors"
	"strings"

	"github.com/netsteer/netsteer/host"
)

// parseCoalesce reads ethtool -c. Names are those that ethtool -C takes. Before
// 5.8 ethtool printed 0 for what the driver does not have: no reader can tell.
func parseCoalesce(text []byte) ([]host.Option, error) {
	found := map[string]string{}
	seen := false
	for line := range lines(text) {
		seen = seen || strings.HasPrefix(line, "Coalesce parameters for ")
		for prefix, name := range bothWays {
			if rest, ok := strings.CutPrefix(line, prefix); ok {
				rx, tx, _ := strings.Cut(rest, "TX:")
				put(found, name+"-rx", rx, onOff)
				put(found, name+"-tx", tx, onOff)
			}
		}
		name, value, _ := field(line)
		if name, ok := coalesceName(name); ok {
			put(found, name, value, func(s string) (string, bool) {
				_, ok := number(s)
				return s, ok
			})
		}
	}
	if len(found) == 0 {
		if err := refusal(text); !seen || !errors.Is(err, errNotEthtool) {
			return nil, err
		}
	}
	return options(found), nil
}

// bothWays are the lines with a value for each direction.
var bothWays = map[string]string{"Adaptive RX:": "adaptive", "CQE mode RX:": "cqe-mode"}

func onOff(s string) (string, bool) { return s, s == "on" || s == "off" }

func put(m map[string]string, name, text string, parse func(string) (string, bool)) {
	if v, ok := parse(strings.TrimSpace(text)); ok {
		m[name] = v
	}
}

// coalesceName is the name of a line. ethtool prints rx-frame-low and takes
// rx-frames-low.
func coalesceName(printed string) (string, bool) {
	switch printed {
	case "stats-block-usecs", "sample-interval", "pkt-rate-low", "pkt-rate-high":
		return printed, true
	}
	dir, rest, _ := strings.Cut(printed, "-")
	if dir != "rx" && dir != "tx" {
		return "", false
	}
	switch rest {
	case "frame-low", "frame-high":
		return dir + "-frames" + strings.TrimPrefix(rest, "frame"), true
	case "usecs", "frames", "usecs-irq", "frames-irq", "usecs-low", "usecs-high", "frames-low", "frames-high",
		"aggr-max-bytes", "aggr-max-frames", "aggr-time-usecs":
		return printed, true
	}
	return "", false
}
