package record

import "strings"

// hashLines are ethtool's words for RXH_* bits and the letters that ethtool -N
// takes for them, in the order of the bits (dump_rxfhash, ethtool 6.11).
var hashLines = []struct{ begin, letter string }{
	{"L2DA", "m"},
	{"VLAN tag", "v"},
	{"L3 proto", "t"},
	{"IP SA", "s"},
	{"IP DA", "d"},
	{"L4 bytes 0 & 1", "f"},
	{"L4 bytes 2 & 3", "n"},
	{"GTP TEID", "e"},
	{"IPv6 Flow Label", "l"},
	{"IPv6 flow label", "l"},
	{"Discard", "r"},
}

// parseHashFields reads ethtool -n DEV rx-flow-hash FLOW: "sd" or "sdfn". "" is
// a flow type that is not hashed.
func parseHashFields(text []byte) (string, error) {
	letters, seen := map[string]bool{}, false
	for line := range lines(text) {
		line = strings.TrimSpace(line)
		seen = seen || strings.Contains(line, "use these fields for computing Hash flow key") ||
			strings.HasPrefix(line, "All matching flows discarded")
		if strings.HasPrefix(line, "All matching flows discarded") {
			letters["r"] = true
		}
		for _, h := range hashLines {
			if strings.HasPrefix(line, h.begin) {
				letters[h.letter] = true
			}
		}
	}
	if !seen {
		return "", refusal(text)
	}
	var fields strings.Builder
	for _, h := range hashLines {
		if letters[h.letter] {
			fields.WriteString(h.letter)
			delete(letters, h.letter)
		}
	}
	return fields.String(), nil
}
