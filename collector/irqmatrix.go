package collector

import (
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/watch"
)

var (
	irqMatrixGroup = &group{"irq-matrix"}

	irqInterrupts = irqMatrixGroup.counter("irq_interrupts_total",
		"Interrupts of the vector on the CPU as in /proc/interrupts, a 32-bit kernel counter, only cells above 0. queue is the lowest that the vector serves, empty if it serves none.",
		"device", "irq", "queue", "cpu")
)

// Off by default: a vector that was moved often has a series for each CPU it
// ever ran on.
var irqMatrixCollector = collector{
	group:   irqMatrixGroup,
	off:     true,
	sources: []host.Source{host.SourceInterrupts},
	emit:    emitIRQMatrix,
}

func emitIRQMatrix(st *watch.State, s *sink) {
	if !haveInterrupts(st) {
		return
	}
	n := st.Inventory.CPUs.NumIDs()
	for i := range st.Inventory.Vectors {
		v := &st.Inventory.Vectors[i]
		if !st.Sample.Present[v.ID] {
			continue
		}
		device := st.Inventory.Devices[v.Device].Name
		for cpu, count := range st.Sample.Cells[v.ID*n : (v.ID+1)*n] {
			if count > 0 {
				s.add(irqInterrupts, float64(count), device, decimal(v.IRQ), decimal(v.Queue), decimal(cpu))
			}
		}
	}
}
