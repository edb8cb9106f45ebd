package skew

import (
	"time"

	"github.com/netsteer/netsteer/host"
)

// delta32 is the growth of a 32-bit counter: a step back of more than half the
// range is a reset, and all there is counts; less is a wrap.
func delta32(before, now uint32) uint32 {
	if d := now - before; d < 1<<31 {
		return d
	}
	return now
}

// delta64 is the growth of a 64-bit counter; after a reset all there is counts.
func delta64(before, now uint64) uint64 {
	if now < before {
		return now
	}
	return now - before
}

// rate is the growth per second of a counter that is known both times.
func rate(before, now host.Count, elapsed time.Duration) Value {
	if !before.OK || !now.OK || elapsed <= 0 {
		return Value{}
	}
	return known(float64(delta64(before.N, now.N)) / elapsed.Seconds())
}

func rate32(before, now uint32, elapsed time.Duration) Value {
	if elapsed <= 0 {
		return Value{}
	}
	return known(float64(delta32(before, now)) / elapsed.Seconds())
}

// between is the time between two readings of one source; 0 if it was not read
// both times.
func between(a, b time.Time) time.Duration {
	if a.IsZero() || b.IsZero() {
		return 0
	}
	return b.Sub(a)
}
