package procfile

import "math"

// Interrupts is /proc/interrupts as a flat matrix that is reused from reading to
// reading (kernel/irq/proc.c and arch_show_interrupts, 2.6 to 7.2). It keeps byte
// ranges into the text given to Parse, which must stay unchanged while the labels
// and tails are used.
type Interrupts struct {
	// CPUs are the ids of the columns, ascending. Offline CPUs are absent, so a
	// column's position is not its id. Like Cells they are t's own: valid until
	// the next Parse, and not to be written.
	CPUs []int32
	Rows []InterruptRow
	// Cells are the counts: Cells[r*len(CPUs)+c]. The kernel's counters are
	// unsigned int and wrap at 2^32.
	Cells []uint32

	text   []byte
	header header
	short  int
}

// InterruptRow is one row beside its counts.
type InterruptRow struct {
	// Number is the Linux IRQ number, -1 for NMI, LOC, IPI0, ...
	Number int32
	// Counts is how many numbers the row had: len(CPUs), 1 for ERR and MIS, which
	// have no CPU, 0 for FIQ. Cells the row had no number for are 0.
	Counts int32

	label, tail span
}

// Label is what stands before the colon: "26", "NMI".
func (t *Interrupts) Label(r int) []byte { return t.Rows[r].label.of(t.text) }

// Tail is the text after the counts, without blanks at its ends; see SplitTail.
func (t *Interrupts) Tail(r int) []byte { return t.Rows[r].tail.of(t.text) }

// Row is the counts of row r, in the order of CPUs.
func (t *Interrupts) Row(r int) []uint32 {
	n := len(t.CPUs)
	return t.Cells[r*n : r*n+n : r*n+n]
}

// Parse reads text into t. The error is ErrEmpty, ErrTorn or ErrMalformed, the
// latter two wrapped with the line and the reason; t is then empty.
func (t *Interrupts) Parse(text []byte) error { return t.parse(text, true) }

// ParseScalar is Parse without the fast path.
func (t *Interrupts) ParseScalar(text []byte) error { return t.parse(text, false) }

func (t *Interrupts) parse(text []byte, fast bool) error {
	t.reset(text)
	p, err := t.header.parse(text)
	t.CPUs = t.header.cpus
	for err == nil && p < len(text) {
		next := 0
		if fast {
			next = t.fastRow(p)
		}
		if next == 0 {
			next, err = t.scalarRow(p)
		}
		p = next
	}
	if err != nil {
		t.reset(nil)
	}
	return err
}

func (t *Interrupts) reset(text []byte) {
	t.CPUs, t.Rows, t.Cells, t.text, t.short = nil, t.Rows[:0], t.Cells[:0], text, 0
}

// fastRow takes the row at p if it is laid out as current kernels print it, and
// returns the offset of the next line, or 0.
func (t *Interrupts) fastRow(p int) int {
	text := t.text
	for p < len(text) && text[p] == ' ' {
		p++
	}
	lo, number := p, int32(0)
	for p < len(text) && text[p] != ':' {
		switch d := text[p] - '0'; {
		case text[p] <= ' ':
			return 0
		case d > 9:
			number = -1
		case number >= 0:
			if number = number*10 + int32(d); p-lo >= 9 {
				return 0
			}
		}
		p++
	}
	if p == lo || p == len(text) {
		return 0
	}
	label := span{int32(lo), int32(p)}
	n := len(t.CPUs)
	cells := extend(t.Cells, n)
	p, ok := fastCounts(text, p+1, cells[len(t.Cells):])
	if !ok || p < len(text) && text[p] != ' ' && text[p] != '\n' {
		return 0
	}
	end := lineEnd(text, p)
	lo, hi := trim(text, p, end)
	if lo < hi && isDigit(text[lo]) && startsWithNumber(text[lo:hi]) {
		return 0
	}
	t.Cells = cells
	t.Rows = append(t.Rows, InterruptRow{number, int32(n), label, span{int32(lo), int32(hi)}})
	return min(end+1, len(text))
}

// mostShort bounds the rows without one count per CPU, of which an architecture
// has a handful: each takes a whole row of cells for a few bytes of text.
const mostShort = 64

// scalarRow takes the row at p, however it is spaced, and returns the offset of
// the next line.
func (t *Interrupts) scalarRow(p int) (int, error) {
	end := lineEnd(t.text, p)
	line, next := t.text[p:end], min(end+1, len(t.text))
	if skipBlanks(line, 0) == len(line) {
		return next, nil
	}
	lo, hi, at, ok := label(line)
	if !ok {
		return 0, lineError(t.text, p, ErrMalformed, "%s does not start with a label and a colon", quote(line))
	}
	row := InterruptRow{Number: -1, label: span{int32(p + lo), int32(p + hi)}}
	name := line[lo:hi]
	if v, e, fits := digits(name, 0); e == len(name) {
		if !fits || v > math.MaxInt32 {
			return 0, lineError(t.text, p, ErrMalformed, "%s is no IRQ number", quote(name))
		}
		row.Number = int32(v)
	}
	n := len(t.CPUs)
	cells := extend(t.Cells, n)
	got, at, why := scalarCounts(line, at, cells[len(t.Cells):], row.Number < 0)
	switch why {
	case over32:
		return 0, lineError(t.text, p, ErrMalformed, "IRQ %s has a count over 32 bits", name)
	case over64:
		return 0, lineError(t.text, p, ErrMalformed, "%s has a count over 64 bits", quote(name))
	}
	lo, hi = trim(line, at, len(line))
	if got < n {
		if row.Number >= 0 || got > 1 {
			return 0, lineError(t.text, p, ErrTorn, "%s has %d counts, the header has %d CPUs", quote(name), got, n)
		}
		if t.short++; t.short > mostShort {
			return 0, lineError(t.text, p, ErrMalformed, "over %d rows without a count per CPU", mostShort)
		}
	} else if startsWithNumber(line[lo:hi]) {
		return 0, lineError(t.text, p, ErrTorn, "%s has more counts than the header's %d CPUs", quote(name), n)
	}
	row.Counts, row.tail = int32(got), span{int32(p + lo), int32(p + hi)}
	t.Cells, t.Rows = cells, append(t.Rows, row)
	return next, nil
}
