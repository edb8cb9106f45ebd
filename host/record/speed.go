package record

import (
	"strings"

	"github.com/netsteer/netsteer/host"
)

// parseSpeed reads "Speed: 10000Mb/s" of plain ethtool, in bytes per second;
// unknown where the link is down ("Unknown!") or has none.
func parseSpeed(text []byte) (host.Count, error) {
	for line := range lines(text) {
		name, value, _ := field(line)
		if name != "Speed" {
			continue
		}
		mbit, ok := number(strings.TrimSuffix(value, "Mb/s"))
		if !ok || mbit > 1e9 {
			return host.Count{}, nil
		}
		return host.Known(mbit * 125_000), nil
	}
	if strings.HasPrefix(string(text), "Settings for ") && !strings.Contains(string(text), "No data available") {
		return host.Count{}, nil // a virtual device may have no speed
	}
	return host.Count{}, refusal(text)
}
