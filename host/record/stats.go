package record

import "strings"

// parseStats reads ethtool -S. ethtool indents by five blanks; further ones are
// the driver's and tell apart what else has the same name (vmxnet3). Names come
// in the driver's order and may repeat.
func parseStats(text []byte) ([]NetlinkStat, error) {
	const indent = "     "
	var list []NetlinkStat
	for line := range lines(text) {
		i := strings.LastIndex(line, ":")
		if i < 0 {
			continue
		}
		value, ok := number(strings.TrimSpace(line[i+1:]))
		if !ok {
			continue
		}
		name, ok := strings.CutPrefix(line[:i], indent)
		if !ok {
			name = strings.TrimLeft(name, " \t")
		}
		list = append(list, NetlinkStat{Name: name, Value: value})
	}
	if len(list) == 0 {
		return nil, refusal(text)
	}
	return list, nil
}
