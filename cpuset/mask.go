package cpuset

import (
	"fmt"
	"strings"
)

const wordBits, wordDigits = 32, 8

// ParseMask reads mask text: 32-bit words of at most 8 hex digits, most
// significant first, separated by commas (bitmap_parse(), lib/bitmap-str.c,
// Linux 7.2). Empty words count as zero and a 0x prefix is dropped: the kernel
// never prints them and refuses the prefix, but tools and people write both.
// Nine digits in one word are refused as the kernel does (EOVERFLOW): they are
// the classic fault of masks made with printf.
func ParseMask(text string) (Set, error) {
	trim := strings.TrimSpace(text)
	if trim == "" {
		return Set{}, fmt.Errorf("CPU mask is empty")
	}
	words := strings.Split(trim, ",")
	if len(words) > Max/wordBits {
		return Set{}, fmt.Errorf("CPU mask %q: more than %d words", clip(trim), Max/wordBits)
	}
	var b Builder
	for i, w := range words {
		base := (len(words) - 1 - i) * wordBits
		v, err := parseWord(w)
		if err != nil {
			return Set{}, fmt.Errorf("CPU mask %q: %w", clip(trim), err)
		}
		for bit := range wordBits {
			if v&(1<<bit) != 0 {
				b.Add(base + bit)
			}
		}
	}
	return b.Set(), nil
}

func parseWord(w string) (uint32, error) {
	if len(w) > 2 && w[0] == '0' && (w[1] == 'x' || w[1] == 'X') {
		w = w[2:]
	}
	if len(w) > wordDigits {
		return 0, fmt.Errorf("word %q has more than 8 hex digits; write CPUs above 31 as comma-separated 32-bit words", clip(w))
	}
	var v uint32
	for i := range len(w) {
		d := hexValue(w[i])
		if d > 15 {
			return 0, fmt.Errorf("word %q is not hexadecimal", clip(w))
		}
		v = v<<4 | d
	}
	return v, nil
}

func hexValue(c byte) uint32 {
	switch {
	case c >= '0' && c <= '9':
		return uint32(c - '0')
	case c >= 'a' && c <= 'f':
		return uint32(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return uint32(c-'A') + 10
	}
	return 16
}

// Mask returns mask text for a kernel of nrCPUs possible CPU ids (nr_cpu_ids),
// as the kernel prints it with %*pb: every word below the first has 8 digits,
// the first just as many as nrCPUs needs. A kernel refuses more words than
// that, even zeros. CPUs at or above nrCPUs widen the text.
func (s Set) Mask(nrCPUs int) string {
	nrCPUs = max(nrCPUs, s.Last()+1, 1)
	words := (nrCPUs + wordBits - 1) / wordBits
	topDigits := (nrCPUs - (words-1)*wordBits + 3) / 4
	var sb strings.Builder
	for w := words - 1; w >= 0; w-- {
		digits := wordDigits
		if w == words-1 {
			digits = topDigits
		} else {
			sb.WriteByte(',')
		}
		fmt.Fprintf(&sb, "%0*x", digits, s.word(w))
	}
	return sb.String()
}

func (s Set) word(w int) uint32 {
	var v uint32
	for i := range 4 {
		if at := w*4 + i; at < len(s.bits) {
			v |= uint32(s.bits[at]) << (8 * i)
		}
	}
	return v
}
