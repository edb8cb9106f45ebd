package procfile

import (
	"encoding/binary"
	"math"
)

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
