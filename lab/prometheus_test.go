//go:build lab

package lab_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/netsteer/netsteer/dashboards/check"
	"github.com/netsteer/netsteer/lab"
)

// An operator's way through: vectors stacked under load make an alert pending,
// the dashboard has data in every panel, and applying the plan resolves the
// alert while the load goes on.
func TestPrometheus(t *testing.T) {
	// Of the kernels here only this one tells which queue a NAPI thread serves.
	g := writer(t, lab.Steering("6.18"))
	g.FilterSteps = 8000
	// A name so long that e1000e cuts "-rx-0" off: vectors of no known queue.
	g.NICs = append(g.NICs, lab.NIC{Driver: lab.E1000E, Name: "enp9s0f0np0lan"})
	// Findings are held for three windows.
	r := boot(t, g, append(writerFlags, "--sample.interval=1s", "--sample.window=5s")...)
	write(t, r, "/sys/class/net/"+r.Devices[virtio]+"/threaded", "1")
	stack(t, r)
	if _, err := advice(r); err != nil { // reads the settings now, not within 60 s
		t.Fatal(err)
	}
	m := watch(t, r, 20)
	stop := r.Stream(t, igb, load)

	t.Run("pending", func(t *testing.T) {
		began := time.Now()
		lab.Eventually(t, settle, func() error {
			stacked, all, err := m.stacked()
			if err == nil && len(stacked) == 0 {
				err = fmt.Errorf("no alert of the stacked vectors; there are %v; %s", all, m.load())
			}
			return err
		})
		t.Logf("after %.0f s; %s", time.Since(began).Seconds(), m.load())
	})
	t.Run("dashboard", func(t *testing.T) { testDashboard(t, m) })
	t.Run("resolved", func(t *testing.T) {
		stacked, all, err := m.stacked()
		if err != nil || len(stacked) == 0 {
			t.Fatalf("nothing to resolve: %v, %v", all, err)
		}
		t.Logf("%v; %s", all, m.load())
		post(t, r, "/apply", "committed")
		// A CPU that is full polls and takes no interrupt, and without interrupt
		// remapping a vector moves with its next one: at the first gap in the load.
		sent := stop()
		time.Sleep(2 * time.Second)
		again := r.Stream(t, igb, load)
		stop = func() int { return sent + again() }
		began := time.Now()
		lab.Eventually(t, settle, func() error {
			_, all, err := m.stacked()
			if err == nil && slices.ContainsFunc(all, alert.loud) {
				err = fmt.Errorf("there still are %v; %s", all, m.load())
			}
			if err != nil {
				return err
			}
			// The window must have left the old load behind, or an alert that comes
			// back would be missed.
			busy, err := m.ask("instance_cpu:netsteer_cpu_busy_net:rate" + m.window + " > 0.5")
			if err == nil && len(busy) > 0 {
				err = fmt.Errorf("a CPU still is busy: %s", m.load())
			}
			return err
		})
		t.Logf("after %.0f s; %s", time.Since(began).Seconds(), m.load())
	})
	if n := stop(); n < 10*load.Rate {
		t.Errorf("only %d packets were sent", n)
	}
}

// load is more than one emulated CPU can take with that filter, nearly 200 us a
// packet, and leaves eight of them room.
var load = lab.Flows{Count: 256, Seed: seed, Rate: 10000}

// stacked gives the alerts about igb's vectors on one CPU, and all there are.
func (m *monitor) stacked() (stacked, all []alert, err error) {
	all, err = m.alerts()
	for _, a := range all {
		l := a.Labels
		if l["alertname"] == "NetsteerSoftirqSaturation" && l["cpu"] == strconv.Itoa(wrongCPU) ||
			l["alertname"] == "NetsteerQueueSkew" && l["device"] == m.r.Devices[igb] && l["cause"] == "placement" {
			stacked = append(stacked, a)
		}
	}
	return stacked, all, err
}

// testDashboard: every expression has data, those of faults too: stacked
// vectors, vectors of no known queue, and threaded NAPI are all there, and what
// little the guest sends is its own and leaves by any queue.
func testDashboard(t *testing.T, m *monitor) {
	r := m.r
	expressions, err := check.Expressions("../dashboards/netsteer.json")
	if err != nil {
		t.Fatal(err)
	}
	choice := check.Choice{Job: "netsteer", Instance: r.Target(), Device: ".+", RateInterval: 4 * m.every}
	left := expressions
	lab.Eventually(t, settle, func() error {
		var empty []check.Expression
		var names []string
		for _, e := range left {
			samples, err := m.ask(choice.Fill(e.Expr))
			if err != nil {
				return err
			}
			if len(samples) == 0 {
				empty = append(empty, e)
				names = append(names, fmt.Sprintf("%s: %s", e.Panel, strings.Join(strings.Fields(e.Expr), " ")))
			}
		}
		if left = empty; len(left) > 0 {
			return fmt.Errorf("%d of %d expressions have no data:\n%s", len(left), len(expressions), strings.Join(names, "\n"))
		}
		return nil
	})
	t.Logf("%d expressions have data", len(expressions))
}
