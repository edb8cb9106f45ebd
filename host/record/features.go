package record

import (
	"strings"

	"github.com/netsteer/netsteer/host"
)

// parseFeatures reads ethtool -k: every name with "on" or "off". What stands in
// brackets ([fixed], [requested on], [not requested]) is not the state.
func parseFeatures(text []byte) ([]host.Option, error) {
	found := map[string]string{}
	for line := range lines(text) {
		name, value, _ := field(line)
		value, _, _ = strings.Cut(value, " ")
		if name != "" && (value == "on" || value == "off") {
			found[name] = value
		}
	}
	if len(found) == 0 {
		return nil, refusal(text)
	}
	return options(found), nil
}
