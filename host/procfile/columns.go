package procfile

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strings"
)

// maxCPU bounds CPU ids: NR_CPUS is at most 8192 (arch/x86/Kconfig, 7.2), and a
// reader that sizes tables by the id must not be led astray by a forged file.
const maxCPU = 1 << 16

// parseHeader reads the first line, "  CPU0  CPU1  CPU4 ...", and returns the
// ids and the offset of the second line. The kernel walks a CPU mask, so ids
// only ascend.
func parseHeader(cpus []int32, text []byte) ([]int32, int, error) {
	if blankText(text) {
		return cpus, 0, ErrEmpty
	}
	if len(text) > math.MaxInt32 {
		return cpus, 0, lineError(text, 0, ErrMalformed, "%d bytes, over 2 GiB", len(text))
	}
	end := lineEnd(text, 0)
	line := text[:end]
	for p := skipBlanks(line, 0); p < end; p = skipBlanks(line, p) {
		word := p
		for p < end && !isBlank(line[p]) {
			p++
		}
		id, ok := cpuID(line[word:p], "CPU")
		if !ok {
			return cpus, 0, lineError(text, 0, ErrMalformed, "%s in the header is not a CPU", quote(line[word:p]))
		}
		if n := len(cpus); n > 0 && cpus[n-1] >= id {
			return cpus, 0, lineError(text, 0, ErrMalformed, "CPU%d follows CPU%d in the header", id, cpus[n-1])
		}
		cpus = append(cpus, id)
	}
	if len(cpus) == 0 {
		return cpus, 0, lineError(text, 0, ErrMalformed, "no CPU in the header")
	}
	return cpus, min(end+1, len(text)), nil
}

// cpuID reads "CPU12" or "cpu12".
func cpuID(word []byte, prefix string) (int32, bool) {
	n := len(prefix)
	if len(word) <= n || string(word[:n]) != prefix {
		return 0, false
	}
	v, end, ok := digits(word, n)
	return int32(v), ok && end == len(word) && v < maxCPU
}

// label finds "  name:" at the start of line: the name, one word, and the offset
// behind the colon. Counts may touch it: "IPI0:2768808080" (arm64 up to 6.12).
func label(line []byte) (lo, hi, next int, ok bool) {
	colon := bytes.IndexByte(line, ':')
	if colon < 0 {
		return 0, 0, 0, false
	}
	lo, hi = trim(line, 0, colon)
	return lo, hi, colon + 1, lo < hi && bytes.IndexAny(line[lo:hi], " \t") < 0
}

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
	for c := 0; c < len(row); {
		if len(row)-c >= 64 && string(text[p:p+64*width]) == zeros64 {
			clear(row[c : c+64])
			c, p = c+64, p+64*width
			continue
		}
		for stop := min(c+64, len(row)); c < stop; {
			if stop-c >= 8 && string(text[p:p+8*width]) == zeros8 {
				clear(row[c : c+8])
				c, p = c+8, p+8*width
				continue
			}
			for few := min(c+8, stop); c < few; c, p = c+1, p+width {
				v, ok := count((*[width]byte)(text[p:]))
				if !ok {
					return 0, false
				}
				row[c] = v
			}
		}
	}
	return p, true
}

const (
	ones = 0x0101010101010101
	zero = 0x3020202020202020 // "       0"
)

// count reads one column: a blank, then ten bytes of blanks and digits with no
// blank behind a digit. The last eight are done at once in a word.
func count(f *[width]byte) (uint32, bool) {
	x := binary.LittleEndian.Uint64(f[3:])
	if f[0] != ' ' {
		return 0, false
	}
	high := f[1] != ' ' || f[2] != ' '
	if x == zero && !high {
		return 0, true
	}
	// '0'..'9' become 0..9 and ' ' becomes 0x10, which is then cleared.
	x ^= ones * '0'
	blank := x >> 4 & ones
	x ^= blank << 4
	mask := blank * 0xff
	bad := (x | (x + ones*0x76)) & (ones * 0x80) // not below 10
	bad |= x & mask                              // 0x21..0x2f, which the clearing hid
	bad |= mask & (mask + 1)                     // a blank behind a digit
	if bad != 0 || mask>>56 != 0 {
		return 0, false
	}
	x = x*10 + x>>8
	v := ((x&0x000000ff000000ff)*(100+1000000<<32) + (x>>16&0x000000ff000000ff)*(1+10000<<32)) >> 32
	if !high {
		return uint32(v), true
	}
	d, e := f[1]-'0', f[2]-'0'
	if f[1] == ' ' {
		d = 0
	}
	if mask != 0 || d > 9 || e > 9 {
		return 0, false
	}
	v = uint64(uint32(v)) + uint64(d)*1e9 + uint64(e)*1e8
	return uint32(v), v <= math.MaxUint32
}

// extend returns cells with room for n more at its end; what they hold is old.
func extend(cells []uint32, n int) []uint32 {
	return slices.Grow(cells, n)[:len(cells)+n]
}
