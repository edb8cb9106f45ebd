package procfile

import (
	"strings"
	"testing"
)

func FuzzInterrupts(f *testing.F) {
	f.Add([]byte("           CPU0       CPU1       \n  0:         41          0  IO-APIC   2-edge      timer\nERR:          0\n"))
	f.Add([]byte("          CPU0       CPU1\nIPI0:2768808080 2844211768       Rescheduling interrupts\nErr:          0\n       \n"))
	f.Add([]byte("     CPU0       CPU3\n 23:    1549514          0  ARMCTRL-level   1 Edge      mailbox\n FIQ:              usb_fiq\n"))
	f.Add([]byte("CPU0\nERR: 18446744073709551615\n5: 4294967296 x\n"))
	f.Add(generateDense(9, 2, 1))
	long := make([]uint32, 73) // runs of 64, of 8 and one more
	f.Add(printInterrupts([][]uint32{long}))
	long[70] = 4294967295
	f.Add(printInterrupts([][]uint32{long}))
	var fast Interrupts
	f.Fuzz(func(t *testing.T, text []byte) { sameInterrupts(t, text, &fast) })
}

func FuzzSoftirqs(f *testing.F) {
	f.Add(generateSoftirqs(1))
	f.Add(generateSoftirqs(9))
	f.Add([]byte("  CPU0 CPU2\n  HI: 1 2\nRCU:          3          4 \n"))
	var fast Softirqs
	f.Fuzz(func(t *testing.T, text []byte) { sameSoftirqs(t, text, &fast) })
}

func FuzzSoftnet(f *testing.F) {
	f.Add(generateSoftnet(2))
	f.Add([]byte(strings.Repeat("0000000A ", 9) + "\n" + strings.Repeat("f ", 16)))
	f.Add([]byte("00015c73 00020e76 F0000769 00000000"))
	f.Fuzz(sameSoftnet)
}

func FuzzStat(f *testing.F) {
	f.Add([]byte("cpu  31 32 33 34 35 36 37 38 39 40\ncpu0 1 2 3 4 5 6 7 8 9 10\ncpu2 11 12 13 14\nintr 5 0\n"))
	f.Add([]byte("cpu0 18446744073709551616 0 0 0\ncpux"))
	f.Fuzz(sameStat)
}

// FuzzTail proves what callers rely on: all parts are cut out of the tail, in
// order, nothing printed is lost but blanks, dashes and commas, and an action is
// neither empty nor blank at its ends.
func FuzzTail(f *testing.F) {
	for _, s := range []string{
		"IO-APIC   2-edge      timer", "Hyper-V PCIe MSI -16-edge  a@pci:0, b c", "xen-dyn    -event     vif0-q0-rx",
		"APLIC  12 Edge    -fasteoi   end0", "PCI-MSI-edge      eth0", "GICv3  33 Level     eth0,, x", "- 5", "a 1-b-c Level -d",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		tail := SplitTail(s)
		rest := s
		for _, part := range append([]string{tail.Chip, tail.HWIRQ, tail.Flow}, tail.Actions...) {
			at := strings.Index(rest, part)
			if at < 0 {
				t.Fatalf("%q is out of place in %+v", part, tail)
			}
			rest = rest[at+len(part):]
		}
		for _, a := range tail.Actions {
			if a == "" || a != strings.Trim(a, " \t") {
				t.Fatalf("action %q in %+v", a, tail)
			}
		}
		letters := func(s string) int {
			return len(s) - strings.Count(s, " ") - strings.Count(s, "\t") - strings.Count(s, "-") - strings.Count(s, ",")
		}
		got := letters(tail.Chip) + letters(tail.HWIRQ) + letters(tail.Flow) + letters(strings.Join(tail.Actions, ""))
		// A trigger gives way to the handler beside it.
		if lost := letters(s) - got; lost != 0 && lost != len("Edge") && lost != len("Level") {
			t.Fatalf("%d characters are lost: %q is %+v", lost, s, tail)
		}
	})
}
