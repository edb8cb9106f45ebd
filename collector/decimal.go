package collector

import (
	"strconv"
	"sync/atomic"
)

// maxDecimals bounds the table. The kernel hands out the lowest free IRQ
// number, so that even large hosts stay far below.
const maxDecimals = 1 << 16

var decimals atomic.Pointer[[]string]

// decimal gives the label value of an id, "" for -1 (unknown). Ids come again
// at each scrape: their texts are kept.
func decimal(id int) string {
	if id < 0 {
		return ""
	}
	if table := decimals.Load(); table != nil && id < len(*table) {
		return (*table)[id]
	}
	if id >= maxDecimals {
		return strconv.Itoa(id)
	}
	size := 1024
	for size <= id {
		size *= 2
	}
	table := make([]string, size)
	for i := range table {
		table[i] = strconv.Itoa(i)
	}
	// Two scrapes may both grow it, in any order: a smaller table grows again.
	decimals.Store(&table)
	return table[id]
}
