package procfile

import (
	"fmt"
	"math"
)

// ParseUint is the decimal content of a file, "8\n". Blanks and newlines around
// it are trimmed. The error is ErrEmpty or wraps ErrMalformed.
func ParseUint(text []byte) (uint64, error) {
	b := trimSpace(text)
	if len(b) == 0 {
		return 0, ErrEmpty
	}
	v, end, ok := digits(b, 0)
	switch {
	case end != len(b):
		return 0, fmt.Errorf("%s is not a decimal number: %w", quote(b), ErrMalformed)
	case !ok:
		return 0, fmt.Errorf("%s is over 64 bits: %w", quote(b), ErrMalformed)
	}
	return v, nil
}

// ParseInt is ParseUint with an optional minus sign: numa_node is "-1\n" where
// there is none.
func ParseInt(text []byte) (int64, error) {
	b := trimSpace(text)
	negative := len(b) > 1 && b[0] == '-' && isDigit(b[1])
	if !negative {
		v, err := ParseUint(b)
		if err == nil && v > math.MaxInt64 {
			err = fmt.Errorf("%s is over 63 bits: %w", quote(b), ErrMalformed)
		}
		if err != nil {
			return 0, err
		}
		return int64(v), nil
	}
	v, err := ParseUint(b[1:])
	if err == nil && v > -math.MinInt64 {
		err = fmt.Errorf("%s is over 63 bits: %w", quote(b), ErrMalformed)
	}
	if err != nil {
		return 0, err
	}
	return int64(-v), nil
}

func trimSpace(b []byte) []byte {
	for len(b) > 0 && (isBlank(b[0]) || b[0] == '\n') {
		b = b[1:]
	}
	for n := len(b); n > 0 && (isBlank(b[n-1]) || b[n-1] == '\n'); n-- {
		b = b[:n-1]
	}
	return b
}

// ParsePerCPUCount appends /sys/kernel/irq/N/per_cpu_count ("0,4,17\n", since
// 4.9) to dst: one IRQ's count on each possible CPU in the order of ids, wrapping
// at 2^32. The error is ErrEmpty or wraps ErrMalformed; the counts are then those
// of dst. A file that fills its page is refused: the kernel has cut it, perhaps
// within a number (kernel/irq/irqdesc.c prints into one page; with ten-digit
// counts that is enough for 372 CPUs).
func ParsePerCPUCount(dst []uint32, text []byte) ([]uint32, error) {
	b := trimSpace(text)
	if len(b) == 0 {
		return dst, ErrEmpty
	}
	if len(text)%4096 == 4095 && text[len(text)-1] != '\n' {
		return dst, fmt.Errorf("cut by the kernel after %d bytes, only /proc/interrupts has it whole: %w", len(text), ErrMalformed)
	}
	out := dst
	for p := 0; ; p++ {
		v, end, ok := digits(b, p)
		if end == p || !ok || v > math.MaxUint32 || end < len(b) && b[end] != ',' {
			return dst, fmt.Errorf("count %d is not a 32-bit number: %w", len(out)-len(dst)+1, ErrMalformed)
		}
		out = append(out, uint32(v))
		if end == len(b) {
			return out, nil
		}
		p = end
	}
}
