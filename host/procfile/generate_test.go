package procfile

import (
	"bytes"
	"fmt"
	"math/rand/v2"
)

func printHeader(b *bytes.Buffer, indent, cpus int) {
	fmt.Fprintf(b, "%*s", indent, "")
	for c := range cpus {
		fmt.Fprintf(b, "CPU%-8d", c)
	}
	b.WriteByte('\n')
}

// printInterrupts prints rows as kernel/irq/proc.c of 6.12 does.
func printInterrupts(rows [][]uint32) []byte {
	var b bytes.Buffer
	printHeader(&b, 11, len(rows[0]))
	for i, row := range rows {
		fmt.Fprintf(&b, "%4d:", i+24)
		for _, v := range row {
			fmt.Fprintf(&b, " %10d", v)
		}
		fmt.Fprintf(&b, "  IR-PCI-MSIX-0000:%02x:00.%d %4d-edge      mlx5_comp%d@pci:0000:%02x:00.%d\n", i/64, i%2, i%64, i%64, i/64, i%2)
	}
	return b.Bytes()
}

// generateInterrupts is a large machine: each of irqs device rows fires on one CPU
// or two, as affine MSI-X vectors do, and the architecture's rows on all.
func generateInterrupts(cpus, irqs int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	rows := make([][]uint32, irqs)
	for i := range rows {
		rows[i] = make([]uint32, cpus)
		hot := i * 7 % cpus
		rows[i][hot] = uint32(r.Uint64N(4_000_000_000))
		if i%5 == 0 {
			rows[i][(hot+1)%cpus] = uint32(r.Uint64N(4_000_000_000))
		}
	}
	b := bytes.NewBuffer(printInterrupts(rows))
	for _, name := range []string{"NMI", "LOC", "SPU", "PMI", "IWI", "RTR", "RES", "CAL", "TLB", "TRM", "THR", "DFR", "MCE", "MCP", "HYP"} {
		fmt.Fprintf(b, "%4s:", name)
		for range cpus {
			fmt.Fprintf(b, " %10d", r.Uint64N(1<<(r.Uint64N(31)+1)))
		}
		fmt.Fprintf(b, "   %s interrupts\n", name)
	}
	b.WriteString(" ERR:          0\n MIS:          0\n")
	return b.Bytes()
}

// generateDense has a count of one to ten digits in every cell.
func generateDense(cpus, irqs int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 2))
	rows := make([][]uint32, irqs)
	for i := range rows {
		for range cpus {
			rows[i] = append(rows[i], uint32(r.Uint64N(1<<(r.Uint64N(31)+1))))
		}
	}
	return printInterrupts(rows)
}

func generateSoftirqs(cpus int) []byte {
	r := rand.New(rand.NewPCG(2, 2))
	var b bytes.Buffer
	printHeader(&b, 20, cpus)
	for _, name := range []string{"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"} {
		fmt.Fprintf(&b, "%12s:", name)
		for range cpus {
			fmt.Fprintf(&b, " %10d", r.Uint64N(4_000_000_000))
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

func generateSoftnet(cpus int) []byte {
	r := rand.New(rand.NewPCG(3, 3))
	var b bytes.Buffer
	for c := range cpus {
		fmt.Fprintf(&b, "%08x %08x %08x %08x %08x %08x %08x %08x %08x %08x %08x %08x %08x %08x %08x\n",
			r.Uint32(), 0, r.Uint32N(1000), 0, 0, 0, 0, 0, 0, r.Uint32(), 0, 0, c, 0, 0)
	}
	return b.Bytes()
}
