//go:build lab || lablong

package lab_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/netsteer/netsteer/lab"
)

// untouched is what an operator has on the day of the installation: four guests
// as they boot, with irqbalance, under easy traffic. When it has flowed for so
// long no alert above info is pending. scale divides the rules' windows and
// waits.
func untouched(t *testing.T, scale int, traffic time.Duration) {
	irqbalance := lab.Irqbalance(t)
	type host struct {
		*lab.Running
		m      *monitor
		stop   func() int
		before int
	}
	var hosts []host // all at once: what is waited for is time
	for _, kernel := range []string{"6.1", "6.12"} {
		for _, driver := range []lab.Driver{lab.IGB, lab.Virtio} {
			g := lab.Plain(kernel, driver)
			g.Files = irqbalance
			r := boot(t, g)
			if ran, err := r.Run(lab.IrqbalancePath); err != nil || ran.Code != 0 {
				t.Fatalf("irqbalance: %v, exit %d: %s", err, ran.Code, ran.Stderr)
			}
			// Advice looks at once who else writes masks; otherwise that is seen with
			// the settings, within 60 s.
			if _, err := advice(r); err != nil {
				t.Fatal(err)
			}
			hosts = append(hosts, host{r, watch(t, r, scale), r.Stream(t, 0, easy), received(t, r, r.Devices[0])})
		}
	}
	time.Sleep(traffic)
	for _, h := range hosts {
		t.Run(h.Kernel+"/"+h.Name, func(t *testing.T) {
			alerts, err := h.m.alerts()
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range alerts {
				if a.loud() {
					t.Error(a)
				}
			}
			// Nothing is shown if nothing was seen.
			for _, expr := range []string{
				`sum(rate(netsteer_queue_packets_total{direction="rx"}[` + h.m.window + `])) > 200`,
				`netsteer_rival_active{name="irqbalance"} == 1`,
			} {
				// Programs are looked for with the settings, every 60 s: where a guest
				// boots fast, irqbalance comes after the first look.
				lab.Eventually(t, 90*time.Second, func() error {
					seen, err := h.m.ask(expr)
					if err == nil && len(seen) != 1 {
						err = fmt.Errorf("Prometheus has not seen %s: %v", expr, seen)
					}
					return err
				})
			}
			load := h.m.load()
			sent := h.stop()
			t.Logf("%d packets sent, %d received; %s", sent, received(t, h.Running, h.Devices[0])-h.before, load)
		})
	}
}

// easy is far from what loads an emulated CPU.
var easy = lab.Flows{Count: 512, Seed: seed, Rate: 500}
