package record

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/scan"
	"github.com/netsteer/netsteer/internal/testenv"
)

// recordings are hosts recorded in guests. Each has a virtio_net device with 4
// pairs and an igb with 8.
var recordings = []string{
	"deb-6.1-8cpu-2node", "deb-6.12-8cpu-2node", "deb-6.18-8cpu-2node",
	"deb-6.18-8cpu-cpu3offline", "deb-6.18-8cpu-isolcpus",
}

// virtio and igb are the devices' names in a recording: the kernels number them
// differently.
func virtio(recording string) string { return "eth" + strconv.Itoa(b2i(oldNames(recording))) }
func igb(recording string) string    { return "eth" + strconv.Itoa(1-b2i(oldNames(recording))) }

func oldNames(recording string) bool { return recording == "deb-6.1-8cpu-2node" }

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func eachRecording(t *testing.T, f func(t *testing.T, name string, r *Recording)) {
	for _, name := range recordings {
		t.Run(name, func(t *testing.T) {
			r, err := Open(testenv.Shared(t, "recorded", name+".tar.gz"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { r.Close() })
			f(t, name, r)
		})
	}
}

// The names scan reads: links of sysfs lead where the kernel's do, and a
// device's vectors are listed beside its PCI function.
func TestRecordingsFiles(t *testing.T) {
	eachRecording(t, func(t *testing.T, name string, r *Recording) {
		tree := r.Machine().Tree
		for _, dev := range []struct {
			name    string
			up      string // from the device's parent to the PCI function
			vectors int
			rx      int
		}{{virtio(name), "..", 9, 4}, {igb(name), "", 9, 8}} {
			dir := "sys/class/net/" + dev.name
			link, err := tree.ReadLink(dir)
			if err != nil || !strings.HasPrefix(link, "../../devices/pci0000:00/") {
				t.Fatalf("%s: link %q, %v", dir, link, err)
			}
			real := path.Join(path.Dir(dir), link)
			parent, err := tree.ReadLink(dir + "/device")
			if err != nil {
				t.Fatal(err)
			}
			pci := path.Join(real, parent, dev.up)
			irqs, err := fs.ReadDir(tree, pci+"/msi_irqs")
			if err != nil || len(irqs) != dev.vectors {
				t.Errorf("%s: %d vectors, %v; want %d", pci, len(irqs), err, dev.vectors)
			}
			for _, irq := range irqs {
				if _, err := tree.Read(nil, "proc/irq/"+irq.Name()+"/smp_affinity_list"); err != nil {
					t.Error(err)
				}
			}
			queues, err := fs.ReadDir(tree, dir+"/queues")
			if err != nil || len(queues) != 2*dev.rx {
				t.Errorf("%s: %d queues, %v; want %d", dir, len(queues), err, 2*dev.rx)
			}
			a, err := tree.Read(nil, dir+"/queues/rx-0/rps_cpus")
			b, err2 := tree.Read(nil, real+"/queues/rx-0/rps_cpus")
			if err != nil || err2 != nil || string(a) != string(b) || len(a) == 0 {
				t.Errorf("rps_cpus %q, %v by link; %q, %v by device", a, err, b, err2)
			}
		}
		for _, file := range []string{"proc/interrupts", "proc/softirqs", "proc/net/softnet_stat", "proc/stat", "sys/devices/system/cpu/online"} {
			if text, err := tree.Read([]byte("x"), file); err != nil || len(text) < 4 || text[0] != 'x' {
				t.Errorf("%s: %q, %v", file, text, err)
			}
		}
		if _, err := tree.Read(nil, "proc/nothing"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("proc/nothing: %v", err)
		}
	})
}

// A single-queue device's xps_cpus is there and its reading fails.
func TestRecordedError(t *testing.T) {
	eachRecording(t, func(t *testing.T, name string, r *Recording) {
		tree := r.Machine().Tree
		const dir = "sys/class/net/lo/queues/tx-0"
		list, err := fs.ReadDir(tree, dir)
		if err != nil {
			t.Fatal(err)
		}
		has := func(name string) bool {
			return slices.ContainsFunc(list, func(e fs.DirEntry) bool { return e.Name() == name })
		}
		if !has("xps_cpus") || has("xps_cpus.err") {
			t.Errorf("listed: %v", list)
		}
		if _, err := tree.Read(nil, dir+"/xps_cpus"); !errors.Is(err, syscall.ENOENT) || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("xps_cpus: %v", err)
		}
		if i, err := tree.Lstat(dir + "/xps_cpus"); err != nil || !i.Mode().IsRegular() {
			t.Errorf("xps_cpus: %v, %v", i, err)
		}
	})
}

// What ethtool said, against the values read from the files by eye.
func TestRecordingsNICs(t *testing.T) {
	eachRecording(t, func(t *testing.T, name string, r *Recording) {
		nics := r.Machine().NICs
		for _, dev := range []struct {
			name, driver, bus string
			combined          uint64
			other             host.Pair
			table             func(i int) uint32
			adaptive          bool
		}{
			{virtio(name), "virtio_net", "0000:00:04.0", 4, host.Pair{}, func(i int) uint32 { return uint32(i % 4) }, true},
			{igb(name), "igb", "0000:00:03.0", 8, host.Pair{Current: host.Known(1), Max: host.Known(1)}, func(i int) uint32 { return uint32(i / 16) }, false},
		} {
			d, err := nics.DriverInfo(dev.name)
			if err != nil || d.Driver != dev.driver || d.BusInfo != dev.bus {
				t.Errorf("%s: driver %+v, %v", dev.name, d, err)
			}
			want := host.Channels{Combined: host.Pair{Current: host.Known(dev.combined), Max: host.Known(dev.combined)}, Other: dev.other}
			if c, err := nics.Channels(dev.name); err != nil || c != want {
				t.Errorf("%s: channels %+v, %v", dev.name, c, err)
			}
			rss, err := nics.RSS(dev.name)
			if err != nil || len(rss.Table) != 128 || rss.Hash != "toeplitz" {
				t.Fatalf("%s: RSS table of %d, hash %q, %v", dev.name, len(rss.Table), rss.Hash, err)
			}
			for i, q := range rss.Table {
				if q != dev.table(i) {
					t.Errorf("%s: table[%d] = %d", dev.name, i, q)
				}
			}
			co, err := nics.Coalesce(dev.name)
			if has := slices.ContainsFunc(co, func(o host.Option) bool { return o.Name == "adaptive-rx" }); err != nil || has != dev.adaptive && !oldNames(name) {
				t.Errorf("%s: coalesce %v, %v", dev.name, co, err)
			}
			if f, err := nics.Features(dev.name); err != nil || !slices.Contains(f, host.Option{Name: "generic-receive-offload", Value: "on"}) {
				t.Errorf("%s: features %v, %v", dev.name, f, err)
			}
			names, values, err := nics.Stats(dev.name).Read()
			if err != nil || len(names) != len(values) || len(names) < 20 {
				t.Errorf("%s: %d stats, %v", dev.name, len(names), err)
			}
			if _, err := nics.Rings(dev.name); !errors.Is(err, scan.ErrNotRecorded) {
				t.Errorf("%s: rings were not recorded: %v", dev.name, err)
			}
			if _, err := nics.QueueStats(nil, dev.name); !errors.Is(err, scan.ErrNotRecorded) {
				t.Errorf("%s: qstats were not recorded: %v", dev.name, err)
			}
		}
		if _, err := nics.Netdev(); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("netdev: %v", err)
		}
		if _, err := nics.Channels("eth9"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("no such device: %v", err)
		}
		if _, _, ok := r.Times(); ok {
			t.Error("one sample has times")
		}
		if _, ok := r.T1(); ok {
			t.Error("one sample has a second")
		}
	})
}

// e1000e has no channels and no RSS.
func TestRecordingUnsupported(t *testing.T) {
	r, err := Open(testenv.Shared(t, "recorded", "deb-6.18-8cpu-2node.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.Machine().NICs.Channels("eth2")
	_, err2 := r.Machine().NICs.RSS("eth2")
	for _, err := range []error{err, err2} {
		if !errors.Is(err, errors.ErrUnsupported) || errors.Is(err, scan.ErrNotRecorded) {
			t.Error(err)
		}
	}
	if got, want := fmt.Sprint(err), "ethtool -l eth2: netlink error: Operation not supported: operation not supported"; got != want {
		t.Errorf("%s", got)
	}
}
