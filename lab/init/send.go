package main

import (
	"errors"
	"fmt"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/netsteer/netsteer/lab/wire"
)

// send sends small UDP packets from threads that are pinned, so that the test
// knows on which CPU the transmit queue was chosen.
func send(s wire.Send) (wire.Sent, error) {
	if len(s.CPUs) == 0 || s.Flows < len(s.CPUs) || s.Rate <= 0 || s.Seconds <= 0 {
		return wire.Sent{}, errors.New("wanted: CPUs, at least one flow for each, a rate and a time")
	}
	var packets atomic.Int64
	var wait sync.WaitGroup
	faults := make([]error, len(s.CPUs))
	for i, cpu := range s.CPUs {
		flows := (s.Flows + len(s.CPUs) - 1 - i) / len(s.CPUs)
		rate := float64(s.Rate) / float64(len(s.CPUs))
		wait.Go(func() {
			sent, err := sendFrom(cpu, s.To, flows, rate, s.Seconds)
			packets.Add(int64(sent))
			faults[i] = err
		})
	}
	wait.Wait()
	return wire.Sent{Packets: int(packets.Load())}, errors.Join(faults...)
}

func sendFrom(cpu int, to string, flows int, rate, seconds float64) (int, error) {
	// Not unlocked: the pinned thread ends with the goroutine.
	runtime.LockOSThread()
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return 0, fmt.Errorf("pinning to CPU %d: %w", cpu, err)
	}
	connections := make([]net.Conn, flows)
	for i := range connections {
		c, err := net.Dial("udp4", to)
		if err != nil {
			return 0, err
		}
		defer c.Close()
		connections[i] = c
	}
	payload := make([]byte, 18) // the shortest Ethernet frame
	start, sent := time.Now(), 0
	for {
		elapsed := time.Since(start).Seconds()
		if elapsed >= seconds {
			return sent, nil
		}
		for due := int(elapsed * rate); sent < due; sent++ {
			// Refused or full: as on a wire, nobody tells the sender.
			_, _ = connections[sent%flows].Write(payload)
		}
		time.Sleep(2 * time.Millisecond)
	}
}
