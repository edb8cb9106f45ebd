package procfile

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// row is what a test expects of a row; counts nil means all 0.
type row struct {
	label  string
	number int32
	counts int32
	cells  []uint32
	tail   string
}

// Every layout the kernel has had is read the same, to the number: each case is
// written as that kernel prints it.
func TestInterruptsForms(t *testing.T) {
	tests := []struct {
		name, text string
		cpus       []int32
		rows       []row
	}{{
		name: "x86 6.x, address in the chip's name, one blank before a long one",
		text: "           CPU0       CPU1       \n" +
			"  0:         41          0  IO-APIC   2-edge      timer\n" +
			" 38:          7 4294967295 PCI-MSIX-0000:00:03.0   1-edge      virtio2-input.0\n" +
			"NMI:          3          4   Non-maskable interrupts\n" +
			"ERR:          9\n" +
			"MIS:          0\n",
		cpus: []int32{0, 1},
		rows: []row{
			{"0", 0, 2, []uint32{41, 0}, "IO-APIC   2-edge      timer"},
			{"38", 38, 2, []uint32{7, 4294967295}, "PCI-MSIX-0000:00:03.0   1-edge      virtio2-input.0"},
			{"NMI", -1, 2, []uint32{3, 4}, "Non-maskable interrupts"},
			{"ERR", -1, 1, []uint32{9, 0}, ""},
			{"MIS", -1, 1, []uint32{0, 0}, ""},
		},
	}, {
		name: "x86 7.2, wider number column, padded chip, ERR with one count per CPU",
		text: "            CPU0       CPU1\n" +
			"   1:          0         12  IO-APIC                   1-edge      i8042\n" +
			" ERR:          1          2\n",
		cpus: []int32{0, 1},
		rows: []row{
			{"1", 1, 2, []uint32{0, 12}, "IO-APIC                   1-edge      i8042"},
			{"ERR", -1, 2, []uint32{1, 2}, ""},
		},
	}, {
		name: "2.6, no hwirq, row without a name, ended by blanks",
		text: "           CPU0       CPU1       \n" +
			"  7:         17          0   IO-APIC-edge    \n" +
			" 16:          2          5   IO-APIC-fasteoi   uhci_hcd:usb1, eth0\n",
		cpus: []int32{0, 1},
		rows: []row{
			{"7", 7, 2, []uint32{17, 0}, "IO-APIC-edge"},
			{"16", 16, 2, []uint32{2, 5}, "IO-APIC-fasteoi   uhci_hcd:usb1, eth0"},
		},
	}, {
		name: "offline CPUs leave a gap in the header",
		text: "           CPU0       CPU2      CPU10\n" +
			" 24:          1          2          3  IR-PCI-MSI 524288-edge      eth0\n",
		cpus: []int32{0, 2, 10},
		rows: []row{{"24", 24, 3, []uint32{1, 2, 3}, "IR-PCI-MSI 524288-edge      eth0"}},
	}, {
		name: "arm64, label glued to a ten-digit count, Err with one, a line of blanks",
		text: "          CPU0       CPU1\n" +
			" 11: 3287008667 1000000000     GICv3  27 Level     arch_timer\n" +
			"IPI0:2768808080 2844211768       Rescheduling interrupts\n" +
			"IPI1:       305        306       Function call interrupts\n" +
			"Err:          0\n" +
			"        \n",
		cpus: []int32{0, 1},
		rows: []row{
			{"11", 11, 2, []uint32{3287008667, 1000000000}, "GICv3  27 Level     arch_timer"},
			{"IPI0", -1, 2, []uint32{2768808080, 2844211768}, "Rescheduling interrupts"},
			{"IPI1", -1, 2, []uint32{305, 306}, "Function call interrupts"},
			{"Err", -1, 1, []uint32{0, 0}, ""},
		},
	}, {
		name: "old arm, FIQ without a number",
		text: "     CPU0       CPU1\n" +
			" 23:    1549514          0  ARMCTRL-level   1 Edge      3f00b880.mailbox\n" +
			" FIQ:              usb_fiq\n",
		cpus: []int32{0, 1},
		rows: []row{
			{"23", 23, 2, []uint32{1549514, 0}, "ARMCTRL-level   1 Edge      3f00b880.mailbox"},
			{"FIQ", -1, 0, []uint32{0, 0}, "usb_fiq"},
		},
	}, {
		name: "powerpc prints LOC twice",
		text: "           CPU0\n" +
			" 16:          8  XIVE-IRQ 4609 Level     virtio3, virtio0\n" +
			"LOC:        100   Local timer interrupts for timer event device\n" +
			"LOC:          2   Local timer interrupts for others\n",
		cpus: []int32{0},
		rows: []row{
			{"16", 16, 1, []uint32{8}, "XIVE-IRQ 4609 Level     virtio3, virtio0"},
			{"LOC", -1, 1, []uint32{100}, "Local timer interrupts for timer event device"},
			{"LOC", -1, 1, []uint32{2}, "Local timer interrupts for others"},
		},
	}, {
		name: "s390, classes first and without a description, a blank behind each count",
		text: "           CPU0       CPU1       \n" +
			"EXT:     184467     120034 \n" +
			"I/O:       5120       4800 \n" +
			" 16:          0    1200345    PCI-MSI  mlx5_comp0@pci:0001:00:00.0\n" +
			"CLK:      22117      34647   [EXT] Clock Comparator\n",
		cpus: []int32{0, 1},
		rows: []row{
			{"EXT", -1, 2, []uint32{184467, 120034}, ""},
			{"I/O", -1, 2, []uint32{5120, 4800}, ""},
			{"16", 16, 2, []uint32{0, 1200345}, "PCI-MSI  mlx5_comp0@pci:0001:00:00.0"},
			{"CLK", -1, 2, []uint32{22117, 34647}, "[EXT] Clock Comparator"},
		},
	}, {
		name: "longs: a named row keeps the low 32 bits",
		text: "           CPU0       CPU1\n" +
			"ERR: 4294967298\n" +
			"BAD: 18446744073709551615 1\n",
		cpus: []int32{0, 1},
		rows: []row{
			{"ERR", -1, 1, []uint32{2, 0}, ""},
			{"BAD", -1, 2, []uint32{4294967295, 1}, ""},
		},
	}, {
		name: "blanks and tabs anyhow, no newline at the end, a word that starts like a number",
		text: "CPU0\tCPU1\n\n  5 : 1\t2\tchip 3f-edge  eth0, eth1\nFIQ: 3f00b880.fiq\n6: 7 8",
		cpus: []int32{0, 1},
		rows: []row{
			{"5", 5, 2, []uint32{1, 2}, "chip 3f-edge  eth0, eth1"},
			{"FIQ", -1, 0, []uint32{0, 0}, "3f00b880.fiq"},
			{"6", 6, 2, []uint32{7, 8}, ""},
		},
	}, {
		name: "one CPU: ERR has a count for it",
		text: "           CPU0\nERR:          4\n",
		cpus: []int32{0},
		rows: []row{{"ERR", -1, 1, []uint32{4}, ""}},
	}, {
		name: "header alone",
		text: "           CPU0\n",
		cpus: []int32{0},
	}}
	var fast Interrupts // one for all: nothing may be left of the last text
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := []byte(tt.text)
			sameInterrupts(t, text, &fast)
			if err := fast.Parse(text); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(fast.CPUs, tt.cpus) {
				t.Errorf("CPUs %v, want %v", fast.CPUs, tt.cpus)
			}
			if len(fast.Rows) != len(tt.rows) {
				t.Fatalf("%d rows, want %d", len(fast.Rows), len(tt.rows))
			}
			for r, want := range tt.rows {
				got := row{string(fast.Label(r)), fast.Rows[r].Number, fast.Rows[r].Counts, fast.Row(r), string(fast.Tail(r))}
				if got.label != want.label || got.number != want.number || got.counts != want.counts ||
					got.tail != want.tail || !slices.Equal(got.cells, want.cells) {
					t.Errorf("row %d is %+v\nwant %+v", r, got, want)
				}
			}
		})
	}
}

// Text the kernel does not print is refused by both paths with the same line
// number and reason, and leaves nothing behind.
func TestInterruptsErrors(t *testing.T) {
	const header = "           CPU0       CPU1\n"
	short := strings.Repeat("FIQ:\n", mostShort)
	tests := []struct {
		name, text string
		is         error
		says       string
	}{
		{"empty", "", ErrEmpty, "containers mask it"},
		{"blank", " \n\n", ErrEmpty, "empty"},
		{"header of something else", "Linux version 6.12\n", ErrMalformed, `line 1: "Linux" in the header is not a CPU`},
		{"header without a number", "  CPU\n", ErrMalformed, "line 1"},
		{"header with a huge id", "  CPU70000\n", ErrMalformed, "line 1"},
		{"header with an id twice", "  CPU1 CPU1\n", ErrMalformed, "line 1: CPU1 follows CPU1"},
		{"blank header", "\n  1: 2\n", ErrMalformed, "line 1: no CPU"},
		{"no colon", header + "NMI 1 2\n", ErrMalformed, "line 2"},
		{"no label", header + "  :          1          2\n", ErrMalformed, "line 2"},
		{"two words before the colon", header + "a b: 1 2\n", ErrMalformed, "line 2"},
		{"IRQ number over 31 bits", header + "2147483648:          1          2\n", ErrMalformed, "line 2"},
		{"IRQ number over 64 bits", header + "99999999999999999999999: 1 2\n", ErrMalformed, "line 2"},
		{"count over 32 bits", header + "  1:          1          2 x\n  2:          1 4294967296 chip\n", ErrMalformed, "line 3: IRQ 2 has a count over 32 bits"},
		{"count over 64 bits", header + "ERR: 18446744073709551616\n", ErrMalformed, "line 2"},
		{"CPU went away", header + "  1:          1  IO-APIC 1-edge i8042\n", ErrTorn, `line 2: "1" has 1 counts, the header has 2 CPUs`},
		{"CPU came", header + "  1:          1          2          3  IO-APIC 1-edge i8042\n", ErrTorn, "line 2"},
		{"CPU came, named row", header + "RES:          1          2          3\n", ErrTorn, "line 2"},
		{"CPU went away, named row", "  CPU0 CPU1 CPU2\nRES:          1          2   Rescheduling interrupts\n", ErrTorn, "line 2"},
		{"IRQ without counts", header + "  1:\n", ErrTorn, "line 2"},
		{"digits with a blank between", header + "  1:        1 2          2  chip\n", ErrTorn, "line 2"},
		{"letter in a count", header + "  1:        1a2          2  chip\n", ErrTorn, "line 2"},
		{"sign in a count", header + "  1:         -2          2  chip\n", ErrTorn, "line 2"},
		{"character the word trick could take for a digit", header + "  1:         !2          2  chip\n", ErrTorn, "line 2"},
		{"count glued to the chip", header + "  1:          1          2chip\n", ErrTorn, "line 2"},
		{"more short rows than any kernel has", header + short + "FIQ:\n", ErrMalformed, fmt.Sprint("line ", mostShort+2)},
	}
	var fast Interrupts
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := []byte(tt.text)
			sameInterrupts(t, text, &fast)
			err := fast.Parse(text)
			if !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error %q, want %q saying %q", err, tt.is, tt.says)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error of more than a line: %q", err)
			}
			if len(fast.CPUs)+len(fast.Rows)+len(fast.Cells) != 0 {
				t.Errorf("%v is left behind", fast)
			}
		})
	}
	if err := fast.Parse([]byte(header + short)); err != nil {
		t.Errorf("%d short rows: %v", mostShort, err)
	}
}

// The columns of a large machine: runs of zeros of any length with a count of any
// length at any place give what was printed.
func TestInterruptsColumns(t *testing.T) {
	var fast Interrupts
	values := []uint32{0, 1, 9, 10, 99, 12345678, 99999999, 100000000, 999999999, 1000000000, 4294967295}
	for _, cpus := range []int{1, 7, 8, 9, 63, 64, 65, 71, 72, 128, 200} {
		want := make([]uint32, cpus)
		for at := range want {
			for _, v := range values {
				want[at] = v
				text := printInterrupts([][]uint32{want})
				if err := fast.Parse(text); err != nil || !slices.Equal(fast.Row(0), want) {
					t.Fatalf("%d CPUs, %d at %d: %v, %v", cpus, v, at, fast.Row(0), err)
				}
				if at%17 == 0 {
					sameInterrupts(t, text, &fast)
				}
			}
			want[at] = 0
		}
	}
}

// Each single byte of a row changed to each other value is judged alike: the
// checks of the word trick have no hole.
func TestInterruptsEveryByte(t *testing.T) {
	var fast Interrupts
	text := []byte("     CPU0       CPU1\n 1:   12345678 4123456789  x\n")
	first := strings.IndexByte(string(text), '\n') + 1
	for i := first; i < len(text); i++ {
		old := text[i]
		for c := range 256 {
			text[i] = byte(c)
			sameInterrupts(t, text, &fast)
		}
		text[i] = old
	}
}

// After the first reading nothing is allocated, also by rows off the fast path.
func TestInterruptsAllocations(t *testing.T) {
	text := generateInterrupts(64, 100, 1)
	var table Interrupts
	for name, parse := range map[string]func([]byte) error{"fast": table.Parse, "scalar": table.ParseScalar} {
		if n := testing.AllocsPerRun(10, func() {
			if err := parse(text); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
