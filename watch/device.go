package watch

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/scan"
)

const (
	// patience is how long the next device waits for this one: readings take
	// RTNL and go one at a time, but one that hangs must not hold up the rest.
	patience = 200 * time.Millisecond
	// slowReading at the 95th percentile makes a device slow: it is read so
	// rarely that it costs at most 1/maxShare of the time.
	slowReading = 10 * time.Millisecond
	maxShare    = 100
)

// deviceReader reads one device's counters in the background and keeps the last
// values. A reading that hangs blocks only itself.
type deviceReader struct {
	counters *scan.Counters
	device   *host.Device

	mu       sync.Mutex
	busy     bool
	begun    time.Time // of the present or last reading
	took     []time.Duration
	next     deviceValues // written by the reading
	values   deviceValues // of the last finished reading
	finished time.Time
}

type deviceValues struct {
	device   host.DeviceCounters
	queues   []host.QueueCounters
	degraded []host.Degraded
}

func newDeviceReader(c *scan.Counters, d *host.Device) *deviceReader {
	n := len(d.RX) + len(d.TX)
	return &deviceReader{counters: c, device: d,
		next:   deviceValues{queues: make([]host.QueueCounters, n)},
		values: deviceValues{queues: make([]host.QueueCounters, n)}}
}

// start begins a reading unless one is under way or it is too early for a slow
// device. done is closed when it ends; nil: none was begun.
func (r *deviceReader) start(now time.Time) (done chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy || now.Sub(r.begun) < r.pause() {
		return nil
	}
	r.busy, r.begun = true, now
	done = make(chan struct{})
	go func() {
		defer close(done)
		r.next.degraded = r.counters.Device(r.device.ID, &r.next.device, r.next.queues)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.next, r.values = r.values, r.next
		r.busy, r.finished = false, time.Now()
		r.took = append(r.took, r.finished.Sub(r.begun))
		if len(r.took) > 20 {
			r.took = r.took[1:]
		}
	}()
	return done
}

// pause is the least time between two readings; r.mu is held.
func (r *deviceReader) pause() time.Duration {
	if p := r.p95(); p > slowReading {
		return p * maxShare
	}
	return 0
}

// p95 is the 95th percentile of the last readings: of two or more it never is
// the single worst, which a busy host makes of any reading.
func (r *deviceReader) p95() time.Duration {
	if len(r.took) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(r.took))
	return sorted[(len(sorted)-1)*95/100]
}

// readDevices reads all devices, one after the other, until ctx ends.
func readDevices(ctx context.Context, devices []*deviceReader) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for _, d := range devices {
		done := d.start(time.Now())
		if done == nil {
			continue
		}
		timer.Reset(patience)
		select {
		case <-done:
		case <-timer.C:
		case <-ctx.Done():
			return
		}
	}
}

// copyTo puts the last values into the Sample if they are young enough. It says
// what is late and whether the device's values are missing for it.
func (r *deviceReader) copyTo(s *host.Sample, now time.Time, maxAge time.Duration) (degraded []host.Degraded, failed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	say := func(reason host.Reason, detail string) {
		degraded = append(degraded, host.Degraded{Source: host.SourceStats, Device: r.device.Name, Reason: reason, Detail: detail})
	}
	if p := r.p95(); p > slowReading {
		say(host.ReasonSlow, "reading its counters takes "+p.Round(time.Millisecond).String()+": read every "+(p*maxShare).Round(time.Second).String())
	}
	late := r.busy && now.Sub(r.begun) >= patience
	if late {
		say(host.ReasonTimeout, "reading its counters is not done after "+now.Sub(r.begun).Round(time.Millisecond).String())
	}
	// A slow device's values live as long as the pause between its readings.
	if r.finished.IsZero() || now.Sub(r.finished) > max(maxAge, r.pause()+maxAge) {
		return degraded, late || !r.finished.IsZero()
	}
	if late {
		say(host.ReasonStale, "the last values are shown")
	}
	s.Devices[r.device.ID] = r.values.device
	copy(s.Queues[firstQueue(r.device):], r.values.queues)
	for _, d := range r.values.degraded {
		failed = failed || d.Source == host.SourceStats && d.Reason != host.ReasonNoCounters && d.Reason != host.ReasonMissing
	}
	return append(degraded, r.values.degraded...), failed
}

// firstQueue is the ID of the device's first queue: RX, then TX follow it.
func firstQueue(d *host.Device) int {
	switch {
	case len(d.RX) > 0:
		return d.RX[0].ID
	case len(d.TX) > 0:
		return d.TX[0].ID
	}
	return 0
}
