package netlink

import (
	"os"
	"time"
)

// lock is a mutex whose waiters give up: a request that hangs in a driver must not hold the others.
type lock chan struct{}

func newLock() lock { return make(lock, 1) }

func (l lock) acquire(timeout time.Duration) error {
	select {
	case l <- struct{}{}: // the usual case needs no timer, and so no allocation
		return nil
	default:
	}
	t := time.NewTimer(timeout)
	defer t.Stop()
	select {
	case l <- struct{}{}:
		return nil
	case <-t.C:
		return os.ErrDeadlineExceeded
	}
}

func (l lock) release() { <-l }
