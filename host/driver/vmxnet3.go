package driver

// vmxnet3 prints its statistics in sections: the value of a header is the queue
// of the rows below it, and the same names come again in each section
// (vmxnet3_get_ethtool_stats, drivers/net/vmxnet3/vmxnet3_ethtool.c). Rows that
// differ in leading blanks only are different counters.
func vmxnet3Sections(e *Entry, names []string, values []uint64) []Stat {
	stats := make([]Stat, len(names))
	direction, queue := RX, -1
	for i, name := range names {
		stats[i].Queue = -1
		if i >= len(values) {
			continue
		}
		switch name {
		case "Tx Queue#":
			direction, queue = TX, header(values[i])
		case "Rx Queue#":
			direction, queue = RX, header(values[i])
		case "tx timeout count":
			queue = -1
		default:
			if s, ok := e.Stat(name); ok && s.Direction == direction && queue >= 0 {
				s.Queue = queue
				stats[i] = s
			}
		}
	}
	return stats
}

// header is a queue number, or -1 for what cannot be one.
func header(value uint64) int {
	if value > 1<<16 {
		return -1
	}
	return int(value)
}
