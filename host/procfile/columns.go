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

// header is the first line and the CPUs it names. The line is kept because it
// hardly ever changes from reading to reading, and comparing it is far cheaper
// than reading hundreds of names again.
type header struct {
	line []byte
	cpus []int32
}

// parse reads "  CPU0  CPU1  CPU4 ..." at the start of text and returns the offset
// of the second line. The kernel walks a CPU mask, so ids only ascend. After an
// error the header is empty.
func (h *header) parse(text []byte) (next int, err error) {
	end := lineEnd(text, 0)
	next = min(end+1, len(text))
	if len(h.line) > 0 && len(text) <= math.MaxInt32 && bytes.Equal(h.line, text[:end]) {
		return next, nil
	}
	h.line = h.line[:0]
	if h.cpus, err = parseCPUs(h.cpus[:0], text, end); err != nil {
		h.cpus = h.cpus[:0]
		return 0, err
	}
	h.line = append(h.line, text[:end]...)
	return next, nil
}

func parseCPUs(cpus []int32, text []byte, end int) ([]int32, error) {
	if blankText(text) {
		return cpus, ErrEmpty
	}
	if len(text) > math.MaxInt32 {
		return cpus, lineError(text, 0, ErrMalformed, "%d bytes, over 2 GiB", len(text))
	}
	line := text[:end]
	for p := skipBlanks(line, 0); p < end; p = skipBlanks(line, p) {
		id, next, ok := cpuID(line, p, "CPU")
		if !ok {
			for next = p; next < end && !isBlank(line[next]); {
				next++
			}
			return cpus, lineError(text, 0, ErrMalformed, "%s in the header is not a CPU", quote(line[p:next]))
		}
		if n := len(cpus); n > 0 && cpus[n-1] >= id {
			return cpus, lineError(text, 0, ErrMalformed, "CPU%d follows CPU%d in the header", id, cpus[n-1])
		}
		cpus, p = append(cpus, id), next
	}
	if len(cpus) == 0 {
		return cpus, lineError(text, 0, ErrMalformed, "no CPU in the header")
	}
	return cpus, nil
}

// cpuID reads the word "CPU12" or "cpu12" at line[p:] and returns what is behind.
func cpuID(line []byte, p int, prefix string) (id int32, next int, ok bool) {
	if len(line)-p < len(prefix) || string(line[p:p+len(prefix)]) != prefix {
		return 0, 0, false
	}
	p += len(prefix)
	v, next, ok := digits(line, p)
	return int32(v), next, ok && next > p && v < maxCPU && (next == len(line) || isBlank(line[next]))
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
		if len(row)-c >= 64 && text[p+width-2] == ' ' && string(text[p:p+64*width]) == zeros64 {
			clear(row[c : c+64])
			c, p = c+64, p+64*width
			continue
		}
		for stop := min(c+64, len(row)); c < stop; {
			// The tens are looked at first: it saves the call where counts are not 0.
			if stop-c >= 8 && text[p+width-2] == ' ' && string(text[p:p+8*width]) == zeros8 {
				clear(row[c : c+8])
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

const (
	ones     = 0x0101010101010101
	zeroTail = 0x3020202020202020 // "       0"
	lastByte = 0x10 << 56
)

// counts reads eight columns of a blank and ten bytes, blanks and behind them digits.
// But for zeros it has no branch on what it reads, since counts of all lengths
// follow each other. Of each column eight bytes are done in one word and the two
// before them by table.
func counts(text *[8 * width]byte, row *[8]uint32) (ok bool) {
	bad := uint64(0)
	for i := range row {
		f := (*[width]byte)(text[i*width:])
		w, x := binary.LittleEndian.Uint32(f[:]), binary.LittleEndian.Uint64(f[3:])
		if x == zeroTail && w == zeroTail&math.MaxUint32 {
			row[i] = 0
			continue
		}
		// A blank is 001_00000, a digit 001_1 and its value: the top three bits
		// are the same, the next tells them apart.
		top := tops[w>>8&0x1f|w>>11&0x3e0]
		bad |= uint64(w&0xe0e0ff^0x202020) | top&topBad
		digit, v := x&(ones*0x10), x&(ones*0x0f)
		bad |= x&(ones*0xe0) ^ ones*0x20
		// A digit's value over 9, a blank's over 0.
		bad |= (v + ones*6 | (v+ones*15)&^digit) & (ones * 0x10)
		bad |= (digit<<8 | top&topDigit | lastByte) &^ digit
		v = v * (1 + 10<<8) >> 8 & 0x00ff00ff00ff00ff
		v = v * (1 + 100<<16) >> 16 & 0x0000ffff0000ffff
		v = v*(1+10000<<32)>>32 + top>>topShift
		bad |= v >> 32
		row[i] = uint32(v)
	}
	return bad == 0
}

// tops has, for the low five bits of the first two of ten bytes, what they add to
// the number, shifted by topShift, and two flags.
var tops [1 << 10]uint64

const (
	topBad   = 1 << 0 // a character between, or a blank behind a digit
	topDigit = 0x10   // the second is a digit: another must follow
	topShift = 8
)

func init() {
	for i := range uint64(len(tops)) {
		a, b := i&0x1f, i>>5
		digitA, digitB := a >= 16 && a < 26, b >= 16 && b < 26
		switch {
		case a == 0 && b == 0:
		case a == 0 && digitB:
			tops[i] = (b-16)*1e8<<topShift | topDigit
		case digitA && digitB:
			tops[i] = ((a-16)*1e9+(b-16)*1e8)<<topShift | topDigit
		default:
			tops[i] = topBad
		}
	}
}

// extend returns cells with room for n more at its end; what they hold is old.
func extend(cells []uint32, n int) []uint32 {
	return slices.Grow(cells, n)[:len(cells)+n]
}
