//go:build lab

package lab_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/netsteer/netsteer/lab"
	"github.com/netsteer/netsteer/lab/wire"
)

// On a router with XPS unset forwarded packets keep their queue: there is no
// RX/TX mismatch to show, and none is shown. The same machine has one as soon
// as what it sends is mostly its own.
func TestForwarder(t *testing.T) {
	for _, kernel := range kernels {
		t.Run(kernel, func(t *testing.T) {
			r := boot(t, lab.Forwarder(kernel))
			const in, out, queues = 0, 1, 4
			for nic := range r.NICs {
				vectors(t, r, nic, queues)
				for queue := range queues {
					file := fmt.Sprintf("/sys/class/net/%s/queues/tx-%d/xps_cpus", r.Devices[nic], queue)
					if mask := strings.TrimSpace(read(t, r, file)); strings.Trim(mask, "0,") != "" {
						t.Fatalf("%s is %s: XPS is set", file, mask)
					}
				}
			}
			t.Run("forwarding", func(t *testing.T) {
				judge(t, r, out, func() (int, error) {
					return r.Send(in, lab.Flows{Count: 512, Seed: seed, Rate: 3000, Packets: 48000, To: lab.Beyond})
				}, func(m lab.Metrics) error {
					for _, name := range []string{"netsteer_affinity_mismatch_ratio", "netsteer_queue_affinity_mismatch"} {
						if series := m.Series(name); len(series) != 0 {
							return fmt.Errorf("%s is there: %v", name, series)
						}
					}
					return nil
				})
			})
			t.Run("sending", func(t *testing.T) {
				judge(t, r, out, func() (int, error) {
					return r.SendFromGuest(out, wire.Send{CPUs: []int{0, 1, 2, 3}, Flows: 64, Rate: 3000, Seconds: 16})
				}, func(m lab.Metrics) error {
					return want(m, 1, "netsteer_affinity_mismatch_ratio", "device", r.Devices[out])
				})
			})
		})
	}
}

// judge runs the traffic and, when netsteer has a window full of it, asks for
// the verdict: before that, an absent series would say nothing.
func judge(t *testing.T, r *lab.Running, out int, traffic func() (int, error), verdict func(lab.Metrics) error) {
	before := transmitted(t, r, r.Devices[out])
	type result struct {
		packets int
		err     error
	}
	done := make(chan result, 1)
	go func() {
		packets, err := traffic()
		done <- result{packets, err}
	}()
	// A window of 10 s, and some for the guest's slower clock; then more than
	// one scrape, because the answers to scrapes are packets of the guest's own.
	for _, wait := range []time.Duration{10 * time.Second, 2 * time.Second, 2 * time.Second} {
		time.Sleep(wait)
		m, err := r.Metrics()
		if err != nil {
			t.Error(err)
			break
		}
		if cv := m.Series("netsteer_queue_skew_cv", "device", r.Devices[out], "direction", "tx", "signal", "packets"); len(cv) != 1 {
			t.Errorf("%s has no netsteer_queue_skew_cv of tx: its window was not judged", r.Devices[out])
		}
		if err := verdict(m); err != nil {
			t.Error(err)
		}
	}
	sent := <-done
	if sent.err != nil {
		t.Fatal(sent.err)
	}
	if got := transmitted(t, r, r.Devices[out]) - before; got < sent.packets*90/100 {
		t.Errorf("%s sent %d of %d packets", r.Devices[out], got, sent.packets)
	}
}
