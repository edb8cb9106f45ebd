//go:build lab

package lab_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/netsteer/netsteer/lab"
	"github.com/netsteer/netsteer/lab/wire"
)

// On a machine with two real multi-queue NICs netsteer sees which vector
// serves which queue, where it runs, and keeps its counters through CPU
// hotplug.
func TestSteering(t *testing.T) {
	for _, kernel := range kernels {
		t.Run(kernel, func(t *testing.T) {
			r := boot(t, lab.Steering(kernel))
			for file, text := range map[string]string{
				"/sys/devices/system/node/online":                            "0-1",
				"/sys/devices/system/node/node1/cpulist":                     "8-15",
				"/sys/devices/system/cpu/cpu9/topology/thread_siblings_list": "8-9",
			} {
				if got := strings.TrimSpace(read(t, r, file)); got != text {
					t.Errorf("%s is %q, want %q: the guest is not what its spec says", file, got, text)
				}
			}
			// In this order: pending moves are seen on virtio only while no
			// packet has reached it, and the CPU that is taken offline is the
			// one on which the vectors were stacked.
			t.Run("vectors", func(t *testing.T) { testVectors(t, r) })
			t.Run("pending", func(t *testing.T) { testPending(t, r) })
			t.Run("stacked", func(t *testing.T) { testStacked(t, r) })
			t.Run("hotplug", func(t *testing.T) { testHotplug(t, r) })
			t.Run("reading only", func(t *testing.T) { testReadingOnly(t, r) })
		})
	}
}

const (
	igb    = 0 // indexes of lab.Steering's NICs
	virtio = 1
	queues = 8
	oneCPU = 11 // on igb's node
)

// Every queue of both NICs has the vector that the test finds itself, and the
// mapping is as good as that kernel allows: igb tells netdev-genl its vectors
// from 6.18 on, virtio never.
func testVectors(t *testing.T, r *lab.Running) {
	if node := strings.TrimSpace(read(t, r, "/sys/class/net/"+r.Devices[igb]+"/device/numa_node")); node != "1" {
		t.Fatalf("igb is on node %s, want 1", node)
	}
	before := vectors(t, r, igb, queues)["rx"]
	sent := send(t, r, igb, flows)
	after := vectors(t, r, igb, queues)["rx"]
	for queue := range queues {
		// The watchdog's one interrupt in 2 s is not what is meant.
		if grown := sum(after[queue]) - sum(before[queue]); grown < 20 {
			t.Errorf("rx queue %d took %d interrupts for its share of %d packets", queue, grown, sent)
		}
	}
	m := scrape(t, r)
	for nic, mapping := range map[int]string{igb: igbMapping(r.Kernel), virtio: "name"} {
		device := r.Devices[nic]
		for direction, rows := range vectors(t, r, nic, queues) {
			for queue, row := range rows {
				labels := []string{"device", device, "direction", direction, "queue", strconv.Itoa(queue)}
				series := m.Series("netsteer_queue_irq_info", labels...)
				if len(series) != 1 {
					t.Errorf("netsteer_queue_irq_info%v: %d series, want 1", labels, len(series))
					continue
				}
				if got := series[0].Labels; got["irq"] != row.irq || got["mapping"] != mapping {
					t.Errorf("%s %s-%d: interrupt %s by %s, want %s by %s", device, direction, queue, got["irq"], got["mapping"], row.irq, mapping)
				}
			}
		}
	}
	// What is live is known when the window is half full.
	lab.Eventually(t, settle, func() error { return allLive(r) })
}

// allLive wants 8 live queues of each NIC and direction, no fewer and no more.
func allLive(r *lab.Running) error {
	m, err := r.Metrics()
	if err != nil {
		return err
	}
	for _, device := range r.Devices {
		for _, direction := range []string{"rx", "tx"} {
			labels := []string{"device", device, "direction", direction}
			if series := m.Series("netsteer_queue_live", labels...); len(series) != queues {
				return fmt.Errorf("netsteer_queue_live%v: %d series, want %d", labels, len(series), queues)
			}
			if err := eachQueue(queues, func(queue string) error {
				return want(m, 1, "netsteer_queue_live", append(labels, "queue", queue)...)
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

func igbMapping(kernel string) string {
	if kernel == "6.1" || kernel == "6.12" {
		return "name"
	}
	return "netdev-genl"
}

// Without interrupt remapping a vector moves at its next interrupt: on an idle
// NIC the new masks are pending until the first packets, and not a failure.
func testPending(t *testing.T, r *lab.Running) {
	device := r.Devices[virtio]
	if n := received(t, r, device); n != 0 {
		t.Fatalf("%s has received %d packets: its vectors are not idle", device, n)
	}
	both := vectors(t, r, virtio, queues)
	old, planned := map[string]string{}, map[string]string{} // CPU by interrupt
	for queue := range queues {
		pair := []string{both["rx"][queue].irq, both["tx"][queue].irq}
		for _, irq := range pair {
			old[irq] = effective(t, r, irq)
		}
		// A CPU on which neither is: a vector that is there already has
		// nothing to wait for.
		target := "9"
		for _, next := range []string{"11", "13"} {
			if old[pair[0]] == target || old[pair[1]] == target {
				target = next
			}
		}
		for _, irq := range pair {
			planned[irq] = target
			write(t, r, "/proc/irq/"+irq+"/smp_affinity_list", target)
		}
	}
	lab.Eventually(t, settle, func() error { return allPending(r, device, 1) })
	for irq, cpu := range old {
		if now := effective(t, r, irq); now != cpu {
			t.Fatalf("interrupt %s of %s moved from CPU %s to %s without a packet", irq, device, cpu, now)
		}
	}

	// A pair is pending while either of its two vectors is.
	send(t, r, virtio, flows)
	cpus := make([]int, r.CPUs())
	for cpu := range cpus {
		cpus[cpu] = cpu
	}
	if _, err := r.SendFromGuest(virtio, wire.Send{CPUs: cpus, Flows: 64, Rate: 6000, Seconds: 2}); err != nil {
		t.Fatal(err)
	}
	for irq, cpu := range planned {
		if now := effective(t, r, irq); now != cpu {
			t.Fatalf("interrupt %s of %s is on CPU %s after its packets, want %s", irq, device, now, cpu)
		}
	}
	lab.Eventually(t, settle, func() error { return allPending(r, device, 0) })
}

func allPending(r *lab.Running, device string, value float64) error {
	m, err := r.Metrics()
	if err != nil {
		return err
	}
	return eachQueue(queues, func(queue string) error {
		return want(m, value, "netsteer_queue_affinity_pending", "device", device, "queue", queue)
	})
}

// All vectors of igb on one CPU: that CPU's number for every queue, and a
// stacked ratio of 1, because the node has CPUs without a vector.
func testStacked(t *testing.T, r *lab.Running) {
	device := r.Devices[igb]
	rows := vectors(t, r, igb, queues)["rx"]
	for _, row := range rows {
		write(t, r, "/proc/irq/"+row.irq+"/smp_affinity_list", strconv.Itoa(oneCPU))
	}
	send(t, r, igb, flows)
	for queue, row := range rows {
		if now := effective(t, r, row.irq); now != strconv.Itoa(oneCPU) {
			t.Fatalf("queue %d of %s is on CPU %s, want %d", queue, device, now, oneCPU)
		}
	}
	lab.Eventually(t, settle, func() error {
		m, err := r.Metrics()
		if err != nil {
			return err
		}
		for _, direction := range []string{"rx", "tx"} {
			if err := eachQueue(queues, func(queue string) error {
				return want(m, oneCPU, "netsteer_queue_irq_cpu", "device", device, "direction", direction, "queue", queue)
			}); err != nil {
				return err
			}
		}
		return want(m, 1, "netsteer_irq_stacked_ratio", "device", device)
	})
}

// When the CPU that took all interrupts goes offline its column leaves
// /proc/interrupts and the rows' sums fall; the counters must not, and what
// they grow by is what the kernel counted.
func testHotplug(t *testing.T, r *lab.Running) {
	device := r.Devices[igb]
	rows := vectors(t, r, igb, queues)["rx"]
	online := "/sys/devices/system/cpu/cpu" + strconv.Itoa(oneCPU) + "/online"
	before := readCounters(t, r, device, rows)
	for _, step := range []string{"0", "1"} {
		write(t, r, online, step)
		if state := strings.TrimSpace(read(t, r, online)); state != step {
			t.Fatalf("%s is %s, want %s", online, state, step)
		}
		send(t, r, igb, flows)
		now := readCounters(t, r, device, rows)
		for queue := range queues {
			low, high := now.low[queue]-before.high[queue], now.high[queue]-before.low[queue]
			grown := int64(now.scraped[queue]) - int64(before.scraped[queue])
			if grown < int64(low) || grown > int64(high) {
				t.Errorf("online=%s: netsteer_queue_interrupts_total of queue %d grew by %d, the kernel counted %d to %d", step, queue, grown, low, high)
			}
			if low == 0 {
				t.Errorf("online=%s: no interrupt of queue %d, so nothing is shown", step, queue)
			}
		}
		before = now
	}
}

// A server that was not told to write changes nothing, though there is
// something to change.
func testReadingOnly(t *testing.T, r *lab.Running) {
	for _, path := range []string{"/apply", "/rollback"} {
		status, answer, err := r.Post(path, "")
		if err != nil {
			t.Fatal(err)
		}
		if status != http.StatusForbidden || !strings.Contains(string(answer), "--web.enable-apply") {
			t.Errorf("POST %s: %d %s, want 403 and the flag", path, status, answer)
		}
	}
}

// counters is a scrape of the vectors' counters between two readings of the
// kernel's own, by queue.
type counters struct{ low, scraped, high [queues]uint64 }

func readCounters(t *testing.T, r *lab.Running, device string, rows map[int]row) (c counters) {
	t.Helper()
	for queue, row := range rows {
		c.low[queue] = total(t, r, row.irq)
	}
	m := scrape(t, r)
	for queue, row := range rows {
		c.high[queue] = total(t, r, row.irq)
		value, ok := combined(m, device, queue)
		if !ok {
			t.Fatalf("no netsteer_queue_interrupts_total of queue %d of %s", queue, device)
		}
		c.scraped[queue] = uint64(value)
	}
	return c
}

// combined is the counter of a vector that serves both directions.
func combined(m lab.Metrics, device string, queue int) (float64, bool) {
	return m.Value("netsteer_queue_interrupts_total", "device", device, "direction", "combined", "queue", strconv.Itoa(queue))
}

func effective(t *testing.T, r *lab.Running, irq string) string {
	t.Helper()
	return strings.TrimSpace(read(t, r, fmt.Sprintf("/proc/irq/%s/effective_affinity_list", irq)))
}

func sum(r row) (total uint64) {
	for _, count := range r.cells {
		total += count
	}
	return total
}
