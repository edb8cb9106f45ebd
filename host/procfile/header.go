package procfile

import (
	"bytes"
	"math"
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
	return lo, hi, colon + 1, lo < hi && !bytes.ContainsAny(line[lo:hi], " \t")
}
