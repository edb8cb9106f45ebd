package procfile

// CPUTicks is one online CPU's line of /proc/stat (fs/proc/stat.c): time since
// boot in clock ticks of USER_HZ, 100 per second. Guest and GuestNice are part of
// User and Nice. IOWait and, over CPU hot plug, Idle may go backwards. What a
// kernel does not print (IOWait, IRQ, SoftIRQ before 2.6; Steal before 2.6.11;
// Guest before 2.6.24; GuestNice before 2.6.33) is 0.
type CPUTicks struct {
	CPU                                                                     int32
	User, Nice, System, Idle, IOWait, IRQ, SoftIRQ, Steal, Guest, GuestNice uint64
}

const tickColumns = 10

// ParseStat appends the per-CPU lines of /proc/stat to dst and reads no further:
// behind them is the line of all interrupts, which can be longer than all else.
// The sum in the first line is left out. The error is ErrEmpty or wraps
// ErrMalformed with the line and the reason; the rows are then those of dst.
func ParseStat(dst []CPUTicks, text []byte) ([]CPUTicks, error) {
	if blankText(text) {
		return dst, ErrEmpty
	}
	out, last := dst, int32(-1)
	for p := 0; p < len(text) && len(text)-p >= 3 && string(text[p:p+3]) == "cpu"; {
		end := lineEnd(text, p)
		line := text[p:end]
		word := 0
		for word < len(line) && !isBlank(line[word]) {
			word++
		}
		if word > 3 {
			id, _, ok := cpuID(line, 0, "cpu")
			if !ok || id <= last {
				return dst, lineError(text, p, ErrMalformed, "%s is not the next CPU", quote(line[:word]))
			}
			v, why := ticks(line, word)
			if why != "" {
				return dst, lineError(text, p, ErrMalformed, "%s: %s", line[:word], why)
			}
			last = id
			out = append(out, CPUTicks{id, v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9]})
		}
		p = min(end+1, len(text))
	}
	if last < 0 {
		return dst, lineError(text, 0, ErrMalformed, "no line of a CPU at its start")
	}
	return out, nil
}

// ticks reads the numbers of a line; those of later kernels, behind the tenth,
// are not looked at.
func ticks(line []byte, p int) (v [tickColumns]uint64, why string) {
	n := 0
	for p = skipBlanks(line, p); p < len(line) && n < tickColumns; p = skipBlanks(line, p) {
		x, end, ok := digits(line, p)
		if !ok || end == p || end < len(line) && !isBlank(line[end]) {
			return v, "a time that is not a 64-bit number"
		}
		v[n] = x
		n, p = n+1, end
	}
	if n < 4 {
		return v, "fewer than 4 times"
	}
	return v, ""
}
