package procfile

import (
	"bytes"
	"math"
)

// span is a byte range of the text given to Parse.
type span struct{ lo, hi int32 }

func (s span) of(text []byte) []byte { return text[s.lo:s.hi:s.hi] }

func isBlank(c byte) bool { return c == ' ' || c == '\t' }
func isDigit(c byte) bool { return c-'0' <= 9 }

func skipBlanks(b []byte, p int) int {
	for p < len(b) && isBlank(b[p]) {
		p++
	}
	return p
}

// trim narrows [lo,hi) to what is left without blanks at both ends.
func trim(b []byte, lo, hi int) (int, int) {
	for lo < hi && isBlank(b[lo]) {
		lo++
	}
	for hi > lo && isBlank(b[hi-1]) {
		hi--
	}
	return lo, hi
}

// lineEnd is the offset of the newline at or after p, or the end of b.
func lineEnd(b []byte, p int) int {
	if i := bytes.IndexByte(b[p:], '\n'); i >= 0 {
		return p + i
	}
	return len(b)
}

// blankText reports a file that says nothing. Cheap: the first byte that is
// not white space ends it.
func blankText(b []byte) bool {
	for _, c := range b {
		if !isBlank(c) && c != '\n' {
			return false
		}
	}
	return true
}

// digits reads the decimal number at b[p:]. Its length is 0 where there is no
// digit; ok is false where it is over 64 bits.
func digits(b []byte, p int) (v uint64, end int, ok bool) {
	ok = true
	for ; p < len(b) && isDigit(b[p]); p++ {
		d := uint64(b[p] - '0')
		if v > math.MaxUint64/10 || v == math.MaxUint64/10 && d > math.MaxUint64%10 {
			ok = false
		}
		v = v*10 + d
	}
	return v, p, ok
}

// startsWithNumber reports whether the first word of b is a number.
func startsWithNumber(b []byte) bool {
	i := 0
	for i < len(b) && isDigit(b[i]) {
		i++
	}
	return i > 0 && (i == len(b) || isBlank(b[i]))
}
