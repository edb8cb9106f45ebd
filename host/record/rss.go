package record

import (
	"strings"

	"github.com/netsteer/netsteer/host"
)

// maxTable is the number of entries of the largest RSS table there is room for
// in ETHTOOL_GRSSH's answer that any driver uses (2,048) many times over.
const maxTable = 1 << 16

// parseRSS reads ethtool -x. Table is nil where the output says that it cannot
// be told; the rest still counts.
func parseRSS(text []byte) (host.RSS, error) {
	var rss host.RSS
	const (
		other = iota
		table
		function
	)
	part, seen := other, false
	for line := range lines(text) {
		switch {
		case strings.HasPrefix(line, "RX flow hash indirection table for "):
			part = table
			continue
		case strings.HasPrefix(line, "RSS hash function"):
			part = function
			continue
		case strings.HasPrefix(line, "RSS "): // hash key, input transformation
			part = other
			continue
		}
		name, value, ok := field(line)
		switch {
		case !ok:
		case part == table:
			row, good := tableRow(name, value, len(rss.Table))
			if !good || len(rss.Table)+len(row) > maxTable {
				return host.RSS{}, errNotEthtool
			}
			rss.Table, seen = append(rss.Table, row...), true
		case part == function && value == "on":
			rss.Hash, seen = name, true
		case part == function && value == "off":
			seen = true
		}
	}
	if !seen {
		return host.RSS{}, refusal(text)
	}
	return rss, nil
}

// tableRow reads "   16:      0     1 ...": the first entry's index and up to
// eight queues, in rows that follow one another without a gap.
func tableRow(index, queues string, next int) ([]uint32, bool) {
	if n, ok := number(index); !ok || n != uint64(next) {
		return nil, false
	}
	var row []uint32
	for f := range strings.FieldsSeq(queues) {
		q, ok := number(f)
		if !ok || q > maxTable {
			return nil, false
		}
		row = append(row, uint32(q))
	}
	return row, len(row) > 0
}
