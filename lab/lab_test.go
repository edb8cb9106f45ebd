//go:build lab || lablong

package lab_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/netsteer/netsteer/lab"
)

// kernels are the lines on which each guest is booted.
var kernels = []string{"6.1", "6.12", "6.18"}

// settle is how long netsteer may take to show a change that nobody tells it
// of: it reads the settings again every 60 s.
const settle = 90 * time.Second

// seed makes the same flows in each run.
const seed = 1

// serve starts netsteer, with a short window where flags do not say another one,
// so that what needs half a full window comes within seconds.
func serve(g lab.Guest, flags ...string) lab.Guest {
	if !slices.ContainsFunc(flags, func(f string) bool { return strings.HasPrefix(f, "--sample.") }) {
		flags = append(flags, "--sample.interval=1s", "--sample.window=10s")
	}
	g.Program = append([]string{lab.NetsteerPath, "--web.listen-address=:10420"}, flags...)
	return g
}

// boot starts the guest with netsteer in it, ready to be scraped.
func boot(t *testing.T, g lab.Guest, flags ...string) *lab.Running {
	t.Helper()
	r := lab.Boot(t, serve(g, flags...))
	lab.Eventually(t, time.Minute, func() error {
		_, err := r.Get("/-/ready")
		return err
	})
	return r
}

// send puts the flows on the wire and fails unless nearly all of them arrived.
func send(t *testing.T, r *lab.Running, nic int, f lab.Flows) int {
	t.Helper()
	before := received(t, r, r.Devices[nic])
	sent, err := r.Send(nic, f)
	if err != nil {
		t.Fatal(err)
	}
	// On a busy host an emulated NIC drops; what is counted is compared with the
	// kernel's counts, not with what was sent.
	if got := received(t, r, r.Devices[nic]) - before; got < sent/2 {
		t.Fatalf("%s received %d of %d packets", r.Devices[nic], got, sent)
	}
	return sent
}

// flows are 512 flows of random ports and addresses, for about 2 s.
var flows = lab.Flows{Count: 512, Seed: seed, Rate: 4000, Packets: 8192}

// scrape reads /metrics, not sooner than 1 s after the last: scrapes within
// 1 s share one reading of the counters.
func scrape(t *testing.T, r *lab.Running) lab.Metrics {
	t.Helper()
	time.Sleep(1500 * time.Millisecond)
	m, err := r.Metrics()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// want says nil if the one series has the value.
func want(m lab.Metrics, value float64, name string, labels ...string) error {
	switch got, ok := m.Value(name, labels...); {
	case !ok:
		return fmt.Errorf("%s%v: %d series, want one with %v", name, labels, len(m.Series(name, labels...)), value)
	case got != value:
		return fmt.Errorf("%s%v is %v, want %v", name, labels, got, value)
	}
	return nil
}

// eachQueue collects f's first error over queues 0 to n-1, named by their label
// value.
func eachQueue(n int, f func(queue string) error) error {
	for queue := range n {
		if err := f(strconv.Itoa(queue)); err != nil {
			return err
		}
	}
	return nil
}
