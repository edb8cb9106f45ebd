package procfile

// Softirqs is /proc/softirqs (fs/proc/softirqs.c): how often each softirq's
// handler ran on each CPU. It is reused from reading to reading and keeps byte
// ranges into the text given to Parse.
type Softirqs struct {
	// CPUs are the ids of the columns, ascending. They are the possible CPUs,
	// offline ones included, unlike those of /proc/interrupts. Like Cells they are
	// t's own: valid until the next Parse, and not to be written.
	CPUs []int32
	// Cells are the counts, Cells[r*len(CPUs)+c], wrapping at 2^32.
	Cells []uint32

	names  []span
	text   []byte
	header header
}

// Len is the number of rows.
func (t *Softirqs) Len() int { return len(t.names) }

// Name is that of row r: "NET_RX".
func (t *Softirqs) Name(r int) []byte { return t.names[r].of(t.text) }

// Row is the counts of the named softirq in the order of CPUs, nil if there is none.
func (t *Softirqs) Row(name string) []uint32 {
	n := len(t.CPUs)
	for r, s := range t.names {
		if string(s.of(t.text)) == name {
			return t.Cells[r*n : r*n+n : r*n+n]
		}
	}
	return nil
}

// Parse reads text into t. The error is ErrEmpty or wraps ErrMalformed with the
// line and the reason; t is then empty.
func (t *Softirqs) Parse(text []byte) error { return t.parse(text, true) }

// ParseScalar is Parse without the fast path.
func (t *Softirqs) ParseScalar(text []byte) error { return t.parse(text, false) }

func (t *Softirqs) parse(text []byte, fast bool) error {
	t.reset(text)
	p, err := t.header.parse(text)
	t.CPUs = t.header.cpus
	for err == nil && p < len(text) {
		p, err = t.row(p, fast)
	}
	if err != nil {
		t.reset(nil)
	}
	return err
}

func (t *Softirqs) reset(text []byte) {
	t.CPUs, t.names, t.Cells, t.text = nil, t.names[:0], t.Cells[:0], text
}

// row takes the row at p and returns the offset of the next line. The rows are
// few, so only their counts have a fast path.
func (t *Softirqs) row(p int, fast bool) (int, error) {
	end := lineEnd(t.text, p)
	line, next := t.text[p:end], min(end+1, len(t.text))
	if skipBlanks(line, 0) == len(line) {
		return next, nil
	}
	lo, hi, at, ok := label(line)
	if !ok {
		return 0, lineError(t.text, p, ErrMalformed, "%s does not start with a name and a colon", quote(line))
	}
	n := len(t.CPUs)
	cells := extend(t.Cells, n)
	counts := cells[len(t.Cells):]
	if !fast || !fastSoftirq(line, at, counts) {
		got, e, why := scalarCounts(line, at, counts, false)
		rest := line[skipBlanks(line, e):]
		switch {
		case why != countsOK:
			return 0, lineError(t.text, p, ErrMalformed, "%s has a count over 32 bits", quote(line[lo:hi]))
		case got < n:
			return 0, lineError(t.text, p, ErrMalformed, "%s has %d counts, the header has %d CPUs", quote(line[lo:hi]), got, n)
		case len(rest) > 0:
			return 0, lineError(t.text, p, ErrMalformed, "%s behind the counts of %s", quote(rest), quote(line[lo:hi]))
		}
	}
	t.Cells = cells
	t.names = append(t.names, span{int32(p + lo), int32(p + hi)})
	return next, nil
}

// fastSoftirq reads a row of counts with nothing behind them.
func fastSoftirq(line []byte, p int, counts []uint32) bool {
	end, ok := fastCounts(line, p, counts)
	return ok && end == len(line)
}
