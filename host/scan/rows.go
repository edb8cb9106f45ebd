package scan

import (
	"hash/maphash"
	"strings"

	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/procfile"
)

const interruptsFile = "proc/interrupts"

// rowTable is /proc/interrupts with its tails split and its numbered rows found
// by IRQ.
type rowTable struct {
	table procfile.Interrupts
	text  []byte
	byIRQ map[int]int
}

// readTorn reads a file whose CPUs may change while it is read, again if need be.
func readTorn(tree Tree, buf []byte, name string, parse func([]byte) error) ([]byte, error) {
	var err error
	for range 3 {
		if buf, err = tree.Read(buf[:0], name); err != nil {
			return buf, err
		}
		if err = parse(buf); err == nil || reasonOf(err) != host.ReasonVanished {
			return buf, err
		}
	}
	return buf, err
}

func readRows(r *reader) *rowTable {
	t := &rowTable{byIRQ: map[int]int{}}
	var err error
	if t.text, err = readTorn(r.tree, nil, interruptsFile, t.table.Parse); err != nil {
		r.notes.add(host.SourceInterrupts, "", err)
		t.table = procfile.Interrupts{}
		return t
	}
	for i := range t.table.Rows {
		if n := t.table.Rows[i].Number; n >= 0 {
			t.byIRQ[int(n)] = i
		}
	}
	return t
}

// tail splits the text behind an IRQ's counts; the zero Tail if it has no row.
func (t *rowTable) tail(irq int) procfile.Tail {
	if i, ok := t.byIRQ[irq]; ok {
		return procfile.SplitTail(string(t.table.Tail(i)))
	}
	return procfile.Tail{}
}

var hashSeed = maphash.MakeSeed()

// rowsHash changes when rows come or go or change their text: a sign that the
// Inventory is out of date. Counts are not in it.
func rowsHash(t *procfile.Interrupts) uint64 {
	var sum uint64
	for i := range t.Rows {
		if t.Rows[i].Number >= 0 {
			sum = sum*31 + maphash.Bytes(hashSeed, t.Tail(i)) + uint64(t.Rows[i].Number)
		}
	}
	for _, c := range t.CPUs {
		sum = sum*31 + uint64(c)
	}
	return sum
}

// InterruptRows reads every row of /proc/interrupts, for people and JSON.
func (s *Scanner) InterruptRows(inv *host.Inventory) ([]host.InterruptRow, error) {
	var t procfile.Interrupts
	if _, err := readTorn(s.machine.Tree, nil, interruptsFile, t.Parse); err != nil {
		return nil, err
	}
	vector := make(map[int]int, len(inv.Vectors))
	for i := range inv.Vectors {
		vector[inv.Vectors[i].IRQ] = i
	}
	rows := make([]host.InterruptRow, len(t.Rows))
	for i := range t.Rows {
		row := host.InterruptRow{Label: string(t.Label(i)), Vector: -1}
		cells, numbers := t.Row(i), int(t.Rows[i].Counts)
		for c, n := range cells[:min(numbers, len(cells))] {
			row.Total += uint64(n)
			// A short row's numbers belong to no CPU.
			if n != 0 && numbers == len(cells) {
				row.PerCPU = append(row.PerCPU, host.CPUCount{CPU: int(t.CPUs[c]), Count: n})
			}
		}
		tail := string(t.Tail(i))
		if irq := t.Rows[i].Number; irq >= 0 {
			split := procfile.SplitTail(tail)
			row.Chip, row.HWIRQ, row.Actions = split.Chip, split.HWIRQ, split.Actions
			if v, ok := vector[int(irq)]; ok {
				row.Vector = v
			}
		} else if tail = strings.TrimSpace(tail); tail != "" {
			row.Actions = []string{tail}
		}
		rows[i] = row
	}
	return rows, nil
}
