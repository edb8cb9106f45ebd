package record

import (
	"slices"
	"strings"
)

// rules are a device's ntuple rules.
type rules struct {
	count  uint64
	queues []uint32 // sorted, each once
}

// parseRules reads ethtool -n. Rules that drop, wake the host, send to a virtual
// function or to an RSS context send to no queue by number: a context's queues
// are in its own table.
func parseRules(text []byte) (rules, error) {
	var r rules
	seen, queue, direct, context := false, uint32(0), false, false
	end := func() {
		if direct && !context {
			r.queues = append(r.queues, queue)
		}
		direct, context = false, false
	}
	for line := range lines(text) {
		name, value, ok := field(line)
		switch {
		case !ok:
			if n, found := strings.CutPrefix(name, "Total "); found {
				r.count, seen = number(strings.TrimSuffix(n, " rules"))
			}
		case name == "Filter":
			end()
		case name == "RSS Context ID":
			context = true
		case name == "Action":
			if s, found := strings.CutPrefix(value, "Direct to queue "); found {
				n, known := number(s)
				queue, direct = uint32(n), known && n <= maxTable
			}
		}
	}
	end()
	if !seen {
		return rules{}, refusal(text)
	}
	slices.Sort(r.queues)
	r.queues = slices.Compact(r.queues)
	return r, nil
}
