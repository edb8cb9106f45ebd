package record

import (
	"slices"
	"strings"

	"github.com/netsteer/netsteer/host"
)

// features are those that steer packets or merge them: the ones scan is told of
// on a live machine, too.
var features = []string{"generic-receive-offload", "large-receive-offload", "ntuple-filters", "receive-hashing"}

// parseFeatures reads "on" or "off" from ethtool -k. What stands in brackets
// ([fixed], [requested on], [not requested]) is not the state.
func parseFeatures(text []byte) ([]host.Option, error) {
	found, seen := map[string]string{}, false
	for line := range lines(text) {
		name, value, _ := field(line)
		value, _, _ = strings.Cut(value, " ")
		if value == "on" || value == "off" {
			seen = true
			if slices.Contains(features, name) {
				found[name] = value
			}
		}
	}
	if !seen {
		return nil, refusal(text)
	}
	return options(found), nil
}
