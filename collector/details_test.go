package collector

import (
	"strings"
	"testing"
	"time"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/skew"
	"github.com/netsteer/netsteer/watch"
)

// Each case changes one fact of a machine and says which series that makes, and
// which must not be there. A name alone means no series of that family; a line
// without its closing brace matches by prefix.
func TestSeries(t *testing.T) {
	const x = "netsteer_"
	for _, tt := range []struct {
		name   string
		change func(*watch.State)
		want   map[string]float64
		absent []string
	}{
		{
			name: "a combined vector: counted once, shown for both directions",
			want: map[string]float64{
				x + `queue_interrupts_total{device="eth0",direction="combined",queue="0"}`:                   3,
				x + `queue_irq_cpu{device="eth0",direction="rx",queue="0"}`:                                  2,
				x + `queue_irq_cpu{device="eth0",direction="tx",queue="0"}`:                                  2,
				x + `queue_irq_info{cpu="2",device="eth0",direction="rx",irq="26",mapping="name",queue="0"}`: 1,
				x + `queue_irq_info{cpu="2",device="eth0",direction="tx",irq="26",mapping="name",queue="0"}`: 1,
				x + `irq_interrupts_total{cpu="0",device="eth0",irq="26",queue="0"}`:                         3,
				x + `irq_interrupts_total{cpu="0",device="eth0",irq="24",queue=""}`:                          1,
				x + `device_interrupts_total{cpu="0",device="eth0"}`:                                         1,
				x + `unmapped_irqs{device="eth0",reason="ambiguous"}`:                                        1,
				x + `device_info{bus_info="0000:41:00.0",device="eth0",driver="igb",numa_node="0"}`:          1,
				x + `device_info{bus_info="",device="bond0",driver="bonding",numa_node=""}`:                  1,
				x + `device_lower_info{device="bond0",lower="eth1"}`:                                         1,
				x + `cpu_info{cache="0",core="1",cpu="3",isolated="true",node="1",package="1"}`:              1,
				x + `cpu_time_seconds_total{cpu="1",mode="busy"}`:                                            4.8,
				x + `cpu_time_seconds_total{cpu="1",mode="softirq"}`:                                         3,
				x + `netdev_budget_seconds`:                                                                  0.008,
				x + `allowed_cpus`:                                                                           3,
				x + `withheld_cpus{reason="isolated"}`:                                                       1,
				x + `withheld_cpus{reason="cpuset"}`:                                                         0,
				x + `devices_ignored{reason="single-queue-virtual"}`:                                         7,
				x + `device_skew_cause{cause="few-flows",device="eth0",direction="tx"}`:                      1,
				x + `device_skew_cause{cause="none",device="eth0",direction="tx"}`:                           0,
				x + `queue_affinity_pending{device="eth0",queue="0"}`:                                        0,
				x + `napi_thread_seconds_total{device="eth0",queue="0"}`:                                     2.5,
				x + `queue_rps_cpus{device="eth0",queue="0"}`:                                                2,
				x + `source_degraded{device="",reason="unsupported",source="netdev"}`:                        1,
				x + `source_last_success_timestamp_seconds{source="stat"}`:                                   float64(noon.Unix()),
				x + `skew_window_seconds`:                                                                    60,
				x + `cpu_skew_cv{signal="busy_net"}`:                                                         0.5,
				x + `queue_skew_max_to_mean_ratio{device="eth0",direction="rx",signal="packets_weighted"}`:   4,
				x + `scrape_collector_success{collector="queue"}`:                                            1,
				x + `scrape_collector_duration_seconds{collector="queue"}`:                                   0,
				x + `softnet_backlog_packets{cpu="0",list="process"}`:                                        6,
				x + `cpu_softirqs_total{cpu="3",type="NET_TX"}`:                                              3,
				x + `device_ring_entries_max{device="eth0",direction="rx"}`:                                  4096,
				x + `queue_skew_peak_ratio{device="eth0",direction="rx"}`:                                    3,
				x + `irq_remote_node_ratio{device="eth0"}`:                                                   0.25,
			},
			absent: []string{
				x + `queue_interrupts_total{device="eth0",direction="rx"`,
				x + `device_interrupts_total{cpu="1"`,
				x + `device_queues{device="bond0"`,
				x + `device_skew_cause{cause="none",device="bond0"`,
				x + `irq_interrupts_total{cpu="1"`,
				x + `device_ring_entries{device="eth0",direction="combined"`,
			},
		},
		{
			name: "advice, rivals and transactions: zeros for what there could be",
			want: map[string]float64{
				x + `rival_active{name="irqbalance"}`:                               1,
				x + `rival_active{name="tuned"}`:                                    0,
				x + `findings{device="eth0",rule="irq-stacked",severity="warning"}`: 1,
				x + `recommended_changes{device="eth0",kind="irq_affinity"}`:        2,
				x + `recommended_changes{device="eth0",kind="rps_cpus"}`:            0,
				x + `recommended_changes{device="eth0",kind="rps_flow_cnt"}`:        0,
				x + `recommended_changes{device="eth1",kind="xps_cpus"}`:            0,
				x + `recommended_changes{device="",kind="rps_sock_flow_entries"}`:   0,
				x + `apply_total{result="applied"}`:                                 3,
				x + `apply_total{result="inconclusive"}`:                            0,
				x + `apply_total{result="rolled_back"}`:                             0,
				x + `apply_total{result="rejected"}`:                                0,
				x + `apply_total{result="failed"}`:                                  0,
				x + `apply_last_timestamp_seconds{result="applied"}`:                float64(noon.Unix()),
				x + `scrape_collector_success{collector="advisor"}`:                 1,
			},
			absent: []string{
				x + `recommended_changes{device="bond0"`,
				x + `apply_last_timestamp_seconds{result="failed"`,
			},
		},
		{
			name: "no advice yet, processes out of sight, no journal, no file of a kind",
			change: func(st *watch.State) {
				st.Held, st.Transactions, st.Inventory.Rivals = nil, nil, nil
			},
			absent: []string{x + "findings", x + "recommended_changes", x + "apply_total", x + "apply_last_timestamp_seconds", x + "rival_active"},
		},
		{
			name: "one TX queue has no xps_cpus; a child namespace no sysctl",
			change: func(st *watch.State) {
				for i := range st.Inventory.Devices[0].TX {
					st.Inventory.Devices[0].TX[i].XPS = host.Mask{}
				}
				st.Inventory.Sysctls = host.Sysctls{}
			},
			want:   map[string]float64{x + `recommended_changes{device="eth0",kind="irq_affinity"}`: 2},
			absent: []string{x + `recommended_changes{device="eth0",kind="xps_cpus"`, x + `recommended_changes{device=""`},
		},
		{
			name: "one vector for two queues: a row for each, counted under the lowest",
			change: func(st *watch.State) {
				d := &st.Inventory.Devices[0]
				shared := d.RX[0].Vector
				d.RX[1].Vector, d.TX[1].Vector = shared, shared
				st.Inventory.Vectors[shared].RX = []int{0, 1}
				st.Inventory.Vectors[shared].TX = []int{0, 1}
				spare := &st.Inventory.Vectors[shared+1]
				spare.RX, spare.TX, spare.Queue = nil, nil, -1
			},
			want: map[string]float64{
				x + `queue_irq_info{cpu="2",device="eth0",direction="rx",irq="26",mapping="name",queue="1"}`: 1,
				x + `queue_irq_info{cpu="2",device="eth0",direction="tx",irq="26",mapping="name",queue="1"}`: 1,
				x + `queue_interrupts_total{device="eth0",direction="combined",queue="0"}`:                   3,
			},
			absent: []string{x + `queue_interrupts_total{device="eth0",direction="combined",queue="1"`},
		},
		{
			name:   "the vector is known, its CPU is not",
			change: func(st *watch.State) { st.Place.CPU[st.Inventory.Devices[0].RX[0].Vector] = -1 },
			want: map[string]float64{
				x + `queue_irq_info{cpu="",device="eth0",direction="rx",irq="26",mapping="name",queue="0"}`: 1,
			},
			absent: []string{x + `queue_irq_cpu{device="eth0",direction="rx",queue="0"`, x + `queue_irq_cpu{device="eth0",direction="tx",queue="0"`},
		},
		{
			name:   "a queue without a vector",
			change: func(st *watch.State) { st.Inventory.Devices[0].RX[0].Vector = -1 },
			want:   map[string]float64{x + `queue_irq_cpu{device="eth0",direction="tx",queue="0"}`: 2},
			absent: []string{x + `queue_irq_info{cpu="2",device="eth0",direction="rx"`},
		},
		{
			name: "two reasons for vectors without a queue",
			change: func(st *watch.State) {
				v := st.Inventory.Devices[0].Vectors
				v[0].Unmapped, v[2].Unmapped = host.ReasonUnknownDriver, host.ReasonAmbiguous
			},
			want: map[string]float64{
				x + `unmapped_irqs{device="eth0",reason="ambiguous"}`:      2,
				x + `unmapped_irqs{device="eth0",reason="unknown-driver"}`: 1,
			},
		},
		{
			name:   "a vector whose row is gone",
			change: func(st *watch.State) { st.Sample.Present[st.Inventory.Devices[0].RX[0].Vector] = false },
			absent: []string{
				x + `queue_interrupts_total{device="eth0",direction="combined",queue="0"`,
				x + `irq_interrupts_total{cpu="0",device="eth0",irq="26"`,
			},
		},
		{
			name:   "/proc/interrupts not read in time",
			change: func(st *watch.State) { st.Failed[host.SourceInterrupts] = true },
			want: map[string]float64{
				x + `scrape_collector_success{collector="interrupts"}`: 0,
				x + `scrape_collector_success{collector="irq-matrix"}`: 0,
				x + `scrape_collector_success{collector="skew"}`:       0,
				x + `scrape_collector_success{collector="softnet"}`:    1,
			},
			absent: []string{x + "queue_interrupts_total", x + "device_interrupts_total", x + "irq_interrupts_total"},
		},
		{
			name:   "/proc/stat was never read",
			change: func(st *watch.State) { st.Sample.StatTime = time.Time{} },
			want:   map[string]float64{x + `allowed_cpus`: 3},
			absent: []string{x + "cpu_time_seconds_total"},
		},
		{
			name: "softirqs and softnet failed",
			change: func(st *watch.State) {
				st.Failed[host.SourceSoftirqs], st.Failed[host.SourceSoftnet] = true, true
			},
			want: map[string]float64{
				x + `scrape_collector_success{collector="softirq"}`: 0,
				x + `scrape_collector_success{collector="softnet"}`: 0,
			},
			absent: []string{x + "cpu_softirqs_total", x + "softnet_processed_total", x + "softnet_backlog_packets"},
		},
		{
			name: "the columns of Linux 6.1: softnet has no lengths",
			change: func(st *watch.State) {
				for i := range st.Sample.Softnet {
					st.Sample.Softnet[i].Columns = 13
				}
				st.Sample.Softnet[1].Columns = 10
				st.Sample.Softnet[2].Columns = 9
			},
			want: map[string]float64{
				x + `softnet_flow_limit_total{cpu="0"}`:   4,
				x + `softnet_received_rps_total{cpu="1"}`: 3,
				x + `softnet_processed_total{cpu="2"}`:    5002,
			},
			absent: []string{x + "softnet_backlog_packets", x + `softnet_flow_limit_total{cpu="1"`, x + `softnet_received_rps_total{cpu="2"`},
		},
		{
			name: "CPU 1 went offline, CPU 2 never was online",
			change: func(st *watch.State) {
				c := &st.Inventory.CPUs
				c.Online = cpuset.Of(0, 3)
				c.ByID[1], c.ByID[2] = host.UnknownCPU, host.UnknownCPU
				st.Sample.NetRX[2], st.Sample.NetTX[2] = 0, 0
				for id := 1; id <= 2; id++ {
					st.Sample.Softnet[id].Present, st.Sample.Ticks[id].Present = false, false
				}
			},
			want: map[string]float64{x + `cpu_softirqs_total{cpu="1",type="NET_RX"}`: 1001},
			absent: []string{
				x + `cpu_softirqs_total{cpu="2"`, x + `softnet_processed_total{cpu="1"`,
				x + `cpu_time_seconds_total{cpu="1"`, x + `cpu_info{cache="",core="",cpu="1"`,
			},
		},
		{
			name:   "an online CPU of unknown place",
			change: func(st *watch.State) { st.Inventory.CPUs.ByID[1] = host.UnknownCPU },
			want:   map[string]float64{x + `cpu_info{cache="",core="",cpu="1",isolated="false",node="",package=""}`: 1},
		},
		{
			name: "isolated by nohz_full or a partition alone",
			change: func(st *watch.State) {
				st.Inventory.CPUs.NohzFull, st.Inventory.CPUs.IsolatedCpuset = cpuset.Of(0), cpuset.Of(1)
			},
			want: map[string]float64{
				x + `cpu_info{cache="0",core="0",cpu="0",isolated="true",node="0",package="0"}`:  1,
				x + `cpu_info{cache="0",core="0",cpu="1",isolated="true",node="1",package="1"}`:  1,
				x + `cpu_info{cache="0",core="1",cpu="2",isolated="false",node="0",package="0"}`: 1,
			},
		},
		{
			name:   "no window yet",
			change: func(st *watch.State) { st.Rates = nil },
			want:   map[string]float64{x + `device_skew_cause{cause="unknown",device="eth0",direction="rx"}`: 0},
			absent: []string{x + "queue_live", x + "queue_skew_cv", x + "skew_window_seconds", x + "cpu_skew_cv", x + "queue_skew_peak_ratio"},
		},
		{
			name:   "totals since boot are no metric",
			change: func(st *watch.State) { st.Rates.SinceBoot = true },
			want:   map[string]float64{x + `device_skew_cause{cause="few-flows",device="eth0",direction="rx"}`: 0},
			absent: []string{x + "queue_live", x + "queue_skew_cv", x + "skew_window_seconds", x + "cpu_skew_max_to_mean_ratio"},
		},
		{
			name: "values that are unknown",
			change: func(st *watch.State) {
				st.Sample.Queues[0] = host.QueueCounters{}
				st.Sample.Devices[0].RXMissed = host.Count{}
				st.Inventory.Sysctls = host.Sysctls{}
				d := &st.Inventory.Devices[0]
				d.SpeedBytes, d.Channels, d.Rings = host.Count{}, host.Channels{}, host.Rings{}
				d.RX[0].RPS, d.RX[0].FlowEntries, d.RX[0].RSSWeightOK = host.Mask{}, host.Count{}, false
				d.TX[0].XPS = host.Mask{}
				st.Place.Mismatch[0], st.Place.Distance[0] = skew.NotJudged, skew.Value{}
				st.Place.Devices[0] = skew.DevicePlace{}
			},
			absent: []string{
				x + `queue_packets_total{device="eth0",direction="rx",queue="0"`, x + `napi_thread_seconds_total{device="eth0",queue="0"`,
				x + `device_receive_missed_total{device="eth0"`, x + "netdev_budget", x + "netdev_budget_seconds", x + "rps_sock_flow_entries",
				x + "netdev_max_backlog", x + `device_speed_bytes{device="eth0"`, x + `device_queues{device="eth0"`, x + `device_ring_entries{device="eth0"`,
				x + `queue_rps_cpus{device="eth0",queue="0"`, x + `queue_rps_flow_entries{device="eth0",queue="0"`,
				x + `queue_rss_weight_ratio{device="eth0",queue="0"`, x + `queue_xps_cpus{device="eth0",queue="0"`,
				x + `queue_affinity_mismatch{device="eth0",queue="0"`, x + `queue_affinity_distance{device="eth0",queue="0"`,
				x + `affinity_mismatch_ratio{device="eth0"`, x + `irq_stacked_ratio{device="eth0"`, x + `irq_remote_node_ratio{device="eth0"`,
			},
		},
		{
			name: "empty masks and a mismatch",
			change: func(st *watch.State) {
				st.Inventory.Devices[0].RX[0].RPS = host.KnownMask(cpuset.Set{})
				st.Place.Mismatch[0], st.Place.Distance[0] = skew.Mismatched, value(float64(host.Remote))
			},
			want: map[string]float64{
				x + `queue_rps_cpus{device="eth0",queue="0"}`:          0,
				x + `queue_affinity_mismatch{device="eth0",queue="0"}`: 1,
				x + `queue_affinity_distance{device="eth0",queue="0"}`: 4,
			},
		},
		{
			name:   "a move is pending",
			change: func(st *watch.State) { st.Place.Pending[st.Inventory.Devices[0].TX[0].Vector] = true },
			want: map[string]float64{
				x + `queue_affinity_pending{device="eth0",queue="0"}`: 1,
				x + `queue_affinity_pending{device="eth0",queue="1"}`: 0,
			},
		},
		{
			name: "whether a move is pending is unknown without its mask",
			change: func(st *watch.State) {
				st.Inventory.Vectors[st.Inventory.Devices[0].RX[0].Vector].Affinity = host.Mask{}
			},
			absent: []string{x + `queue_affinity_pending{device="eth0",queue="0"`},
		},
		{
			name: "a device with more TX than RX queues",
			change: func(st *watch.State) {
				st.Inventory.Devices[0].RX = st.Inventory.Devices[0].RX[:1]
			},
			want: map[string]float64{x + `queue_affinity_pending{device="eth0",queue="1"}`: 0},
		},
		{
			name:   "NAPI threads not read in time",
			change: func(st *watch.State) { st.Failed[host.SourceThreads] = true },
			want:   map[string]float64{x + `scrape_collector_success{collector="queue"}`: 0},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			st := generate(shape{devices: 2, pairs: 2, cpus: 4, spread: 1})
			if tt.change != nil {
				tt.change(st)
			}
			got := gather(t, New(Config{State: reading(st), Enabled: everything(), Now: stopped}))
			for key, v := range tt.want {
				if g, ok := got[key]; !ok || g != v {
					t.Errorf("%s = %v (present: %v), want %v", key, g, ok, v)
				}
			}
			for _, prefix := range tt.absent {
				for key := range got {
					if key == prefix || strings.HasPrefix(key, prefix) && (strings.Contains(prefix, "{") || key[len(prefix)] == '{') {
						t.Errorf("%s is there", key)
					}
				}
			}
		})
	}
}
