package apply_test

import (
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/netsteer/netsteer/advisor"
	"github.com/netsteer/netsteer/apply"
	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/live"
)

// machine is a tree of plain files that looks like /proc and /sys of a host with
// 8 CPUs and one NIC of 4 queue pairs, IRQs 40 to 43. The product's own Setter
// reads and writes it; the machine stands around it and does what the kernel
// does with a file once it is written, and fails calls on request.
type machine struct {
	t    testing.TB
	root string
	inv  *host.Inventory
	real *live.Setter

	mu     sync.Mutex
	calls  int
	before func(call call) error                             // an error is the call's
	store  func(s host.Setting, v host.Value) (string, bool) // what the kernel stores instead, as list text or decimal
}

// call is one call of the Setter, numbered from 1.
type call struct {
	n       int
	op      string // get, check, set
	setting host.Setting
	value   host.Value
}

const (
	cpus   = 8
	queues = 4
)

func newMachine(t testing.TB) *machine {
	t.Helper()
	m := &machine{t: t, root: filepath.Join(memoryDir(t), "root")}
	d := host.Device{Name: "eth0", Ifindex: 7, Driver: "igb", Physical: true, Node: -1}
	m.file("sys/class/net/eth0/ifindex", "7\n")
	for q := range queues {
		irq := 40 + q
		action := fmt.Sprintf("eth0-TxRx-%d", q)
		m.file(fmt.Sprintf("sys/kernel/irq/%d/actions", irq), action+"\n")
		m.file(m.irqFile(irq, "smp_affinity_list"), "0-7\n")
		m.file(m.irqFile(irq, "smp_affinity"), "ff\n")
		m.file(m.irqFile(irq, "effective_affinity_list"), "0\n")
		m.file(m.queueFile("rx", q, "rps_cpus"), "00\n")
		m.file(m.queueFile("rx", q, "rps_flow_cnt"), "0\n")
		m.file(m.queueFile("tx", q, "xps_cpus"), fmt.Sprintf("%02x\n", 3<<(2*q)))
		d.RX = append(d.RX, host.Queue{Direction: host.RX, Index: q, Vector: q, Usable: true})
		d.TX = append(d.TX, host.Queue{Direction: host.TX, Index: q, Vector: q, Usable: true})
		d.Vectors = append(d.Vectors, host.Vector{
			ID: q, IRQ: irq, Role: host.RoleCombined, Queue: q, RX: []int{q}, TX: []int{q}, Actions: []string{action},
		})
	}
	m.file("proc/sys/net/core/rps_sock_flow_entries", "0\n")
	m.file("proc/sys/net/core/netdev_max_backlog", "1000\n")
	m.inv = &host.Inventory{Devices: []host.Device{d}}
	m.inv.CPUs.Possible = cpuset.Range(0, cpus-1)
	m.inv.CPUs.Online = cpuset.Range(0, cpus-1)
	m.inv.CPUs.ByID = make([]host.CPU, cpus)
	m.real = live.NewSetter(m.path("proc"), m.path("sys"), func() *host.Inventory { return m.inv })
	return m
}

// memoryDir is a folder that is removed with the test, in memory where that can
// be: hundreds of journals are synced to it.
func memoryDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "netsteer-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func (m *machine) path(name string) string { return filepath.Join(m.root, name) }

func (m *machine) irqFile(irq int, name string) string {
	return fmt.Sprintf("proc/irq/%d/%s", irq, name)
}

func (m *machine) queueFile(direction string, queue int, name string) string {
	return fmt.Sprintf("sys/class/net/eth0/queues/%s-%d/%s", direction, queue, name)
}

func (m *machine) file(name, text string) {
	m.t.Helper()
	if err := os.MkdirAll(filepath.Dir(m.path(name)), 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(m.path(name), []byte(text), 0o644); err != nil {
		m.t.Fatal(err)
	}
}

// files is the content of every file.
func (m *machine) files() map[string]string {
	m.t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(m.root), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(m.path(name))
		all[name] = string(text)
		return err
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return all
}

// name is the file that a setting is, as the test knows it.
func (m *machine) name(s host.Setting) string {
	switch s.Kind {
	case host.IRQAffinity:
		return m.irqFile(40+s.Queue, "smp_affinity_list")
	case host.RPSCPUs, host.RPSFlowCnt:
		return m.queueFile("rx", s.Queue, string(s.Kind))
	case host.XPSCPUs:
		return m.queueFile("tx", s.Queue, string(s.Kind))
	}
	return "proc/sys/net/core/" + string(s.Kind)
}

// call counts and asks whether this call fails.
func (m *machine) call(op string, s host.Setting, v host.Value) error {
	m.mu.Lock()
	m.calls++
	c := call{m.calls, op, s, v}
	before := m.before
	m.mu.Unlock()
	if before == nil {
		return nil
	}
	if err := before(c); err != nil {
		return &fs.PathError{Op: op, Path: m.name(s), Err: err}
	}
	return nil
}

func (m *machine) Get(s host.Setting) (host.Value, error) {
	if err := m.call("get", s, ""); err != nil {
		return "", err
	}
	return m.real.Get(s)
}

func (m *machine) Check(s host.Setting, v host.Value) error {
	if err := m.call("check", s, v); err != nil {
		return err
	}
	return m.real.Check(s, v)
}

func (m *machine) Set(s host.Setting, v host.Value) error {
	if err := m.call("set", s, v); err != nil {
		return err
	}
	was, err := os.ReadFile(m.path(m.name(s)))
	if err != nil {
		return err
	}
	if err := m.real.Set(s, v); err != nil {
		return err
	}
	return m.settle(s, v, string(was))
}

func (m *machine) Effective(s host.Setting) (host.Value, bool) { return m.real.Effective(s) }

// settle makes of a written file what the kernel shows: the text of one write(2)
// up to its newline is the new value, in the kernel's own form.
func (m *machine) settle(s host.Setting, v host.Value, was string) error {
	text, err := os.ReadFile(m.path(m.name(s)))
	if err != nil {
		return err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	if m.store != nil {
		if instead, ok := m.store(s, v); ok {
			first = instead
			if s.Kind == host.RPSCPUs || s.Kind == host.XPSCPUs {
				set, err := cpuset.ParseList(instead)
				if err != nil {
					return err
				}
				first = set.Mask(cpus)
			}
		}
	}
	m.file(m.name(s), first+"\n")
	if s.Kind == host.IRQAffinity {
		set, err := cpuset.ParseList(first)
		if err != nil {
			return err
		}
		m.file(m.irqFile(40+s.Queue, "smp_affinity"), set.Mask(cpus)+"\n")
	}
	return nil
}

// engine is an Engine of the machine with its own journal.
func (m *machine) engine(options ...func(*apply.Options)) *apply.Engine {
	o := apply.Options{
		Dir: filepath.Join(m.root, "../state"), Setter: m, BootID: "boot-1",
		Inventory: func() (*host.Inventory, error) { return m.inv, nil },
		Logger:    slog.New(slog.DiscardHandler),
	}
	for _, option := range options {
		option(&o)
	}
	return apply.New(o)
}

func change(kind host.Kind, direction string, queue int, proposed string) advisor.Change {
	return advisor.Change{Kind: kind, Device: "eth0", Direction: direction, Queue: &queue, Proposed: proposed}
}

func hostWide(kind host.Kind, proposed string) advisor.Change {
	return advisor.Change{Kind: kind, Proposed: proposed}
}

// onePlan has a change of every kind, in no order.
func onePlan() []advisor.Change {
	return []advisor.Change{
		change(host.XPSCPUs, "tx", 1, "4-5"),
		change(host.RPSFlowCnt, "rx", 1, "2048"),
		hostWide(host.RPSSockFlowEntries, "32768"),
		change(host.RPSCPUs, "rx", 1, "0,2"),
		change(host.IRQAffinity, "combined", 2, "3"),
		hostWide(host.NetdevMaxBacklog, "2000"),
		change(host.IRQAffinity, "combined", 1, "1"),
	}
}

// wantFiles are the files of a machine after changes.
func wantFiles(m *machine, before map[string]string, changes []advisor.Change) map[string]string {
	want := maps.Clone(before)
	for i := range changes {
		s := changes[i].Setting()
		text := changes[i].Proposed
		if set, err := cpuset.ParseList(text); err == nil {
			switch s.Kind {
			case host.RPSCPUs, host.XPSCPUs:
				text = set.Mask(cpus)
			case host.IRQAffinity:
				text = set.String()
				want[m.irqFile(40+s.Queue, "smp_affinity")] = set.Mask(cpus) + "\n"
			}
		}
		want[m.name(s)] = text + "\n"
	}
	return want
}

// differing are the names of files that differ.
func differing(a, b map[string]string) []string {
	var names []string
	for name := range a {
		if a[name] != b[name] {
			names = append(names, name)
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// clock ticks one second at each look.
func clock(start time.Time) func() time.Time {
	var mu sync.Mutex
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		start = start.Add(time.Second)
		return start
	}
}
