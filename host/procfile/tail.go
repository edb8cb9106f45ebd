package procfile

import "strings"

// Tail is the text behind the counts of a /proc/interrupts row, taken apart.
type Tail struct {
	// Chip is the interrupt controller and may hold blanks: "Hyper-V PCIe MSI".
	// For the rows without an IRQ number it is the whole description.
	Chip string
	// HWIRQ is the controller's own number, "" where the kernel prints none:
	// before 2.6.39 or so, on s390, Xen and where a chip has no domain. Kernels
	// that print it as int show large ones negative.
	HWIRQ string
	// Flow is the flow handler where it is printed ("edge", "fasteoi", "event"),
	// else the trigger ("Level", "Edge"), else "".
	Flow string
	// Actions are the names given to request_irq; several on a shared line, none
	// where the IRQ is free. They may hold blanks, colons and single commas.
	Actions []string
}

// SplitTail takes a tail apart (show_interrupts in kernel/irq/proc.c 2.6.39 to
// 7.2, and the copies each architecture had before):
//
//	chip [hwirq][-flow] [Level|Edge] [-flow]  action, action
//	chip[-flow]  action, action
//
// What tells the parts from each other is the gap: the words of a chip's name are
// one blank apart, and actions come behind at least two. A hwirq is recognised by
// its digits, because its own gap depends on the widths of the column.
func SplitTail(s string) Tail {
	var t Tail
	s = strings.Trim(s, " \t")
	chip, rest := 0, s // chip is the end of its name
	for {
		word, gap, after := nextWord(rest)
		if word == "" {
			t.Chip = s[:chip]
			t.splitOldFlow()
			return t
		}
		if chip > 0 {
			if number, flow, ok := splitHWIRQ(word); ok {
				t.Chip, t.HWIRQ, t.Flow = s[:chip], number, flow
				rest = after
				break
			}
			if gap > 1 || isTrigger(word) {
				t.Chip = s[:chip]
				break
			}
		}
		chip, rest = len(s)-len(after), after
	}

	if t.Flow == "" {
		rest = t.splitFlow(rest)
	}
	if t.HWIRQ == "" && t.Flow == "" {
		t.splitOldFlow()
	}
	t.Actions = splitActions(rest)
	return t
}

// splitFlow takes the trigger and the handler's name from the start of s, and
// returns the actions behind them.
func (t *Tail) splitFlow(s string) string {
	word, gap, after := nextWord(s)
	if isTrigger(word) && (gap == 1 || t.HWIRQ == "") {
		t.Flow, s = word, after
		word, _, after = nextWord(s)
	}
	// No driver's name starts with a dash.
	if len(word) > 1 && word[0] == '-' {
		t.Flow, s = word[1:], after
	}
	return s
}

// isTrigger reports the column of CONFIG_GENERIC_IRQ_SHOW_LEVEL (arm, arm64,
// powerpc, riscv); without a hwirq it is one blank behind the chip up to 4.x.
func isTrigger(word string) bool { return word == "Level" || word == "Edge" }

// nextWord is the first word of s, the number of blanks before it and what follows.
func nextWord(s string) (word string, gap int, after string) {
	for gap < len(s) && isBlank(s[gap]) {
		gap++
	}
	end := gap
	for end < len(s) && !isBlank(s[end]) {
		end++
	}
	return s[gap:end], gap, s[end:]
}

// splitHWIRQ takes "24", "524288-edge" and, from kernels that print an int,
// "-1610612736-edge".
func splitHWIRQ(word string) (number, flow string, ok bool) {
	i := 0
	if word[0] == '-' {
		i = 1
	}
	first := i
	for i < len(word) && isDigit(word[i]) {
		i++
	}
	switch {
	case i == first:
		return "", "", false
	case i == len(word):
		return word, "", true
	case word[i] == '-' && i+1 < len(word):
		return word[:i], word[i+1:], true
	}
	return "", "", false
}

// oldFlows are the handler names that stand glued to a chip without hwirq:
// set_irq_chip_and_handler_name callers of 2.6, and drivers/xen/events up to 4.x.
// The longer ones come first.
var oldFlows = [...]string{
	"ioapic-edge", "ioapic-level", "msi-x", "msi",
	"edge", "level", "fasteoi", "percpu", "event", "virq", "ipi", "XT",
}

func (t *Tail) splitOldFlow() {
	for _, f := range oldFlows {
		if n := len(t.Chip) - len(f) - 1; n > 0 && t.Chip[n] == '-' && t.Chip[n+1:] == f {
			t.Chip, t.Flow = t.Chip[:n], f
			return
		}
	}
}

// splitActions splits at a comma with a blank behind it: names hold blanks
// ("bcm2708_fb dma"), and a comma alone is part of a name.
func splitActions(s string) []string {
	var out []string
	for s != "" {
		cut := len(s)
		for i := 0; i+1 < len(s); i++ {
			if s[i] == ',' && isBlank(s[i+1]) {
				cut = i
				break
			}
		}
		if name := strings.Trim(s[:cut], " \t"); name != "" {
			out = append(out, name)
		}
		s = s[min(cut+1, len(s)):]
	}
	return out
}
