package host

// InterruptRow is one row of /proc/interrupts, for people and JSON. Metrics use
// Sample.
type InterruptRow struct {
	Label string // "26", "NMI", "ERR"
	// Total is the plain 64-bit sum of the row's cells.
	Total uint64
	// PerCPU holds the cells that are not 0, by CPU id, ascending. A short row
	// (ERR, MIS) has none: its number belongs to no CPU.
	PerCPU []CPUCount
	Chip   string
	HWIRQ  string
	// Actions are the action names, or the description of an architecture row.
	Actions []string
	// Vector is the index in Inventory.Vectors, -1 if the row is no device's.
	Vector int
}

// CPUCount is one cell.
type CPUCount struct {
	CPU   int
	Count uint32
}
