package scan

import (
	"time"

	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/procfile"
)

// Counters reads Samples of one shape of Inventory. It keeps its buffers, the
// tables of names and the last value of every interrupt cell. Read may run
// beside Device; Device for one device may not run twice at once.
type Counters struct {
	machine Machine
	inv     *host.Inventory
	now     func() time.Time

	text      []byte
	table     procfile.Interrupts
	softirqs  procfile.Softirqs
	softnet   []procfile.SoftnetRow
	ticks     []procfile.CPUTicks
	rowsHash  uint64
	vectorOf  []int32  // by IRQ number: Vector.ID + 1, 0 if none
	lastCells []uint32 // as Sample.Cells
	devices   []deviceCounters
}

// Counters returns a reader for the shape of inv. Cells of the one before, by
// IRQ, carry over: a CPU that is offline keeps its counts.
func (s *Scanner) Counters(inv *host.Inventory, before *Counters) *Counters {
	c := &Counters{machine: s.machine, inv: inv, now: time.Now}
	n := inv.CPUs.NumIDs()
	c.lastCells = make([]uint32, len(inv.Vectors)*n)
	for i := range inv.Vectors {
		v := &inv.Vectors[i]
		for len(c.vectorOf) <= v.IRQ {
			c.vectorOf = append(c.vectorOf, 0)
		}
		c.vectorOf[v.IRQ] = int32(i) + 1
		c.carryOver(v, before, c.lastCells[i*n:(i+1)*n])
	}
	c.devices = make([]deviceCounters, len(inv.Devices))
	for i := range c.devices {
		c.devices[i] = newDeviceCounters(s.machine, &inv.Devices[i])
	}
	return c
}

// carryOver gives a vector's cells their last known values: the kernel's own
// (per_cpu_count, all possible CPUs), else those of the reader before if it
// saw the same vector.
func (c *Counters) carryOver(v *host.Vector, before *Counters, cells []uint32) {
	r := &reader{tree: c.machine.Tree, notes: &notes{}}
	if c.inv.CPUs.Possible != c.inv.CPUs.Online {
		if counts, err := perCPUCount(r, v.IRQ, nil); err == nil {
			copy(cells, counts)
			return
		}
	}
	if before == nil || v.IRQ >= len(before.vectorOf) || before.vectorOf[v.IRQ] == 0 {
		return
	}
	id := int(before.vectorOf[v.IRQ] - 1)
	old := &before.inv.Vectors[id]
	if n := before.inv.CPUs.NumIDs(); len(old.Actions) > 0 && len(v.Actions) > 0 && old.Actions[0] == v.Actions[0] {
		copy(cells, before.lastCells[id*n:(id+1)*n])
	}
}

// Read reads the counters of all CPUs and vectors into dst. It says whether the
// reading fits the Inventory (rows, vectors and online CPUs are the same) and
// what it could not read.
func (c *Counters) Read(dst *host.Sample) (fits bool, degraded []host.Degraded) {
	c.prepare(dst)
	n := &notes{}
	dst.Time = c.now()
	fits = true
	if err := c.interrupts(dst, &fits); err != nil {
		n.add(host.SourceInterrupts, "", err)
	}
	if err := c.readSoftirqs(dst); err != nil {
		n.add(host.SourceSoftirqs, "", err)
	}
	if err := c.readSoftnet(dst); err != nil {
		n.add(host.SourceSoftnet, "", err)
	}
	if err := c.readStat(dst); err != nil {
		n.add(host.SourceStat, "", err)
	}
	c.readIP(dst)
	return fits, n.sorted()
}

// prepare sizes and clears dst.
func (c *Counters) prepare(dst *host.Sample) {
	n := c.inv.CPUs.NumIDs()
	dst.Shape = c.inv.Shape
	dst.InterruptsTime, dst.SoftirqsTime, dst.SoftnetTime, dst.StatTime = time.Time{}, time.Time{}, time.Time{}, time.Time{}
	dst.Cells = sized(dst.Cells, len(c.inv.Vectors)*n)
	dst.Sums = sized(dst.Sums, len(c.inv.Vectors))
	dst.Present = sized(dst.Present, len(c.inv.Vectors))
	dst.IPOut, dst.IPForwarded = host.Count{}, host.Count{}
	dst.NetRX = sized(dst.NetRX, n)
	dst.NetTX = sized(dst.NetTX, n)
	dst.Softnet = sized(dst.Softnet, n)
	dst.Ticks = sized(dst.Ticks, n)
	dst.Devices = sized(dst.Devices, len(c.inv.Devices))
	dst.Queues = sized(dst.Queues, len(c.inv.Queues))
}

func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}

func (c *Counters) interrupts(dst *host.Sample, fits *bool) error {
	var err error
	c.text, err = readTorn(c.machine.Tree, c.text, interruptsFile, c.table.Parse)
	if err != nil {
		if reasonOf(err) == host.ReasonMasked && c.fromPerCPUCount(dst) {
			dst.InterruptsTime = dst.Time
			return nil
		}
		return err
	}
	dst.InterruptsTime = c.now()
	c.changed(fits)
	n := c.inv.CPUs.NumIDs()
	for r := range c.table.Rows {
		irq := int(c.table.Rows[r].Number)
		if irq < 0 || irq >= len(c.vectorOf) || c.vectorOf[irq] == 0 {
			continue
		}
		id := int(c.vectorOf[irq] - 1)
		cells := c.lastCells[id*n : (id+1)*n]
		for col, count := range c.table.Row(r) {
			if cpu := int(c.table.CPUs[col]); cpu < n {
				cells[cpu] = count
			} else {
				*fits = false
			}
		}
		dst.Present[id] = true
	}
	c.sum(dst)
	return nil
}

// changed says once that rows or online CPUs are not those of before; at first,
// that the CPUs are not the Inventory's.
func (c *Counters) changed(fits *bool) {
	h := rowsHash(&c.table)
	if c.rowsHash == 0 && headerCPUs(c.table.CPUs) != c.inv.CPUs.Online || c.rowsHash != 0 && h != c.rowsHash {
		*fits = false
	}
	c.rowsHash = h
}

// sum copies the cells and adds them up per vector as the kernel does, in 32
// bits and over all possible CPUs.
func (c *Counters) sum(dst *host.Sample) {
	copy(dst.Cells, c.lastCells)
	n := c.inv.CPUs.NumIDs()
	for id := range dst.Sums {
		var sum uint32
		for _, count := range dst.Cells[id*n : (id+1)*n] {
			sum += count
		}
		dst.Sums[id] = sum
	}
}

// fromPerCPUCount stands in for a masked /proc/interrupts: container runtimes
// hide that file and leave /sys/kernel/irq.
func (c *Counters) fromPerCPUCount(dst *host.Sample) bool {
	r := &reader{tree: c.machine.Tree, notes: &notes{}, buf: c.text}
	n := c.inv.CPUs.NumIDs()
	for i := range c.inv.Vectors {
		counts, err := perCPUCount(r, c.inv.Vectors[i].IRQ, c.lastCells[i*n:i*n:(i+1)*n])
		if err != nil || len(counts) > n {
			return false
		}
		copy(c.lastCells[i*n:(i+1)*n], counts)
		dst.Present[i] = true
	}
	c.sum(dst)
	return len(c.inv.Vectors) > 0
}

func (c *Counters) readSoftirqs(dst *host.Sample) error {
	var err error
	if c.text, err = c.machine.Tree.Read(c.text[:0], "proc/softirqs"); err != nil {
		return err
	}
	if err = c.softirqs.Parse(c.text); err != nil {
		return err
	}
	dst.SoftirqsTime = c.now()
	byCPU(dst.NetRX, c.softirqs.CPUs, c.softirqs.Row("NET_RX"))
	byCPU(dst.NetTX, c.softirqs.CPUs, c.softirqs.Row("NET_TX"))
	return nil
}

func byCPU(dst []uint32, cpus []int32, row []uint32) {
	for i, n := range row {
		if cpu := int(cpus[i]); cpu < len(dst) {
			dst[cpu] = n
		}
	}
}

// readSoftnet puts each row under its CPU. Kernels before 5.10 do not name it:
// the rows are then the online CPUs in order.
func (c *Counters) readSoftnet(dst *host.Sample) error {
	var err error
	if c.text, err = c.machine.Tree.Read(c.text[:0], "proc/net/softnet_stat"); err != nil {
		return err
	}
	if c.softnet, err = procfile.ParseSoftnet(c.softnet[:0], c.text); err != nil {
		return err
	}
	dst.SoftnetTime = c.now()
	next := c.inv.CPUs.Online.First()
	for i := range c.softnet {
		row := &c.softnet[i]
		cpu := int(row.CPU)
		if cpu < 0 {
			cpu = next
			for next++; next < c.inv.CPUs.NumIDs() && !c.inv.CPUs.Online.Contains(next); {
				next++
			}
		}
		if cpu < 0 || cpu >= len(dst.Softnet) {
			continue
		}
		dst.Softnet[cpu] = host.Softnet{
			Present: true, Columns: int(row.Columns),
			Processed: row.Processed, Dropped: row.Dropped, TimeSqueeze: row.TimeSqueeze,
			ReceivedRPS: row.ReceivedRPS, FlowLimit: row.FlowLimit,
			Backlog: row.BacklogLen, InputQlen: row.InputQlen, ProcessQlen: row.ProcessQlen,
		}
	}
	return nil
}

func (c *Counters) readStat(dst *host.Sample) error {
	var err error
	if c.text, err = c.machine.Tree.Read(c.text[:0], "proc/stat"); err != nil {
		return err
	}
	if c.ticks, err = procfile.ParseStat(c.ticks[:0], c.text); err != nil {
		return err
	}
	dst.StatTime = c.now()
	for _, t := range c.ticks {
		if cpu := int(t.CPU); cpu < len(dst.Ticks) {
			dst.Ticks[cpu] = host.CPUTicks{
				Present: true, User: t.User, Nice: t.Nice, System: t.System, Idle: t.Idle, IOWait: t.IOWait,
				IRQ: t.IRQ, SoftIRQ: t.SoftIRQ, Steal: t.Steal, Guest: t.Guest, GuestNice: t.GuestNice,
			}
		}
	}
	return nil
}
