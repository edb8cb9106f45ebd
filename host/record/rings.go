package record

import "github.com/netsteer/netsteer/host"

// parseRings reads ethtool -g.
func parseRings(text []byte) (host.Rings, error) {
	p := pairs(text)
	r := host.Rings{RX: p["RX"], TX: p["TX"]}
	if r == (host.Rings{}) {
		return r, refusal(text)
	}
	return r, nil
}
