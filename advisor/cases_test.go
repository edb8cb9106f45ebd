package advisor

import (
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/internal/testenv"
	"github.com/netsteer/netsteer/skew"
)

// Cases of real hosts, where a thread, a maintainer or another tool says what
// should come out. Where netsteer differs on purpose the test says so.

func caseText(t *testing.T, elem ...string) string {
	t.Helper()
	text, err := os.ReadFile(testenv.Shared(t, append([]string{"cases"}, elem...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// rows reads a table: tab-separated, a line of names first, # lines skipped.
func rows(text string) []map[string]string {
	var names []string
	var list []map[string]string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Split(line, "\t")
		if names == nil {
			names = cells
			continue
		}
		row := map[string]string{}
		for i, name := range names {
			if i < len(cells) {
				row[name] = cells[i]
			}
		}
		list = append(list, row)
	}
	return list
}

func atoi(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// flat is a machine whose CPUs are cores of the given nodes, in CPU order.
func flat(node ...int) *machine {
	m := newMachine(1, 1, len(node), 1)
	m.inv.Nodes = nil
	sets := map[int]*cpuset.Builder{}
	for cpu, n := range node {
		m.inv.CPUs.ByID[cpu] = host.CPU{Node: n, Package: n, Core: cpu, Cache: slices.Index(node, n)}
		if sets[n] == nil {
			sets[n] = &cpuset.Builder{}
		}
		sets[n].Add(cpu)
	}
	for _, n := range slices.Sorted(maps.Keys(sets)) {
		m.inv.Nodes = append(m.inv.Nodes, host.Node{ID: n, CPUs: sets[n].Set()})
	}
	return m
}

// 62: the ladder of another tool, every vector on CPU 0 to begin with. netsteer
// differs in one thing: mlx5's four CPUs are two L2 domains without an L3, and
// no last-level cache is known, so that order is by number, as there.
func TestCaseLadder(t *testing.T) {
	topology := rows(caseText(t, "62-rss-ladder-three-servers", "lscpu_p.tsv"))
	byDevice := map[string][]map[string]string{}
	for _, r := range rows(caseText(t, "rss-ladder-vectors.tsv")) {
		byDevice[r["server"]] = append(byDevice[r["server"]], r)
	}
	if len(byDevice) != 3 {
		t.Fatalf("%d servers", len(byDevice))
	}
	for server, vectors := range byDevice {
		name, _, _ := strings.Cut(server, " ")
		var nodes []int
		for _, r := range topology {
			if r["server"] == name {
				nodes = append(nodes, atoi(t, r["node"]))
			}
		}
		m := flat(nodes...)
		node := 0
		if strings.Contains(server, "socket1") {
			node = 1
		}
		var n *nic
		var want []int
		for _, r := range vectors {
			want = append(want, atoi(t, r["cpu"]))
		}
		if strings.Contains(vectors[0]["vector"], "-rx-") {
			n = m.split("eth0", node, same(len(vectors)/2, 0)...)
		} else {
			n = m.nic("eth0", node, same(len(vectors), 0)...)
		}
		if got := planned(t, m, Policy{}, n); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", server, got, want)
		}
		if exceeds := len(m.advise(Policy{}).Findings); name == "ixgbe" && !slices.Contains(rulesOf(m.advise(Policy{})), "queues-exceed-cpus") {
			t.Errorf("%s: 8 queues on 6 CPUs are not reported in %d findings", server, exceeds)
		}
	}
}

// 16: systemd's spread. netsteer takes dies in turn and first threads first as
// it does; within a die it goes by number where systemd halves, it uses siblings
// before sharing where systemd wraps, and it stays on one node where that is
// known. So what is compared is how many vectors the dies get, for up to as many
// as there are cores.
func TestCaseSystemdSpread(t *testing.T) {
	seen := 0
	for _, r := range rows(caseText(t, "systemd-spread-vectors.tsv")) {
		var dies []cpuset.Set
		total := 0
		text, _, _ := strings.Cut(r["dies(first-thread cpus)"], "(")
		for die := range strings.SplitSeq(text, "|") {
			set, err := cpuset.ParseList(die)
			if err != nil {
				t.Fatal(err)
			}
			dies = append(dies, set)
			total += set.Len()
		}
		count := atoi(t, r["n_irqs"])
		if count > total {
			continue
		}
		seen++
		m := newMachine(1, 1, dies[len(dies)-1].Last()+1, 1)
		m.inv.CPUs.Online = cpuset.Set{}
		for _, die := range dies {
			m.inv.CPUs.Online = m.inv.CPUs.Online.Union(die)
			for cpu := range die.All() {
				m.inv.CPUs.ByID[cpu].Cache = die.First()
			}
		}
		n := m.nic("eth0", -1, same(count, 0)...)
		order, err := cpusIn(r["cpu_order"])
		if err != nil {
			t.Fatal(err)
		}
		got := planned(t, m, Policy{}, n)
		var ours, theirs []int
		for _, die := range dies {
			ours, theirs = append(ours, within(got, die)), append(theirs, within(order, die))
		}
		slices.Sort(ours)
		slices.Sort(theirs)
		if !slices.Equal(ours, theirs) {
			t.Errorf("%s, %d vectors: by die %v, from systemd %v (%v, %v)", r["topology"], count, ours, theirs, got, order)
		}
	}
	if seen < 10 {
		t.Errorf("only %d rows were compared", seen)
	}
}

func cpusIn(text string) ([]int, error) {
	var list []int
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	return list, nil
}

func within(list []int, set cpuset.Set) int {
	n := 0
	for _, c := range list {
		if set.Contains(c) {
			n++
		}
	}
	return n
}

// 17: 46 vectors on CPU 0 behind masks of all CPUs, which spread nothing: queue i
// to CPU i.
func TestCaseWideMasks(t *testing.T) {
	m := newMachine(1, 1, 46, 1)
	n := m.nic("ens192", -1, same(46, 0)...).wide(m.all())
	want := make([]int, 46)
	for i := range want {
		want[i] = i
	}
	if got := planned(t, m, Policy{}, n); !slices.Equal(got, want) {
		t.Error(got)
	}
}

// 20: three NICs of one queue on 2 CPUs, node unknown, all on CPU 1: seen
// together they are two and one. netsteer does not weigh by traffic (a plan must
// not follow it), so that which NIC is alone is by name.
func TestCaseThreeNICs(t *testing.T) {
	m := newMachine(1, 1, 2, 1)
	for _, name := range []string{"eth0", "eth1", "eth2"} {
		m.nic(name, -1, 1)
	}
	v := newView(m.facts(skew.Options{}), Policy{})
	if got := v.seat; within(got, cpuset.Of(0)) != 1 || within(got, cpuset.Of(1)) != 2 {
		t.Errorf("%v", got)
	}
}

// 21: two NICs of 8 queues, one queue of each on every CPU: placement cannot do
// better, and nothing moves; the two hot queues on CPU 6 are the hash's fault.
// (The case's advice, to move the hot one to the idlest CPU, would follow load.)
func TestCaseTwoHotQueues(t *testing.T) {
	m := newMachine(1, 1, 8, 1)
	m.nic("eth2", -1, 0, 1, 2, 3, 4, 5, 6, 7)
	m.nic("eth3", -1, 6, 7, 0, 1, 2, 3, 4, 5)
	if got := changesOf(m.advise(Policy{}), host.IRQAffinity); len(got) > 0 {
		t.Error(brief(got))
	}
}

// 26: nodes with alternating CPUs: queue 7 is on the other node, queue 6 on queue
// 0's CPU. All six CPUs of the node have a queue: only queue 7 moves.
func TestCaseOddEvenNodes(t *testing.T) {
	m := flat(0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1)
	n := m.nic("eth2", 0, 0, 2, 4, 6, 8, 10, 0, 3)
	if got, want := planned(t, m, Policy{}, n), []int{0, 2, 4, 6, 8, 10, 0, 2}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// 28: the hardware delivers each vector to every CPU of its mask; sockets are
// scrambled. One CPU each, the NIC's socket first.
func TestCaseEveryVectorOnAllCPUs(t *testing.T) {
	var nodes []int
	for word := range strings.FieldsSeq(caseText(t, "28-every-irq-spread-over-all-cpus", "socket_of_cpu.txt")) {
		nodes = append(nodes, atoi(t, word))
	}
	m := flat(nodes...)
	n := m.nic("eth1", 0, same(4, 0)...).wide(m.all())
	for i := range n.dev().Vectors {
		n.dev().Vectors[i].Effective = host.KnownMask(m.all())
	}
	if got, want := planned(t, m, Policy{}, n), []int{0, 2, 3, 4}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// 29: node 0 is CPUs 0-25 and 52-77; irqbalance had put the NIC's vectors on
// node 1.
func TestCaseRemoteNode(t *testing.T) {
	text := caseText(t, "29-irqs-on-remote-numa-node", "smp_affinity.txt")
	var remote cpuset.Set
	for line := range strings.Lines(text) {
		if _, mask, ok := strings.Cut(line, "104/smp_affinity:"); ok {
			set, err := cpuset.ParseMask(strings.TrimSpace(mask))
			if err != nil {
				t.Fatal(err)
			}
			remote = set
		}
	}
	nodes := make([]int, 104)
	for cpu := range remote.All() {
		nodes[cpu] = 1
	}
	m := flat(nodes...)
	for cpu := range 52 {
		m.inv.CPUs.ByID[cpu+52].Core = cpu // the second thread
	}
	n := m.nic("eth0", 0, remote.Slice()[:8]...)
	a := m.advise(Policy{})
	if !slices.Contains(rulesOf(a), "irq-remote-node") {
		t.Errorf("rules %v", rulesOf(a))
	}
	if got, want := planned(t, m, Policy{}, n), []int{0, 1, 2, 3, 4, 5, 6, 7}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// 36: veth and pods: no XPS change helps, and none is proposed: see no-vectors in
// TestRules.

// 40: small machines never get an empty set of CPUs: with 1, 2 and 4 CPUs every
// unit has a CPU. (Keeping CPUs free of interrupts is profile dedicated.)
func TestCaseSmallMachines(t *testing.T) {
	for _, r := range rows(caseText(t, "40-small-machine-empty-compute-mask", "vectors.tsv")) {
		text, _, _ := strings.Cut(r["cpus"], " ")
		cpus := atoi(t, text)
		m := newMachine(1, 1, cpus, 1)
		n := m.nic("eth0", -1, same(cpus, 0)...)
		for _, cpu := range planned(t, m, Policy{}, n) {
			if cpu < 0 {
				t.Errorf("%d CPUs: a unit without one", cpus)
			}
		}
		for _, c := range m.advise(Policy{}).Changes {
			if c.Proposed == "" {
				t.Errorf("%d CPUs: empty %s", cpus, c.name())
			}
		}
	}
}

// 44: one TX queue has no XPS, 8 queues on 8 CPUs get one CPU each.
func TestCaseSingleTXQueue(t *testing.T) {
	count := map[string]int{}
	for line := range strings.Lines(caseText(t, "44-xps-enoent-single-tx-queue", "tx_queues.txt")) {
		count[strings.Split(line, "/")[4]]++
	}
	for name, queues := range count {
		m := newMachine(1, 1, 8, 1)
		list := make([]int, queues)
		for i := range list {
			list[i] = i
		}
		n := m.nic(name, -1, list...)
		if queues == 1 {
			n.dev().TX[0].XPS = host.Mask{}
		}
		got := changesOf(m.advise(Policy{}), host.XPSCPUs)
		for i, c := range got {
			if c.Proposed != strconv.Itoa(i) {
				t.Errorf("%s: %s", name, brief(got))
			}
		}
		if len(got) != queues && queues > 1 || queues == 1 && len(got) > 0 {
			t.Errorf("%s with %d TX queues: %v", name, queues, brief(got))
		}
	}
}

// 45: big.LITTLE, NICs on slow CPUs of their own. Users moved them to the fast
// ones, other projects keep them there for heat: throughput does the one,
// balanced the other.
func TestCaseBigLittle(t *testing.T) {
	var on []int
	for _, r := range rows(caseText(t, "45-rk3588-big-little-masks", "before.tsv")) {
		mask, err := cpuset.ParseMask(r["irq_mask"])
		if err != nil {
			t.Fatal(err)
		}
		on = append(on, mask.First())
	}
	for profile, want := range map[Profile]int{Balanced: 0, Throughput: 3} {
		m := bigLittle()
		for i, cpu := range on {
			m.nic("eth"+strconv.Itoa(i), -1, cpu)
		}
		v := newView(m.facts(skew.Options{}), Policy{Profile: profile})
		if got := within(v.seat, cpuset.Range(4, 7)); got != want {
			t.Errorf("%s: %d of 3 NICs on fast CPUs, want %d", profile, got, want)
		}
	}
}

// 47: four rings on CPU 0, the table reaches one of them. The pairs send by all
// four, so that all are spread, ring i to CPU i.
func TestCaseTableOfOneQueue(t *testing.T) {
	m := newMachine(1, 1, 4, 1)
	n := m.nic("eth0", -1, same(4, 0)...)
	for i := range n.dev().RX {
		n.dev().RX[i].RSSWeightOK, n.dev().RX[i].RSSWeight = true, 0
	}
	n.dev().RX[0].RSSWeight = 1
	if got, want := planned(t, m, Policy{}, n), []int{0, 1, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// 60: CPUs 4-15 are isolated: vectors get 0-3, and masks of RPS keep to them.
func TestCaseIsolated(t *testing.T) {
	m := newMachine(1, 1, 16, 1)
	for file, to := range map[string]*cpuset.Set{"isolated.txt": &m.inv.CPUs.IsolatedBoot, "nohz_full.txt": &m.inv.CPUs.NohzFull} {
		set, err := cpuset.ParseList(caseText(t, "60-isolcpus-symbolic-last-cpu", file))
		if err != nil {
			t.Fatal(err)
		}
		*to = set
	}
	n := m.nic("eth0", -1, 4, 5)
	n.dev().RX[0].RPS = host.KnownMask(cpuset.Range(0, 7))
	n.dev().RX[1].RPS = host.KnownMask(cpuset.Range(4, 7))
	a := m.advise(Policy{})
	var got []string
	for _, c := range a.Changes {
		if c.Kind != host.XPSCPUs {
			got = append(got, c.Proposed)
		}
	}
	if want := []string{"0", "1", "0-3", ""}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
