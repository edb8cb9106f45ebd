package record

import "github.com/netsteer/netsteer/host"

// parseChannels reads ethtool -l.
func parseChannels(text []byte) (host.Channels, error) {
	p := pairs(text)
	c := host.Channels{RX: p["RX"], TX: p["TX"], Other: p["Other"], Combined: p["Combined"]}
	if c == (host.Channels{}) {
		return c, refusal(text)
	}
	return c, nil
}
