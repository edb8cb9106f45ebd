package collector

import (
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/skew"
	"github.com/netsteer/netsteer/watch"
)

var (
	skewGroup = &group{"skew"}

	queueSkewCV = skewGroup.gauge("queue_skew_cv",
		"Population standard deviation / mean of the live queues' rates over the window. packets_weighted is rate / RSS weight: the hash's skew. Absent below --skew.min-rate.",
		"device", "direction", "signal")
	queueSkewMax = skewGroup.gauge("queue_skew_max_to_mean_ratio",
		"Highest rate / mean of the live queues' rates over the window. Absent below --skew.min-rate.",
		"device", "direction", "signal")
	queueSkewPeak = skewGroup.gauge("queue_skew_peak_ratio",
		"Highest max/mean of the live queues' packets in any sampling interval of the window: shows a burst shorter than the window.",
		"device", "direction")
	skewWindow = skewGroup.gauge("skew_window_seconds",
		"Length of the window that rates and skew are computed over. Absent until it is half full.")
	deviceSkewCause = skewGroup.gauge("device_skew_cause",
		"Why the device's queues are skewed: 1 for the present cause, all 0 until the window is half full.",
		"device", "direction", "cause")
	cpuSkewCV = skewGroup.gauge("cpu_skew_cv",
		"Population standard deviation / mean over the busiest allowed CPUs, as many as can have work. Only busy_net is load; nic_packets are the queues' packets charged to the CPU that runs them.",
		"signal")
	cpuSkewMax = skewGroup.gauge("cpu_skew_max_to_mean_ratio",
		"Highest / mean over the busiest allowed CPUs, as many as can have work. Only busy_net is load; nic_packets are the queues' packets charged to the CPU that runs them.",
		"signal")
)

var skewCollector = collector{
	group:   skewGroup,
	sources: []host.Source{host.SourceStats, host.SourceInterrupts, host.SourceStat, host.SourceSoftnet, host.SourceSoftirqs},
	emit:    emitSkew,
}

func emitSkew(st *watch.State, s *sink) {
	rates := windowRates(st)
	for i := range st.Inventory.Devices {
		d := &st.Inventory.Devices[i]
		if d.Stacked || len(d.RX)+len(d.TX) == 0 {
			continue
		}
		var device skew.DeviceRates
		if rates != nil {
			device = rates.Devices[d.ID]
		}
		emitDirection(s, d.Name, host.RX, &device.RX)
		emitDirection(s, d.Name, host.TX, &device.TX)
	}
	if rates == nil {
		return
	}
	s.add(skewWindow, rates.Window.Seconds())
	for signal := range skew.NumCPUSignals {
		s.known(cpuSkewCV, rates.CPUSkew[signal].CV, signal.String())
		s.known(cpuSkewMax, rates.CPUSkew[signal].MaxToMean, signal.String())
	}
}

func emitDirection(s *sink, device string, direction host.Direction, r *skew.DirectionRates) {
	for _, cause := range skew.Causes {
		s.flag(deviceSkewCause, cause == r.Cause, device, direction.String(), string(cause))
	}
	for signal := range skew.NumSignals {
		s.known(queueSkewCV, r.Skew[signal].CV, device, direction.String(), signal.String())
		s.known(queueSkewMax, r.Skew[signal].MaxToMean, device, direction.String(), signal.String())
	}
	s.known(queueSkewPeak, r.Peak, device, direction.String())
}
