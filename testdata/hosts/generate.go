//go:build ignore

// generate writes the recorded host two-nic-8cpu: go run testdata/hosts/generate.go [DIR].
// The numbers are made up, but from one description of the host and its traffic:
// /proc/interrupts, per_cpu_count, ethtool -S, softnet_stat and /proc/stat agree
// with one another as a kernel's do.
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host/record"
)

// The host: two packages of two cores with two threads, a node each.
const (
	cpus    = 8
	seconds = 10 // between the two samples
	boot    = "6d1f5a0e-8c57-4c11-9a5b-2f0c7be35d10"
	kernel  = "6.18.21"
)

var all = cpuset.Range(0, cpus-1)

func list(text string) cpuset.Set {
	s, err := cpuset.ParseList(text)
	check(err)
	return s
}

// queue is a queue pair's counters at the first sample and what the window adds.
type counter struct{ at, add uint64 }

func (c counter) in(sample int) uint64 { return c.at + uint64(sample)*c.add }

type pair struct {
	rxPackets, rxBytes, rxDrops, txPackets, txBytes counter
	rps                                             cpuset.Set
	flows                                           int
	xps                                             cpuset.Set
}

type vector struct {
	irq, hwirq       int
	name, chip, hint string
	affinity         string
	effective, node  int
	cells, add       map[int]uint64 // by CPU
	messageSignalled bool
}

type nic struct {
	name, dir, device string // sysfs folder; target of the link "device"
	ifindex, iflink   int
	uevent            string
	mtu               int
	threaded          bool
	pairs             []pair
	missed            counter
	links             map[string]string
	files             map[string]string
}

const (
	virtioPCI = "devices/pci0000:00/0000:00:04.0"
	igbPCI    = "devices/pci0000:80/0000:81:00.0"
)

var eth0 = nic{
	name: "eth0", dir: virtioPCI + "/virtio1/net/eth0", device: "../../../virtio1", ifindex: 2, iflink: 2, mtu: 1500,
	pairs: []pair{
		{rxPackets: counter{800_000, 10_000}, rxBytes: counter{560_000_000, 7_000_000}, txPackets: counter{400_000, 5_000}, txBytes: counter{40_000_000, 500_000}, xps: list("0-1")},
		{rxPackets: counter{810_000, 11_000}, rxBytes: counter{567_000_000, 7_700_000}, txPackets: counter{390_000, 5_000}, txBytes: counter{39_000_000, 500_000}, xps: list("2-3")},
		{rxPackets: counter{790_000, 9_000}, rxBytes: counter{553_000_000, 6_300_000}, rxDrops: counter{4, 0}, txPackets: counter{410_000, 5_000}, txBytes: counter{41_000_000, 500_000}, xps: list("4-5")},
		{rxPackets: counter{805_000, 10_000}, rxBytes: counter{563_500_000, 7_000_000}, txPackets: counter{402_000, 5_000}, txBytes: counter{40_200_000, 500_000}, xps: list("6-7")},
	},
}

var eth1 = nic{
	name: "eth1", dir: igbPCI + "/net/eth1", device: "../../../0000:81:00.0", ifindex: 3, iflink: 3, mtu: 1500,
	missed: counter{120, 30},
	links:  map[string]string{"master": "../../../../virtual/net/bond0", "upper_bond0": "../../../../virtual/net/bond0"},
	pairs: []pair{
		{rxPackets: counter{9_000_000, 90_000}, rxBytes: counter{4_500_000_000, 45_000_000}, rxDrops: counter{700, 50}, txPackets: counter{3_000_000, 30_000}, txBytes: counter{600_000_000, 6_000_000}, rps: list("5-6"), flows: 4096, xps: list("0-3")},
		{rxPackets: counter{1_000, 0}, rxBytes: counter{90_000, 0}, txPackets: counter{500, 0}, txBytes: counter{45_000, 0}, xps: list("6")},
		{rxPackets: counter{600_000, 6_000}, rxBytes: counter{600_000_000, 6_000_000}, txPackets: counter{5_000_000, 50_000}, txBytes: counter{1_000_000_000, 10_000_000}, xps: list("4-5")},
		{rxPackets: counter{400_000, 4_000}, rxBytes: counter{400_000_000, 4_000_000}, txPackets: counter{2_000_000, 20_000}, txBytes: counter{400_000_000, 4_000_000}},
	},
}

var bond0 = nic{
	name: "bond0", dir: "devices/virtual/net/bond0", ifindex: 4, iflink: 4, mtu: 1500, uevent: "DEVTYPE=bond\n",
	links: map[string]string{"lower_eth1": "../../../pci0000:80/0000:81:00.0/net/eth1"},
	files: map[string]string{"bonding/mode": "active-backup 1\n", "bonding/slaves": "eth1\n"},
	pairs: make([]pair, 2), // bonding tx_queues=2
}

var veth0 = nic{
	name: "veth0", dir: "devices/virtual/net/veth0", ifindex: 5, iflink: 6, mtu: 1500, threaded: true,
	pairs: make([]pair, 4),
}

var dummy0 = nic{name: "dummy0", dir: "devices/virtual/net/dummy0", ifindex: 7, iflink: 7, mtu: 1500, pairs: make([]pair, 1)}

var lo = nic{name: "lo", dir: "devices/virtual/net/lo", ifindex: 1, iflink: 1, mtu: 65536, pairs: make([]pair, 1)}

var nics = []nic{lo, eth0, eth1, bond0, veth0, dummy0}

const (
	ioapic    = " IO-APIC"
	virtioMSI = "PCI-MSIX-0000:00:04.0"
	igbMSI    = "PCI-MSIX-0000:81:00.0"
)

var vectors = []vector{
	{irq: 0, hwirq: 2, name: "timer", chip: "IO-APIC", affinity: "0-7", node: -1, cells: map[int]uint64{0: 35}},
	{irq: 4, hwirq: 4, name: "ttyS0", chip: "IO-APIC", affinity: "0-7", effective: 3, node: -1, cells: map[int]uint64{3: 812}, add: map[int]uint64{3: 2}},
	{irq: 24, hwirq: 0, name: "virtio0-config", chip: "PCI-MSIX-0000:00:03.0", affinity: "0-7", node: 0, messageSignalled: true},
	{irq: 25, hwirq: 1, name: "virtio0-req.0", chip: "PCI-MSIX-0000:00:03.0", affinity: "0-7", effective: 1, node: 0, cells: map[int]uint64{1: 5_120}, add: map[int]uint64{1: 40}, messageSignalled: true},

	{irq: 26, hwirq: 0, name: "virtio1-config", chip: virtioMSI, affinity: "0-7", node: 0, messageSignalled: true},
	{irq: 27, hwirq: 1, name: "virtio1-input.0", chip: virtioMSI, hint: "0-1", affinity: "0-1", effective: 0, node: 0, cells: map[int]uint64{0: 300_000}, add: map[int]uint64{0: 2_000}, messageSignalled: true},
	{irq: 28, hwirq: 2, name: "virtio1-output.0", chip: virtioMSI, hint: "0-1", affinity: "0-1", effective: 1, node: 0, cells: map[int]uint64{1: 90_000}, add: map[int]uint64{1: 500}, messageSignalled: true},
	{irq: 29, hwirq: 3, name: "virtio1-input.1", chip: virtioMSI, hint: "2-3", affinity: "2-3", effective: 2, node: 0, cells: map[int]uint64{2: 310_000}, add: map[int]uint64{2: 2_200}, messageSignalled: true},
	{irq: 30, hwirq: 4, name: "virtio1-output.1", chip: virtioMSI, hint: "2-3", affinity: "2-3", effective: 2, node: 0, cells: map[int]uint64{2: 88_000}, add: map[int]uint64{2: 500}, messageSignalled: true},
	{irq: 31, hwirq: 5, name: "virtio1-input.2", chip: virtioMSI, hint: "4-5", affinity: "4-5", effective: 4, node: 0, cells: map[int]uint64{4: 295_000}, add: map[int]uint64{4: 1_800}, messageSignalled: true},
	{irq: 32, hwirq: 6, name: "virtio1-output.2", chip: virtioMSI, hint: "4-5", affinity: "4-5", effective: 4, node: 0, cells: map[int]uint64{4: 91_000}, add: map[int]uint64{4: 500}, messageSignalled: true},
	{irq: 33, hwirq: 7, name: "virtio1-input.3", chip: virtioMSI, hint: "6-7", affinity: "6-7", effective: 7, node: 0, cells: map[int]uint64{7: 305_000}, add: map[int]uint64{7: 2_000}, messageSignalled: true},
	{irq: 34, hwirq: 8, name: "virtio1-output.3", chip: virtioMSI, hint: "6-7", affinity: "6-7", effective: 7, node: 0, cells: map[int]uint64{7: 89_000}, add: map[int]uint64{7: 500}, messageSignalled: true},

	{irq: 35, hwirq: 0, name: "eth1", chip: igbMSI, affinity: "0-7", effective: 6, node: 1, cells: map[int]uint64{6: 3}, messageSignalled: true},
	{irq: 36, hwirq: 1, name: "eth1-TxRx-0", chip: igbMSI, affinity: "4", effective: 4, node: 1, cells: map[int]uint64{0: 12, 4: 2_500_000}, add: map[int]uint64{4: 8_000}, messageSignalled: true},
	// Moved from CPU 5 to 6; idle since, so that it has not moved yet.
	{irq: 37, hwirq: 2, name: "eth1-TxRx-1", chip: igbMSI, affinity: "6", effective: 5, node: 1, cells: map[int]uint64{5: 1_400}, messageSignalled: true},
	{irq: 38, hwirq: 3, name: "eth1-TxRx-2", chip: igbMSI, affinity: "0-7", effective: 0, node: 1, cells: map[int]uint64{0: 700_000}, add: map[int]uint64{0: 3_000}, messageSignalled: true},
	{irq: 39, hwirq: 4, name: "eth1-TxRx-3", chip: igbMSI, affinity: "4", effective: 4, node: 1, cells: map[int]uint64{4: 450_000}, add: map[int]uint64{4: 2_000}, messageSignalled: true},
}

// perCPU are counters by CPU.
type perCPU [cpus]counter

var (
	netRX = perCPU{{1_000_000, 5_000}, {20_000, 10}, {310_000, 2_200}, {15_000, 5}, {3_300_000, 11_800}, {900_000, 7_000}, {850_000, 6_500}, {305_000, 2_000}}
	netTX = perCPU{{300, 2}, {90_000, 500}, {88_000, 500}, {10, 0}, {91_000, 500}, {12, 0}, {40, 1}, {89_000, 500}}

	processed   = perCPU{{1_400_000, 16_000}, {0, 0}, {810_000, 11_000}, {0, 0}, {10_200_000, 103_000}, {4_400_000, 44_000}, {4_600_000, 46_000}, {805_000, 10_000}}
	receivedRPS = perCPU{{}, {}, {}, {}, {}, {850_000, 6_900}, {810_000, 6_400}, {}}
	dropped     = perCPU{5: {40, 6}}
	squeezed    = perCPU{4: {1_200, 90}, 0: {3, 0}}
	flowLimit   = perCPU{4: {8, 2}}
	inputQlen   = perCPU{5: {12, 0}}
	processQlen = perCPU{5: {3, 0}, 6: {1, 0}}

	// USER_HZ ticks. Ten seconds are 1,000 on each CPU.
	user    = perCPU{{20_000, 100}, {18_000, 80}, {17_000, 90}, {16_000, 70}, {9_000, 20}, {15_000, 60}, {14_000, 60}, {30_000, 500}}
	system  = perCPU{{12_000, 60}, {11_000, 50}, {10_000, 50}, {9_000, 40}, {8_000, 30}, {10_000, 50}, {10_000, 40}, {9_000, 40}}
	irqTime = perCPU{{900, 6}, {100, 1}, {600, 4}, {50, 0}, {4_000, 30}, {100, 1}, {80, 1}, {500, 4}}
	softirq = perCPU{{9_000, 64}, {800, 5}, {6_000, 46}, {300, 2}, {90_000, 760}, {20_000, 180}, {21_000, 190}, {5_500, 41}}
	iowait  = perCPU{{300, 2}, {200, 2}, {100, 0}, {100, 1}, {50, 0}, {60, 0}, {70, 1}, {10, 0}}
	steal   = perCPU{4: {200, 2}}
	threads = []struct {
		pid   int
		cpus  string
		ticks counter
	}{{901, "0-3", counter{400, 20}}, {902, "0-3", counter{380, 18}}, {903, "2", counter{410, 22}}, {904, "2-3", counter{390, 19}}}
)

const (
	ipForwarded = 50_000
	ipSent      = 9_000_000
	sentInAll   = 115_000
)

var root string

func main() {
	log.SetFlags(0)
	root = filepath.Join("testdata", "hosts", "two-nic-8cpu")
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	check(os.RemoveAll(root))
	topology()
	kernelFiles()
	for _, v := range vectors {
		v.settings()
	}
	for _, n := range nics {
		n.settings()
	}
	for i, prefix := range []string{"", "netsteer/t1/"} {
		counters(prefix, i)
	}
	file("netsteer/capture.json", `{"schema":%q,"t0":"2026-11-30T12:00:00Z","t1":"2026-11-30T12:00:%02dZ"}`+"\n", record.CaptureSchema, seconds)
	netlink()
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func file(name, format string, args ...any) {
	name = filepath.Join(root, name)
	check(os.MkdirAll(filepath.Dir(name), 0o755))
	check(os.WriteFile(name, fmt.Appendf(nil, format, args...), 0o644))
}

func link(name, target string) {
	name = filepath.Join(root, name)
	check(os.MkdirAll(filepath.Dir(name), 0o755))
	check(os.Symlink(target, name))
}

func topology() {
	const dir = "sys/devices/system/"
	for name, text := range map[string]string{"online": "0-7", "possible": "0-7", "present": "0-7", "offline": "", "isolated": "7", "nohz_full": "  (null)", "kernel_max": "8191"} {
		file(dir+"cpu/"+name, "%s\n", text)
	}
	for c := range cpus {
		cpu := fmt.Sprintf("%scpu/cpu%d/", dir, c)
		node, core := c/4, c/2
		siblings, package_ := cpuset.Range(core*2, core*2+1), cpuset.Range(node*4, node*4+3)
		for _, name := range []string{"core_cpus_list", "thread_siblings_list"} {
			file(cpu+"topology/"+name, "%s\n", siblings)
		}
		for _, name := range []string{"package_cpus_list", "core_siblings_list"} {
			file(cpu+"topology/"+name, "%s\n", package_)
		}
		file(cpu+"topology/physical_package_id", "%d\n", node)
		file(cpu+"topology/core_id", "%d\n", core%2)
		for index, cache := range []struct {
			level int
			kind  string
			share cpuset.Set
		}{{1, "Data", siblings}, {1, "Instruction", siblings}, {2, "Unified", siblings}, {3, "Unified", package_}} {
			at := fmt.Sprintf("%scache/index%d/", cpu, index)
			file(at+"level", "%d\n", cache.level)
			file(at+"type", "%s\n", cache.kind)
			file(at+"shared_cpu_list", "%s\n", cache.share)
		}
	}
	for n := range 2 {
		node := fmt.Sprintf("%snode/node%d/", dir, n)
		file(node+"cpulist", "%d-%d\n", 4*n, 4*n+3)
		file(node+"distance", "%s\n", []string{"10 21", "21 10"}[n])
	}
	file("sys/fs/cgroup/cpuset.cpus.isolated", "\n")
}

func kernelFiles() {
	file("proc/version", "Linux version %s (made for a test)\n", kernel)
	file("proc/cmdline", "isolcpus=7\n")
	file("proc/sys/kernel/osrelease", "%s\n", kernel)
	file("proc/sys/kernel/random/boot_id", "%s\n", boot)
	file("proc/irq/default_smp_affinity", "%s\n", all.Mask(cpus))
	for name, text := range map[string]string{
		"rps_sock_flow_entries": "32768", "netdev_max_backlog": "1000", "netdev_budget": "300", "netdev_budget_usecs": "8000",
		"dev_weight": "64", "rps_default_mask": "00", "flow_limit_cpu_bitmap": "10",
	} {
		file("proc/sys/net/core/"+name, "%s\n", text)
	}
}

func (v vector) settings() {
	dir := fmt.Sprintf("proc/irq/%d/", v.irq)
	effective := cpuset.Of(v.effective)
	file(dir+"smp_affinity", "%s\n", list(v.affinity).Mask(cpus))
	file(dir+"smp_affinity_list", "%s\n", v.affinity)
	file(dir+"effective_affinity", "%s\n", effective.Mask(cpus))
	file(dir+"effective_affinity_list", "%s\n", effective)
	file(dir+"affinity_hint", "%s\n", list(v.hint).Mask(cpus))
	file(dir+"node", "%d\n", v.node)
	dir = fmt.Sprintf("sys/kernel/irq/%d/", v.irq)
	file(dir+"actions", "%s\n", v.name)
	file(dir+"chip_name", "%s\n", v.chip)
	file(dir+"hwirq", "%d\n", v.hwirq)
	file(dir+"name", "edge\n")
	file(dir+"type", "edge\n")
	for chip, pci := range map[string]string{virtioMSI: virtioPCI, igbMSI: igbPCI} {
		if v.chip == chip {
			file(fmt.Sprintf("sys/%s/msi_irqs/%d", pci, v.irq), "msix\n")
		}
	}
}

func (n nic) settings() {
	dir := "sys/" + n.dir + "/"
	link("sys/class/net/"+n.name, "../../"+n.dir)
	file(dir+"ifindex", "%d\n", n.ifindex)
	file(dir+"iflink", "%d\n", n.iflink)
	file(dir+"uevent", "%sINTERFACE=%s\nIFINDEX=%d\n", n.uevent, n.name, n.ifindex)
	file(dir+"flags", "%s\n", map[bool]string{true: "0x9", false: "0x1003"}[n.name == "lo"])
	file(dir+"operstate", "up\n")
	file(dir+"type", "%d\n", map[bool]int{true: 772, false: 1}[n.name == "lo"])
	file(dir+"mtu", "%d\n", n.mtu)
	file(dir+"threaded", "%d\n", map[bool]int{true: 1}[n.threaded])
	file(dir+"napi_defer_hard_irqs", "0\n")
	file(dir+"gro_flush_timeout", "0\n")
	for name, target := range n.links {
		link(dir+name, target)
	}
	for name, text := range n.files {
		file(dir+name, "%s", text)
	}
	for i, p := range n.pairs {
		rx, tx := fmt.Sprintf("%squeues/rx-%d/", dir, i), fmt.Sprintf("%squeues/tx-%d/", dir, i)
		file(rx+"rps_cpus", "%s\n", p.rps.Mask(cpus))
		file(rx+"rps_flow_cnt", "%d\n", p.flows)
		if len(n.pairs) == 1 { // net/core/net-sysfs.c: no XPS with one TX queue
			file(tx+"xps_cpus.err", "No such file or directory\n")
			file(tx+"traffic_class.err", "No such file or directory\n")
			continue
		}
		file(tx+"xps_cpus", "%s\n", p.xps.Mask(cpus))
		file(tx+"xps_rxqs", "%s\n", cpuset.Set{}.Mask(len(n.pairs)))
		file(tx+"traffic_class", "0\n")
	}
	if n.device == "" {
		return
	}
	link(dir+"device", n.device)
	pci, driver, node := virtioPCI, "virtio-pci", 0
	if n.name == "eth1" {
		pci, driver, node = igbPCI, "igb", 1
	} else {
		link("sys/"+pci+"/virtio1/driver", "../../../../bus/virtio/drivers/virtio_net")
	}
	link("sys/"+pci+"/driver", "../../../bus/pci/drivers/"+driver)
	file("sys/"+pci+"/numa_node", "%d\n", node)
	file("sys/"+pci+"/local_cpulist", "%d-%d\n", 4*node, 4*node+3)
	file("sys/"+pci+"/irq", "0\n")
}

// counters writes what a sample reads.
func counters(prefix string, sample int) {
	interrupts(prefix, sample)
	var text strings.Builder
	header(&text, 20)
	for _, row := range []struct {
		name string
		of   perCPU
	}{{"HI", perCPU{}}, {"TIMER", perCPU{0: {40_000, 300}}}, {"NET_TX", netTX}, {"NET_RX", netRX}, {"BLOCK", perCPU{1: {5_100, 40}}}, {"IRQ_POLL", perCPU{}},
		{"TASKLET", perCPU{}}, {"SCHED", perCPU{0: {70_000, 600}, 7: {900, 5}}}, {"HRTIMER", perCPU{}}, {"RCU", perCPU{0: {60_000, 500}, 4: {61_000, 480}}}} {
		fmt.Fprintf(&text, "%12s:", row.name)
		for _, c := range row.of {
			fmt.Fprintf(&text, " %10d", c.in(sample))
		}
		text.WriteByte('\n')
	}
	file(prefix+"proc/softirqs", "%s", &text)

	text.Reset()
	for c := range cpus {
		fmt.Fprintf(&text, "%08x %08x %08x %08x %08x %08x %08x %08x %08x %08x %08x %08x %08x %08x %08x\n",
			processed[c].in(sample), dropped[c].in(sample), squeezed[c].in(sample), 0, 0, 0, 0, 0, 0,
			receivedRPS[c].in(sample), flowLimit[c].in(sample), inputQlen[c].in(sample)+processQlen[c].in(sample), c, inputQlen[c].in(sample), processQlen[c].in(sample))
	}
	file(prefix+"proc/net/softnet_stat", "%s", &text)

	stat(prefix, sample)
	file(prefix+"proc/uptime", "%d.25 %d.70\n", 5000+seconds*sample, 34_000+50*sample)
	out, forwarded := uint64(ipSent+sample*sentInAll), uint64(ipForwarded)
	file(prefix+"proc/net/snmp", "Ip: Forwarding DefaultTTL InReceives ForwDatagrams InDelivers OutRequests\nIp: 2 64 %d %d %d %d\n", 2*out, forwarded, 2*out-forwarded, out)
	for _, n := range nics {
		n.statistics(prefix, sample)
	}
	for _, t := range threads {
		proc := fmt.Sprintf("%sproc/%d/", prefix, t.pid)
		name := fmt.Sprintf("napi/veth0-%d", 521+t.pid-901)
		file(proc+"stat", "%d (%.15s) S 2 0 0 0 -1 2129984 0 0 0 0 0 %d 0 0 20 0 1 0 300 0 0\n", t.pid, name, t.ticks.in(sample))
		file(proc+"status", "Name:\t%.15s\nPid:\t%d\nCpus_allowed:\t%s\nCpus_allowed_list:\t%s\n", name, t.pid, list(t.cpus).Mask(cpus), t.cpus)
	}
}

func header(text *strings.Builder, width int) {
	text.WriteString(strings.Repeat(" ", width))
	for c := range cpus {
		fmt.Fprintf(text, "CPU%-8d", c)
	}
	text.WriteByte('\n')
}

func (v vector) cell(cpu, sample int) uint64 { return v.cells[cpu] + uint64(sample)*v.add[cpu] }

func interrupts(prefix string, sample int) {
	var text strings.Builder
	header(&text, 11)
	for _, v := range vectors {
		fmt.Fprintf(&text, "%3d:", v.irq)
		cells := make([]string, cpus)
		for c := range cpus {
			cells[c] = strconv.FormatUint(v.cell(c, sample), 10)
			fmt.Fprintf(&text, " %10s", cells[c])
		}
		chip := v.chip
		if !v.messageSignalled {
			chip = ioapic
		}
		fmt.Fprintf(&text, " %s %3d-edge      %s\n", chip, v.hwirq, v.name)
		file(fmt.Sprintf("%ssys/kernel/irq/%d/per_cpu_count", prefix, v.irq), "%s\n", strings.Join(cells, ","))
	}
	for _, row := range []struct {
		name, what string
		of         perCPU
	}{{"NMI", "Non-maskable interrupts", perCPU{}}, {"LOC", "Local timer interrupts", perCPU{{500_000, 2_500}, {480_000, 2_300}, {470_000, 2_400}, {460_000, 2_100}, {520_000, 2_600}, {450_000, 2_200}, {455_000, 2_250}, {90_000, 1_000}}},
		{"RES", "Rescheduling interrupts", perCPU{5: {9_000, 60}, 6: {8_800, 55}}}, {"CAL", "Function call interrupts", perCPU{5: {851_000, 6_910}, 6: {811_500, 6_405}}}} {
		fmt.Fprintf(&text, "%s:", row.name)
		for _, c := range row.of {
			fmt.Fprintf(&text, " %10d", c.in(sample))
		}
		fmt.Fprintf(&text, "   %s\n", row.what)
	}
	text.WriteString("ERR:          0\nMIS:          0\n")
	file(prefix+"proc/interrupts", "%s", &text)
}

func stat(prefix string, sample int) {
	var sum [10]uint64
	var rows strings.Builder
	for c := range cpus {
		busy := user[c].add + system[c].add + irqTime[c].add + softirq[c].add + iowait[c].add + steal[c].add
		idle := counter{400_000, 100*seconds - busy}
		row := [10]uint64{user[c].in(sample), 0, system[c].in(sample), idle.in(sample), iowait[c].in(sample), irqTime[c].in(sample), softirq[c].in(sample), steal[c].in(sample)}
		fmt.Fprintf(&rows, "cpu%d%s\n", c, numbers(row[:]))
		for i, n := range row {
			sum[i] += n
		}
	}
	file(prefix+"proc/stat", "cpu %s\n%sctxt %d\nbtime 1796035200\n", numbers(sum[:]), &rows, 7_000_000+90_000*sample)
}

func numbers(list []uint64) string {
	var text strings.Builder
	for _, n := range list {
		fmt.Fprintf(&text, " %d", n)
	}
	return text.String()
}

func (n nic) statistics(prefix string, sample int) {
	var rxPackets, rxBytes, txPackets, txBytes, drops uint64
	for _, p := range n.pairs {
		rxPackets += p.rxPackets.in(sample)
		rxBytes += p.rxBytes.in(sample)
		txPackets += p.txPackets.in(sample)
		txBytes += p.txBytes.in(sample)
		drops += p.rxDrops.in(sample)
	}
	switch n.name {
	case "bond0":
		eth1.copyTotals(prefix, n.dir, sample)
		return
	case "veth0":
		rxPackets, rxBytes, txPackets, txBytes = 70_000+uint64(sample)*4_000, 7_000_000+uint64(sample)*400_000, 65_000+uint64(sample)*3_500, 6_500_000+uint64(sample)*350_000
	}
	n.totals(prefix, n.dir, [7]uint64{rxPackets, rxBytes, drops, n.missed.in(sample), txPackets, txBytes, 0})
}

func (n nic) copyTotals(prefix, dir string, sample int) {
	var t [7]uint64
	for _, p := range n.pairs {
		t[0] += p.rxPackets.in(sample)
		t[1] += p.rxBytes.in(sample)
		t[4] += p.txPackets.in(sample)
		t[5] += p.txBytes.in(sample)
	}
	n.totals(prefix, dir, t)
}

func (n nic) totals(prefix, dir string, t [7]uint64) {
	for i, name := range []string{"rx_packets", "rx_bytes", "rx_dropped", "rx_missed_errors", "tx_packets", "tx_bytes", "tx_dropped"} {
		file(prefix+"sys/"+dir+"/statistics/"+name, "%d\n", t[i])
	}
}

func netlink() {
	const unsupported = "Operation not supported"
	same := func(current, max uint64) *record.NetlinkPair {
		return &record.NetlinkPair{Current: &current, Max: &max}
	}
	table := func(queue func(i int) int) (t []uint32) {
		for i := range 128 {
			t = append(t, uint32(queue(i)))
		}
		return t
	}
	gigabit, tenGigabit, none := uint64(125_000_000), uint64(1_250_000_000), uint64(0)
	base := record.Netlink{
		Devices: []record.NetlinkDevice{
			{
				Device: "bond0", Ifindex: bond0.ifindex,
				DriverInfo: &record.NetlinkDriver{Driver: "bonding", Version: kernel, Firmware: "2"},
				SpeedBytes: &gigabit,
				Errors:     map[string]string{"channels": unsupported, "rings": unsupported, "coalesce": unsupported, "rss": unsupported, "stats": unsupported, "queue_stats": unsupported},
			},
			{
				Device: "eth0", Ifindex: eth0.ifindex,
				DriverInfo: &record.NetlinkDriver{Driver: "virtio_net", Version: "1.0.0", BusInfo: "0000:00:04.0"},
				Channels:   &record.NetlinkChannels{Combined: same(4, 4)},
				Rings:      &record.NetlinkRings{RX: same(256, 256), TX: same(256, 256)},
				Coalesce:   map[string]string{"adaptive-rx": "off", "rx-frames": "1", "rx-usecs": "0", "tx-frames": "1", "tx-usecs": "0"},
				Features:   map[string]string{"generic-receive-offload": "on", "large-receive-offload": "off", "ntuple-filters": "off", "receive-hashing": "off"},
				RSS:        &record.NetlinkRSS{Table: table(func(i int) int { return i % 4 }), Hash: "toeplitz", HashFields: map[string]string{"tcp4": "sdfn", "udp4": "sdfn"}},
				Errors:     map[string]string{"speed_bytes": unsupported},
			},
			{
				Device: "eth1", Ifindex: eth1.ifindex,
				DriverInfo: &record.NetlinkDriver{Driver: "igb", Version: kernel, Firmware: "1.63, 0x800009fa", BusInfo: "0000:81:00.0"},
				Channels:   &record.NetlinkChannels{Other: same(1, 1), Combined: same(4, 8)},
				Rings:      &record.NetlinkRings{RX: same(512, 4096), TX: same(256, 4096)},
				Coalesce:   map[string]string{"rx-usecs": "3", "tx-usecs": "0"},
				Features:   map[string]string{"generic-receive-offload": "on", "large-receive-offload": "off", "ntuple-filters": "off", "receive-hashing": "on"},
				RSS:        &record.NetlinkRSS{Table: table(func(i int) int { return i / 32 }), Hash: "toeplitz", HashFields: map[string]string{"tcp4": "sdfn", "tcp6": "sdfn", "udp4": "sd", "udp6": "sd"}, Rules: &none},
				SpeedBytes: &gigabit,
				Errors:     map[string]string{"queue_stats": unsupported},
			},
			{
				Device: "veth0", Ifindex: veth0.ifindex,
				DriverInfo: &record.NetlinkDriver{Driver: "veth", Version: "1.0"},
				Channels:   &record.NetlinkChannels{RX: same(4, 4), TX: same(4, 4)},
				Features:   map[string]string{"generic-receive-offload": "on", "large-receive-offload": "off", "ntuple-filters": "off", "receive-hashing": "off"},
				SpeedBytes: &tenGigabit,
				Errors:     map[string]string{"rings": unsupported, "coalesce": unsupported, "rss": unsupported, "queue_stats": unsupported},
			},
		},
		Netdev: netdev(),
	}
	t1 := record.Netlink{Devices: []record.NetlinkDevice{{Device: "bond0"}, {Device: "eth0"}, {Device: "eth1"}, {Device: "veth0"}}}
	for sample, doc := range []*record.Netlink{&base, &t1} {
		for i := range doc.Devices {
			d := &doc.Devices[i]
			switch d.Device {
			case "eth0":
				d.Stats, d.QueueStats = virtioStats(sample)
			case "eth1":
				d.Stats = igbStats(sample)
			case "veth0":
				d.Stats = vethStats(sample)
			}
			if sample == 1 {
				d.Errors = keep(base.Devices[i].Errors, "stats", "queue_stats")
			}
		}
		text, err := doc.Encode()
		check(err)
		file([]string{"netsteer/netlink.json", "netsteer/t1/netlink.json"}[sample], "%s", text)
	}
}

func keep(errors map[string]string, keys ...string) map[string]string {
	kept := map[string]string{}
	for k, v := range errors {
		if slices.Contains(keys, k) {
			kept[k] = v
		}
	}
	return kept
}

// netdev: igb tells each NAPI's interrupt, virtio_net none; veth's NAPIs are
// threads. Neither virtio_net's nor veth's TX queues have a NAPI of their own.
func netdev() *record.NetlinkNetdev {
	n := new(record.NetlinkNetdev)
	id := uint64(513)
	for _, d := range []nic{eth0, eth1, veth0} {
		for q := range d.pairs {
			napi := id
			p := record.NetlinkNAPI{Ifindex: d.ifindex, ID: napi}
			n.Queues = append(n.Queues, record.NetlinkQueue{Ifindex: d.ifindex, Direction: "rx", Queue: q, NAPI: &napi})
			tx := record.NetlinkQueue{Ifindex: d.ifindex, Direction: "tx", Queue: q}
			switch d.name {
			case "eth1":
				irq := uint64(36 + q)
				p.IRQ, tx.NAPI = &irq, &napi
			case "veth0":
				pid := uint64(threads[q].pid)
				p.Thread = &pid
			}
			n.Queues = append(n.Queues, tx)
			n.NAPIs = append(n.NAPIs, p)
			id++
		}
	}
	return n
}

type stats []record.NetlinkStat

func (s *stats) add(value uint64, name string, args ...any) {
	*s = append(*s, record.NetlinkStat{Name: fmt.Sprintf(name, args...), Value: value})
}

func igbStats(sample int) (s stats) {
	var rx, tx, rxBytes, txBytes uint64
	for _, p := range eth1.pairs {
		rx, tx = rx+p.rxPackets.in(sample), tx+p.txPackets.in(sample)
		rxBytes, txBytes = rxBytes+p.rxBytes.in(sample), txBytes+p.txBytes.in(sample)
	}
	s.add(rx, "rx_packets")
	s.add(tx, "tx_packets")
	s.add(rxBytes, "rx_bytes")
	s.add(txBytes, "tx_bytes")
	s.add(0, "rx_no_buffer_count")
	s.add(eth1.missed.in(sample), "rx_missed_errors")
	for q, p := range eth1.pairs {
		s.add(p.txPackets.in(sample), "tx_queue_%d_packets", q)
		s.add(p.txBytes.in(sample), "tx_queue_%d_bytes", q)
		s.add(0, "tx_queue_%d_restart", q)
	}
	for q, p := range eth1.pairs {
		s.add(p.rxPackets.in(sample), "rx_queue_%d_packets", q)
		s.add(p.rxBytes.in(sample), "rx_queue_%d_bytes", q)
		s.add(p.rxDrops.in(sample), "rx_queue_%d_drops", q)
		s.add(0, "rx_queue_%d_csum_err", q)
		s.add(0, "rx_queue_%d_alloc_failed", q)
	}
	return s
}

// virtioStats: packets and bytes are qstats since 6.10, drops are ethtool's.
func virtioStats(sample int) (s stats, queues []record.NetlinkQstat) {
	var drops uint64
	for _, p := range eth0.pairs {
		drops += p.rxDrops.in(sample)
	}
	s.add(drops, "rx_drops")
	for q, p := range eth0.pairs {
		s.add(p.rxDrops.in(sample), "rx%d_drops", q)
		s.add(0, "rx%d_xdp_packets", q)
		rx, rxBytes := p.rxPackets.in(sample), p.rxBytes.in(sample)
		queues = append(queues, record.NetlinkQstat{Direction: "rx", Queue: q, Packets: &rx, Bytes: &rxBytes})
	}
	for q, p := range eth0.pairs {
		s.add(0, "tx%d_tx_timeouts", q)
		tx, txBytes := p.txPackets.in(sample), p.txBytes.in(sample)
		queues = append(queues, record.NetlinkQstat{Direction: "tx", Queue: q, Packets: &tx, Bytes: &txBytes})
	}
	return s, queues
}

func vethStats(int) (s stats) {
	s.add(uint64(veth0.iflink), "peer_ifindex")
	for q := range veth0.pairs {
		s.add(0, "rx_queue_%d_xdp_packets", q)
		s.add(0, "rx_queue_%d_drops", q)
	}
	return s
}
