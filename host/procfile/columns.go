package procfile

import (
	"math"
	"slices"
	"strings"
)

// countsError says why a row of counts can't be read.
type countsError int

const (
	countsOK countsError = iota
	over32
	over64
)

// scalarCounts reads up to len(row) numbers of line from p on, and stops before
// the first word that is none. It returns how many there were and the offset
// behind them; cells without a number become 0. With low32 a number over 32 bits
// (ERR and MIS are longs on some architectures) keeps its low half.
func scalarCounts(line []byte, p int, row []uint32, low32 bool) (n, next int, why countsError) {
	for n < len(row) {
		q := skipBlanks(line, p)
		v, end, ok := digits(line, q)
		if end == q || end < len(line) && !isBlank(line[end]) {
			break
		}
		if !ok {
			return n, p, over64
		}
		if v > math.MaxUint32 && !low32 {
			return n, p, over32
		}
		row[n] = uint32(v)
		n, p = n+1, end
	}
	clear(row[n:])
	return n, p, countsOK
}

// A count is printed as " %10u": kernel/irq/proc.c, fs/proc/softirqs.c.
const width = 11

// Most counts of a large machine are 0, and comparing a run of them with a
// constant is as fast as memory.
const zeros8 = "          0          0          0          0          0          0          0          0"

var zeros64 = strings.Repeat(zeros8, 8)

// fastCounts reads len(row) columns of fixed width at text[p:] and returns the
// offset behind them. Every byte is checked; ok is false, and row undefined,
// where anything is laid out otherwise.
func fastCounts(text []byte, p int, row []uint32) (next int, ok bool) {
	if len(text)-p < width*len(row) {
		return 0, false
	}
	clear(row) // at once: runs of zeros are then only stepped over
	for c := 0; c < len(row); {
		if len(row)-c >= 64 && text[p+width-2] == ' ' && string(text[p:p+64*width]) == zeros64 {
			c, p = c+64, p+64*width
			continue
		}
		for stop := min(c+64, len(row)); c < stop; {
			// The tens are looked at first: it saves the call where counts are not 0.
			if stop-c >= 8 && text[p+width-2] == ' ' && string(text[p:p+8*width]) == zeros8 {
				c, p = c+8, p+8*width
				continue
			}
			if stop-c < 8 {
				return lastCounts(text, p, row[c:])
			}
			if !counts((*[8 * width]byte)(text[p:]), (*[8]uint32)(row[c:])) {
				return 0, false
			}
			c, p = c+8, p+8*width
		}
	}
	return p, true
}

// lastCounts reads the columns behind the last eight, filled up with zeros.
func lastCounts(text []byte, p int, row []uint32) (next int, ok bool) {
	var eight [8]uint32
	next = p + width*len(row)
	f := [8 * width]byte([]byte(zeros8))
	copy(f[:], text[p:next])
	ok = counts(&f, &eight)
	copy(row, eight[:])
	return next, ok
}

// extend returns cells with room for n more at its end; what they hold is old.
func extend(cells []uint32, n int) []uint32 {
	return slices.Grow(cells, n)[:len(cells)+n]
}
