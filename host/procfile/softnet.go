package procfile

import "encoding/binary"

// SoftnetRow is one online CPU's line of /proc/net/softnet_stat
// (net/core/net-procfs.c, 2.6.18 to 7.2). The counters wrap at 2^32.
type SoftnetRow struct {
	// CPU is the id the kernel prints since 5.10, else -1: then row k is the k-th
	// online CPU.
	CPU int32
	// Columns is how many the kernel printed, up to the 15 known here: 9 (2.6.18),
	// 10 (2.6.32: received_rps), 11 (3.11: flow_limit), 13 (5.10: backlog length,
	// CPU), 15 (6.4: the two queue lengths). Fields beyond it are 0.
	Columns int32

	Processed   uint32 // passes through protocol receive, not packets
	Dropped     uint32 // refused by this CPU's backlog
	TimeSqueeze uint32 // net_rx_action left with work to do
	ReceivedRPS uint32 // wake-ups by another CPU, not packets
	FlowLimit   uint32 // counted on the CPU that enqueues
	BacklogLen  uint32 // now; InputQlen + ProcessQlen since 6.4
	InputQlen   uint32 // now
	ProcessQlen uint32 // now
}

const softnetColumns = 15

// ParseSoftnet appends the rows of text to dst. The error is ErrEmpty or wraps
// ErrMalformed with the line and the reason; the rows are then those of dst.
func ParseSoftnet(dst []SoftnetRow, text []byte) ([]SoftnetRow, error) {
	return parseSoftnet(dst, text, true)
}

// ParseSoftnetScalar is ParseSoftnet without the fast path.
func ParseSoftnetScalar(dst []SoftnetRow, text []byte) ([]SoftnetRow, error) {
	return parseSoftnet(dst, text, false)
}

func parseSoftnet(dst []SoftnetRow, text []byte, fast bool) ([]SoftnetRow, error) {
	if blankText(text) {
		return dst, ErrEmpty
	}
	out := dst
	var v [softnetColumns]uint32
	for p := 0; p < len(text); {
		n, next := 0, 0
		if fast {
			n, next = fastSoftnet(text, p, &v)
		}
		if next == 0 {
			var err error
			if n, next, err = scalarSoftnet(text, p, &v); err != nil {
				return dst, err
			}
		}
		if n > 0 {
			r := SoftnetRow{
				CPU: -1, Columns: int32(n),
				Processed: v[0], Dropped: v[1], TimeSqueeze: v[2],
				ReceivedRPS: v[9], FlowLimit: v[10], BacklogLen: v[11],
				InputQlen: v[13], ProcessQlen: v[14],
			}
			if n > 12 {
				if v[12] >= maxCPU {
					return dst, lineError(text, p, ErrMalformed, "column 13 is no CPU: %d", v[12])
				}
				r.CPU = int32(v[12])
			}
			out = append(out, r)
		}
		p = next
	}
	return out, nil
}

// scalarSoftnet reads the line at p: n columns, 0 for a blank line. Columns of
// later kernels, behind the 15th, are not looked at.
func scalarSoftnet(text []byte, p int, v *[softnetColumns]uint32) (n, next int, err error) {
	end := lineEnd(text, p)
	line := text[p:end]
	clear(v[:])
	for q := skipBlanks(line, 0); q < len(line) && n < softnetColumns; q = skipBlanks(line, q) {
		word := q
		for q < len(line) && !isBlank(line[q]) {
			d := hexDigit(line[q])
			if d > 15 || q-word == 8 {
				return 0, 0, lineError(text, p, ErrMalformed, "column %d is not 32 bits in hexadecimal", n+1)
			}
			v[n] = v[n]<<4 | d
			q++
		}
		n++
	}
	if n > 0 && n < 9 {
		return 0, 0, lineError(text, p, ErrMalformed, "%d columns, at least 9 are expected", n)
	}
	return n, min(end+1, len(text)), nil
}

// hexDigit is the value of c, or something above 15.
func hexDigit(c byte) uint32 {
	switch {
	case c-'0' <= 9:
		return uint32(c - '0')
	case c|0x20-'a' <= 5:
		return uint32(c|0x20-'a') + 10
	}
	return 16
}

// fastSoftnet takes the line at p if it is 9 to 15 times "%08x" with one blank
// between; next is 0 if it is anything else.
func fastSoftnet(text []byte, p int, v *[softnetColumns]uint32) (n, next int) {
	for ; n < softnetColumns; n++ {
		if len(text)-p < 8 {
			return 0, 0
		}
		x, ok := hex8(binary.BigEndian.Uint64(text[p:]))
		if !ok {
			return 0, 0
		}
		v[n] = x
		p += 8
		if p == len(text) || text[p] == '\n' {
			n++
			break
		}
		if text[p] != ' ' {
			return 0, 0
		}
		p++
	}
	if n < 9 || p < len(text) && text[p] != '\n' {
		return 0, 0
	}
	clear(v[n:])
	return n, min(p+1, len(text))
}

// hex8 decodes eight digits "0".."9", "a".."f", the first in the high byte of x.
func hex8(x uint64) (uint32, bool) {
	if x == ones*'0' {
		return 0, true
	}
	letter := x >> 6 & ones
	x ^= ones*0x30 ^ letter*(0x30^0x60) // a digit is now 0..9, a letter 1..6
	bad := x & (ones * 0xf0)
	bad |= (x + ones*6 + letter*3) & (ones * 0x10) // digit over 9, letter over 6
	bad |= ^(x + ones*15) & (letter << 4)          // letter 0: '`'
	if bad != 0 {
		return 0, false
	}
	x += letter * 9
	x = (x | x>>4) & 0x00ff00ff00ff00ff
	x = (x | x>>8) & 0x0000ffff0000ffff
	return uint32(x | x>>16), true
}
