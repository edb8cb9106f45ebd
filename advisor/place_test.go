package advisor

import (
	"regexp"
	"slices"
	"testing"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
)

func same(n, cpu int) []int { return slices.Repeat([]int{cpu}, n) }

// Where vectors go. Each case says in its name which rule it proves.
func TestPlacement(t *testing.T) {
	tests := []struct {
		name string
		make func() (*machine, *nic)
		p    Policy
		want []int // planned CPU of each vector
	}{
		{"all on one CPU of the wrong node: the NIC's node, a CPU each", func() (*machine, *nic) {
			m := newMachine(2, 1, 4, 1)
			return m, m.nic("eth0", 1, same(4, 0)...)
		}, Policy{}, []int{4, 5, 6, 7}},
		{"all on one CPU of the right node: the first keeps it", func() (*machine, *nic) {
			m := newMachine(1, 1, 4, 1)
			return m, m.nic("eth0", 0, same(4, 2)...)
		}, Policy{}, []int{2, 0, 1, 3}},
		{"cores before siblings", func() (*machine, *nic) {
			m := newMachine(1, 1, 4, 2)
			return m, m.nic("eth0", 0, same(4, 0)...)
		}, Policy{}, []int{0, 2, 4, 6}},
		{"siblings before sharing, in both profiles", func() (*machine, *nic) {
			m := newMachine(1, 1, 2, 2)
			return m, m.nic("eth0", 0, same(4, 0)...)
		}, Policy{Profile: Throughput}, []int{0, 2, 1, 3}},
		{"last-level caches in turn", func() (*machine, *nic) {
			m := newMachine(1, 2, 4, 1)
			return m, m.nic("eth0", 0, same(4, 7)...)
		}, Policy{}, []int{7, 0, 1, 4}},
		{"a good assignment is left alone, in whatever order", func() (*machine, *nic) {
			m := newMachine(1, 1, 4, 1)
			return m, m.nic("eth0", 0, 3, 1, 0, 2)
		}, Policy{}, []int{3, 1, 0, 2}},
		{"good, though not spread over caches: nothing moves", func() (*machine, *nic) {
			m := newMachine(1, 2, 4, 1)
			return m, m.nic("eth0", 0, 0, 1, 2, 3)
		}, Policy{}, []int{0, 1, 2, 3}},
		{"one of four is wrong: one moves", func() (*machine, *nic) {
			m := newMachine(1, 1, 4, 1)
			return m, m.nic("eth0", 0, 3, 1, 0, 3)
		}, Policy{}, []int{3, 1, 0, 2}},
		{"a wide mask whose effect is good stays", func() (*machine, *nic) {
			m := newMachine(1, 1, 4, 1)
			return m, m.nic("eth0", 0, 2, 0, 3, 1).wide(m.all())
		}, Policy{}, []int{2, 0, 3, 1}},
		{"wide masks of no known effect are taken to be on the first CPU", func() (*machine, *nic) {
			m := newMachine(1, 1, 4, 1)
			n := m.nic("eth0", 0, same(4, 0)...).wide(m.all())
			for i := range n.dev().Vectors {
				n.dev().Vectors[i].Effective = host.Mask{}
			}
			return m, n
		}, Policy{}, []int{0, 1, 2, 3}},
		{"a vector that fires on all CPUs of its mask gets one", func() (*machine, *nic) {
			m := newMachine(1, 1, 4, 1)
			n := m.nic("eth0", 0, same(4, 0)...).wide(m.all())
			for i := range n.dev().Vectors {
				n.dev().Vectors[i].Effective = host.KnownMask(m.all())
			}
			return m, n
		}, Policy{}, []int{0, 1, 2, 3}},
		{"a pending move counts as made: the intent is compared", func() (*machine, *nic) {
			m := newMachine(1, 1, 4, 1)
			n := m.nic("eth0", 0, 0, 1, 2, 3)
			n.dev().Vectors[3].Effective = host.KnownMask(cpuset.Of(0))
			return m, n
		}, Policy{}, []int{0, 1, 2, 3}},
		{"a pending move into a wide mask will be to its first CPU", func() (*machine, *nic) {
			m := newMachine(1, 1, 4, 1)
			n := m.nic("eth0", 0, 0, 2).wide(cpuset.Of(0, 1))
			n.dev().Vectors[1].Affinity = host.KnownMask(cpuset.Of(1, 3))
			return m, n
		}, Policy{}, []int{0, 1}},
		{"more units than CPUs of the node: shared evenly within the node", func() (*machine, *nic) {
			m := newMachine(2, 1, 2, 1)
			return m, m.nic("eth0", 0, same(5, 3)...)
		}, Policy{}, []int{0, 1, 0, 1, 0}},
		{"isolated CPUs get none", func() (*machine, *nic) {
			m := newMachine(1, 1, 4, 1)
			m.inv.CPUs.IsolatedBoot = cpuset.Of(1, 2)
			return m, m.nic("eth0", 0, 0, 1, 2, 3)
		}, Policy{}, []int{0, 0, 3, 3}},
		{"the node has no allowed CPU: all allowed ones", func() (*machine, *nic) {
			m := newMachine(2, 1, 2, 1)
			m.inv.CPUs.IsolatedBoot = cpuset.Of(2, 3)
			return m, m.nic("eth0", 1, 2, 3)
		}, Policy{}, []int{0, 1}},
		{"node unknown: all allowed CPUs", func() (*machine, *nic) {
			m := newMachine(2, 1, 2, 1)
			return m, m.nic("eth0", -1, same(4, 0)...)
		}, Policy{}, []int{0, 2, 1, 3}},
		{"rx-i and tx-i are one unit: tx follows rx", func() (*machine, *nic) {
			m := newMachine(1, 1, 4, 1)
			n := m.split("eth0", 0, 0, 1)
			n.dev().Vectors[2].Affinity, n.dev().Vectors[3].Affinity = host.KnownMask(cpuset.Of(2)), host.KnownMask(cpuset.Of(3))
			return m, n
		}, Policy{}, []int{0, 1, 0, 1}},
		{"an unwritable vector keeps its CPU, and others keep off it", func() (*machine, *nic) {
			m := newMachine(1, 1, 4, 1)
			n := m.nic("eth0", 0, same(4, 1)...)
			n.dev().Vectors[3].ReadOnly = true
			return m, n
		}, Policy{}, []int{0, 2, 3, 1}},
		{"a shared line is not moved", func() (*machine, *nic) {
			m := newMachine(1, 1, 2, 1)
			n := m.nic("eth0", 0, 0, 0)
			n.dev().Vectors[0].Shared = true
			return m, n
		}, Policy{}, []int{0, 1}},
		{"a dead pair is not planned", func() (*machine, *nic) {
			m := newMachine(1, 1, 2, 1)
			n := m.nic("eth0", 0, 0, 0, 0)
			n.dev().RX[2].Usable, n.dev().TX[2].Usable = false, false
			return m, n
		}, Policy{}, []int{0, 1, -1}},
		{"two NICs are planned together", func() (*machine, *nic) {
			m := newMachine(1, 1, 4, 1)
			m.nic("eth0", 0, 0, 1)
			return m, m.nic("eth1", 0, 0, 1)
		}, Policy{}, []int{2, 3}},
		{"a NIC that is left occupies its CPUs", func() (*machine, *nic) {
			m := newMachine(1, 1, 4, 1)
			m.nic("eth0", 0, 3, 3)
			return m, m.nic("eth1", 0, same(3, 3)...)
		}, Policy{Leave: regexp.MustCompile("^eth0$")}, []int{0, 1, 2}},
		{"a NIC that is not asked for stays where it is", func() (*machine, *nic) {
			m := newMachine(1, 1, 4, 1)
			m.nic("eth0", 0, 3, 3)
			return m, m.nic("eth1", 0, same(3, 3)...)
		}, Policy{Devices: []string{"eth1"}}, []int{0, 1, 2}},
		{"a NIC of a known node comes before one that may go anywhere", func() (*machine, *nic) {
			m := newMachine(2, 1, 2, 1)
			m.nic("eth0", -1, 2, 2)
			return m, m.nic("eth1", 1, 0, 0)
		}, Policy{}, []int{3, 2}},
		{"virtio: vectors on two CPUs of their group are left", func() (*machine, *nic) {
			m := newMachine(1, 1, 4, 2)
			n := m.split("eth0", 0, 0, 2)
			n.dev().RewritesXPS = true
			for i, cpus := range []string{"0-1", "2-3", "0-1", "2-3"} {
				set, _ := cpuset.ParseList(cpus)
				n.dev().Vectors[i].Affinity, n.dev().Vectors[i].Hint = host.KnownMask(set), host.KnownMask(set)
			}
			n.dev().Vectors[2].Effective = host.KnownMask(cpuset.Of(1))
			return m, n
		}, Policy{}, []int{0, 2, 1, 2}},
		{"new places are on the fastest CPUs", func() (*machine, *nic) {
			m := bigLittle()
			return m, m.nic("eth0", -1, same(3, 0)...)
		}, Policy{}, []int{0, 4, 5}},
		{"balanced leaves vectors on slow CPUs of their own", func() (*machine, *nic) {
			m := bigLittle()
			return m, m.nic("eth0", -1, 0, 1)
		}, Policy{}, []int{0, 1}},
		{"throughput takes them to fast ones", func() (*machine, *nic) {
			m := bigLittle()
			return m, m.nic("eth0", -1, 0, 1)
		}, Policy{Profile: Throughput}, []int{4, 5}},
		{"threaded NAPI: the vectors are left", func() (*machine, *nic) {
			m := newMachine(1, 1, 4, 1)
			n := m.nic("eth0", 0, 0, 0)
			n.dev().ThreadedNAPI = true
			return m, n
		}, Policy{}, []int{-1, -1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, n := tt.make()
			if got := planned(t, m, tt.p, n); !slices.Equal(got, tt.want) {
				t.Errorf("planned %v, want %v", got, tt.want)
			}
		})
	}
}

// bigLittle is CPUs 0-3 of half the capacity of 4-7.
func bigLittle() *machine {
	m := newMachine(1, 1, 8, 1)
	for i := range m.inv.CPUs.ByID {
		m.inv.CPUs.ByID[i].Capacity = 512 + i/4*512
	}
	return m
}

// Control vectors are in no change, wherever they are.
func TestControlVectorsAreFixed(t *testing.T) {
	m := newMachine(1, 1, 2, 1)
	m.nic("eth0", 0, 0, 0)
	m.inv.Vectors = append(m.inv.Vectors, host.Vector{ID: 2, IRQ: 99, Role: host.RoleControl, Queue: -1, Affinity: host.KnownMask(cpuset.Of(1))})
	m.reslice()
	if got := brief(m.advise(Policy{}).Changes); !slices.Equal(got, []string{
		"irq_affinity of eth0 queue 1: 0 -> 1", "xps_cpus of eth0 tx-0:  -> 0", "xps_cpus of eth0 tx-1:  -> 1",
	}) {
		t.Error(got)
	}
}
