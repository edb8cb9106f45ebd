//go:build lab || lablong

package lab_test

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/netsteer/netsteer/lab"
)

// The test's own reading of the guest, from the kernel's text. It shares
// nothing with the product's parsers, or both could be wrong together.

// row is a line of /proc/interrupts.
type row struct {
	irq   string
	cells map[int]uint64 // by CPU
}

// interrupts gives the rows whose last word is prefix and a queue number, by
// that number.
func interrupts(t *testing.T, r *lab.Running, prefix string) map[int]row {
	t.Helper()
	text := read(t, r, "/proc/interrupts")
	lines := strings.Split(text, "\n")
	header := strings.Fields(lines[0])
	pattern := regexp.MustCompile(`^\s*(\d+):\s.*\s` + regexp.QuoteMeta(prefix) + `(\d+)$`)
	rows := map[int]row{}
	for _, line := range lines[1:] {
		m := pattern.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		queue := number(t, m[2])
		if _, twice := rows[queue]; twice {
			t.Fatalf("two rows of /proc/interrupts end in %s%d", prefix, queue)
		}
		found := row{irq: m[1], cells: map[int]uint64{}}
		fields := strings.Fields(line)[1:]
		for i, name := range header {
			found.cells[number(t, strings.TrimPrefix(name, "CPU"))] = uint64(number(t, fields[i]))
		}
		rows[queue] = found
	}
	return rows
}

// total is the count of an interrupt on all possible CPUs, offline ones too.
func total(t *testing.T, r *lab.Running, irq string) uint64 {
	t.Helper()
	var sum uint64
	for count := range strings.SplitSeq(strings.TrimSpace(read(t, r, "/sys/kernel/irq/"+irq+"/per_cpu_count")), ",") {
		sum += uint64(number(t, count))
	}
	return sum
}

// vectors says for each direction which interrupt serves which queue, after
// making sure that they are 0 to n-1 and vectors of that PCI function.
func vectors(t *testing.T, r *lab.Running, nic, n int) map[string]map[int]row {
	t.Helper()
	device := r.Devices[nic]
	var found map[string]map[int]row
	function := path.Join("/sys/class/net", device, "device")
	switch r.NICs[nic].Driver {
	case lab.IGB:
		if both := interrupts(t, r, device+"-TxRx-"); len(both) > 0 {
			found = map[string]map[int]row{"rx": both, "tx": both}
		} else { // few queues leave a vector for each direction
			found = map[string]map[int]row{"rx": interrupts(t, r, device+"-rx-"), "tx": interrupts(t, r, device+"-tx-")}
		}
	case lab.Virtio:
		link, err := r.ReadLink(function)
		if err != nil {
			t.Fatal(err)
		}
		name := path.Base(link)
		found = map[string]map[int]row{"rx": interrupts(t, r, name+"-input."), "tx": interrupts(t, r, name+"-output.")}
		function = path.Join("/sys/class/net", device, "device") + "/.."
	}
	own, err := r.List(function + "/msi_irqs")
	if err != nil {
		t.Fatal(err)
	}
	for direction, rows := range found {
		if len(rows) != n {
			t.Fatalf("%s has %d %s vectors, want %d", device, len(rows), direction, n)
		}
		for queue := range n {
			row, ok := rows[queue]
			if !ok {
				t.Fatalf("%s has no vector of %s queue %d", device, direction, queue)
			}
			if !slices.Contains(own, row.irq) {
				t.Fatalf("interrupt %s of %s %s-%d is not in its msi_irqs %v", row.irq, device, direction, queue, own)
			}
		}
	}
	return found
}

// received is a device's packet count in /proc/net/dev, transmitted the one of
// the other half.
func received(t *testing.T, r *lab.Running, device string) int    { return packets(t, r, device, 1) }
func transmitted(t *testing.T, r *lab.Running, device string) int { return packets(t, r, device, 9) }

func packets(t *testing.T, r *lab.Running, device string, column int) int {
	t.Helper()
	for line := range strings.Lines(read(t, r, "/proc/net/dev")) {
		if name, counters, ok := strings.Cut(strings.TrimSpace(line), ":"); ok && name == device {
			return number(t, strings.Fields(counters)[column])
		}
	}
	t.Fatalf("no %s in /proc/net/dev", device)
	return 0
}

func read(t *testing.T, r *lab.Running, file string) string {
	t.Helper()
	text, err := r.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func write(t *testing.T, r *lab.Running, file, text string) {
	t.Helper()
	if err := r.WriteFile(file, text); err != nil {
		t.Fatal(err)
	}
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		t.Fatal(fmt.Errorf("not a number where one was expected: %w", err))
	}
	return n
}
