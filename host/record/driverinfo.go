package record

import "github.com/netsteer/netsteer/host/scan"

// parseDriverInfo reads ethtool -i.
func parseDriverInfo(text []byte) (scan.DriverInfo, error) {
	var d scan.DriverInfo
	for line := range lines(text) {
		name, value, _ := field(line)
		switch name {
		case "driver":
			d.Driver = value
		case "version":
			d.Version = value
		case "firmware-version":
			d.Firmware = value
		case "bus-info":
			d.BusInfo = value
		}
	}
	if d.Driver == "" {
		return scan.DriverInfo{}, refusal(text)
	}
	return d, nil
}
