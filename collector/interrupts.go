package collector

import (
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/watch"
)

var (
	interruptsGroup = &group{"interrupts"}

	queueInterrupts = interruptsGroup.counter("queue_interrupts_total",
		"Interrupts of the queue's vector on all CPUs, a 32-bit kernel counter. A vector that serves RX and TX counts once, as combined; one of several queues counts under the lowest.",
		"device", "direction", "queue")
	queueIRQCPU = interruptsGroup.gauge("queue_irq_cpu",
		"Id of the CPU that takes the queue's interrupts. A vector that serves several queues shows for each. Absent if unknown or if its NAPI thread roams.",
		"device", "direction", "queue")
	queueIRQInfo = interruptsGroup.gauge("queue_irq_info",
		"Which vector serves the queue, the CPU that takes it (cpu is empty where the vector is known and its CPU is not) and how that was found. Always 1.",
		"device", "direction", "queue", "irq", "cpu", "mapping")
	deviceInterrupts = interruptsGroup.counter("device_interrupts_total",
		"Interrupts of all vectors of the device by CPU, only for CPUs that ever took one. It goes on when vectors are freed or made anew.",
		"device", "cpu")
	unmappedIRQs = interruptsGroup.gauge("unmapped_irqs",
		"Vectors of the device that should serve a queue and of which none is known. Absent if there are none.",
		"device", "reason")
)

var interruptsCollector = collector{
	group:   interruptsGroup,
	sources: []host.Source{host.SourceInterrupts, host.SourceIRQ, host.SourceMapping},
	emit:    emitInterrupts,
}

func emitInterrupts(st *watch.State, s *sink) {
	inv := st.Inventory
	for i := range inv.Queues {
		q := &inv.Queues[i]
		if q.Vector < 0 || !inv.Vectors[q.Vector].Carries() || inv.Devices[q.Device].Stacked {
			continue
		}
		v := &inv.Vectors[q.Vector]
		device, direction, queue := inv.Devices[q.Device].Name, q.Direction.String(), decimal(q.Index)
		cpu := st.Place.CPU[v.ID]
		if cpu >= 0 {
			s.add(queueIRQCPU, float64(cpu), device, direction, queue)
		}
		s.add(queueIRQInfo, 1, device, direction, queue, decimal(v.IRQ), decimal(cpu), v.Mapping.String())
	}

	counted := haveInterrupts(st)
	for i := range inv.Devices {
		d := &inv.Devices[i]
		if d.Stacked {
			continue
		}
		emitUnmapped(d, s)
		if !counted {
			continue
		}
		for j := range d.Vectors {
			v := &d.Vectors[j]
			if v.Carries() && v.Queue >= 0 && st.Sample.Present[v.ID] {
				s.add(queueInterrupts, float64(st.Sample.Sums[v.ID]), d.Name, v.Role.String(), decimal(v.Queue))
			}
		}
		n := inv.CPUs.NumIDs()
		for cpu, sum := range st.DeviceInterrupts[d.ID*n : (d.ID+1)*n] {
			if sum > 0 {
				s.add(deviceInterrupts, float64(sum), d.Name, decimal(cpu))
			}
		}
	}
}

// haveInterrupts reports whether the reading has /proc/interrupts.
func haveInterrupts(st *watch.State) bool {
	return !st.Failed[host.SourceInterrupts] && !st.Sample.InterruptsTime.IsZero()
}

// emitUnmapped counts a device's vectors without a queue by reason.
func emitUnmapped(d *host.Device, s *sink) {
	var room [8]struct {
		reason host.Reason
		n      int
	}
	reasons := room[:0]
next:
	for i := range d.Vectors {
		why := d.Vectors[i].Unmapped
		if why == "" {
			continue
		}
		for j := range reasons {
			if reasons[j].reason == why {
				reasons[j].n++
				continue next
			}
		}
		reasons = append(reasons, struct {
			reason host.Reason
			n      int
		}{why, 1})
	}
	for _, r := range reasons {
		s.add(unmappedIRQs, float64(r.n), d.Name, string(r.reason))
	}
}
