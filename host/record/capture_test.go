package record

import (
	"bytes"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/live"
	"github.com/netsteer/netsteer/host/scan"
)

// take captures our recorded host as if it were live, both its samples.
func take(t *testing.T, o TakeOptions) (*Recording, *Taking) {
	t.Helper()
	r := ownHost(t)
	m := r.Machine()
	m.Rivals = func() ([]host.Rival, error) {
		return []host.Rival{{Name: "irqbalance", Active: true, BannedIRQs: []int{26, 27}, BannedCPUs: cpuset.Of(7)}}, nil
	}
	taking := Take(m, o)
	taking.machine, _ = r.T1()
	taking.Again()
	return r, taking
}

// reopen saves a capture and opens it.
func reopen(t *testing.T, taking *Taking, name string) *Recording {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if strings.HasSuffix(name, "/") {
		path += "/"
	}
	if err := taking.Save(path); err != nil {
		t.Fatal(err)
	}
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

var sets = cmp.Comparer(func(a, b cpuset.Set) bool { return a == b })

// TestCaptureIsTheMachine proves that a capture answers as the machine it was
// taken of: the same Inventory and the same counters at both times, as an archive
// and as a folder.
func TestCaptureIsTheMachine(t *testing.T) {
	original, taking := take(t, TakeOptions{})
	late, _ := original.T1()
	first := scan.New(original.Machine(), scan.Options{})
	want := first.Inventory()
	wantFirst, wantSecond := readSample(t, first, want), readSample(t, scan.New(late, scan.Options{}), want)
	want.Rivals = taking.Inventory().Rivals
	for _, name := range []string{"c.tar.gz", "c/"} {
		t.Run(name, func(t *testing.T) {
			again := reopen(t, taking, name)
			scanner := scan.New(again.Machine(), scan.Options{})
			inv := scanner.Inventory()
			if diff := cmp.Diff(want, inv, sets); diff != "" {
				t.Errorf("inventory (-machine +capture):\n%s", diff)
			}
			second, ok := again.T1()
			if !ok {
				t.Fatal("no second sample")
			}
			if t0, t1, ok := again.Times(); !ok || !t1.After(t0) {
				t.Errorf("times %v, %v, %v", t0, t1, ok)
			}
			for _, c := range []struct {
				name      string
				want, got *host.Sample
			}{
				{"first", wantFirst, readSample(t, scanner, inv)},
				{"second", wantSecond, readSample(t, scan.New(second, scan.Options{}), inv)},
			} {
				if diff := cmp.Diff(c.want.Queues, c.got.Queues); diff != "" {
					t.Errorf("%s sample, queues:\n%s", c.name, diff)
				}
				if !slices.Equal(c.want.Cells, c.got.Cells) || !slices.Equal(c.want.Softnet, c.got.Softnet) ||
					!slices.Equal(c.want.Ticks, c.got.Ticks) || !slices.Equal(c.want.NetRX, c.got.NetRX) || c.want.IPOut != c.got.IPOut {
					t.Errorf("%s sample differs in what CPUs and vectors count", c.name)
				}
			}
		})
	}
}

// TestCaptureOfThisMachine proves the same with the kernel's own files, and that
// what scan reads holds no address of this machine.
func TestCaptureOfThisMachine(t *testing.T) {
	machine, closeMachine, err := live.Machine("/proc", "/sys", true)
	if err != nil {
		t.Skip(err)
	}
	defer closeMachine()
	want := scan.New(machine, scan.Options{}).Inventory()
	taking := Take(machine, TakeOptions{})
	got := scan.New(reopen(t, taking, "c.tar.gz").Machine(), scan.Options{}).Inventory()
	if diff := cmp.Diff(want, got, sets); diff != "" {
		t.Errorf("inventory (-machine +capture):\n%s", diff)
	}
	files, err := taking.layout()
	if err != nil {
		t.Fatal(err)
	}
	mac := regexp.MustCompile(`\b([0-9a-f]{2}:){5}[0-9a-f]{2}\b`)
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for name, n := range files {
		for _, a := range addresses {
			if ip, _, err := net.ParseCIDR(a.String()); err == nil && len(ip.String()) > len("::1") && bytes.Contains(n.data, []byte(ip.String())) {
				t.Errorf("%s holds %s", name, ip)
			}
		}
		if mac.Match(n.data) || strings.HasSuffix(name, "/address") {
			t.Errorf("%s holds an address: %.100s", name, n.data)
		}
	}
}

// TestCaptureOfOneDevice proves that other devices are as if they were not there.
func TestCaptureOfOneDevice(t *testing.T) {
	_, taking := take(t, TakeOptions{Devices: []string{"eth1"}})
	r := reopen(t, taking, "c/")
	inv := scan.New(r.Machine(), scan.Options{}).Inventory()
	if len(inv.Devices) != 1 || inv.Device("eth1") == nil || len(inv.Device("eth1").Vectors) != 5 {
		t.Errorf("devices: %+v", inv.Devices)
	}
	for name := range taking.first.files {
		if strings.Contains(name, "veth0") {
			t.Errorf("%s is there", name)
		}
	}
}

// TestCaptureHidesNames proves that a name made of a MAC address is in no file's
// name, link or text, and stays with --with-addresses.
func TestCaptureHidesNames(t *testing.T) {
	const name = "enx525400aabbcc"
	dir := t.TempDir()
	plant(t, dir, map[string]string{
		"proc/interrupts":       "           CPU0\n 26:   5   PCI-MSI 1-edge      " + name + "\n",
		"sys/class/net/" + name: "->../../devices/pci0000:00/usb1/net/" + name,
		"sys/devices/pci0000:00/usb1/net/" + name + "/ifindex":              "2\n",
		"sys/devices/pci0000:00/usb1/net/" + name + "/address":              "52:54:00:aa:bb:cc\n",
		"sys/devices/pci0000:00/usb1/net/" + name + "/queues/rx-0/rps_cpus": "0\n",
		"netsteer/netlink.json": `{"schema":"netsteer.netlink/v1","devices":[{"device":"` + name + `","driver_info":{"driver":"cdc"}}]}`,
	})
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, with := range []bool{false, true} {
		taking := Take(r.Machine(), TakeOptions{Addresses: with})
		files, err := taking.layout()
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]bool{}
		for at, n := range files {
			text := at + string(n.data)
			found["name"] = found["name"] || strings.Contains(text, "525400aabbcc")
			found["address"] = found["address"] || strings.Contains(text, "52:54:00:aa:bb:cc")
		}
		if found["name"] != with || found["address"] != with {
			t.Errorf("with addresses %v: %v", with, found)
		}
		want := map[string]string{name: "enx000000000001"}
		if with {
			want = map[string]string{}
		}
		if diff := cmp.Diff(want, taking.Hidden()); diff != "" {
			t.Error(diff)
		}
		inv := scan.New(reopen(t, taking, "c.tar.gz").Machine(), scan.Options{}).Inventory()
		if len(inv.Devices) != 1 || inv.Devices[0].Driver != "cdc" || with != (inv.Devices[0].Name == name) {
			t.Errorf("with addresses %v: %+v", with, inv.Devices)
		}
	}
}

// TestCaptureErrors proves that a file that cannot be read is noted with its
// error, and that the mode the kernel shows is kept.
func TestCaptureErrors(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, map[string]string{
		"proc/interrupts": "           CPU0\n 26:   5   PCI-MSI 1-edge      eth0-TxRx-0\n", "proc/irq/26/smp_affinity": "1\n", "proc/irq/26/smp_affinity_list": "0\n",
		"proc/softirqs.err":                               "Input/output error\n",
		"sys/class/net/eth0/ifindex":                      "2\n",
		"sys/class/net/eth0/device":                       "->../../../devices/pci0000:00/0000:00:01.0",
		"sys/devices/pci0000:00/0000:00:01.0/driver":      "->../../../bus/pci/drivers/igb",
		"sys/devices/pci0000:00/0000:00:01.0/msi_irqs/26": "msix\n",
		"sys/class/net/eth0/speed.err":                    "Invalid argument\n",
		"sys/class/net/eth0/queues/rx-0":                  "->/gone",
	})
	if err := os.Chmod(filepath.Join(dir, "proc/irq/26/smp_affinity"), 0o444); err != nil {
		t.Fatal(err)
	}
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	taking := Take(r.Machine(), TakeOptions{})
	want := scan.New(r.Machine(), scan.Options{}).Inventory()
	for _, name := range []string{"c.tar.gz", "c/"} {
		again := reopen(t, taking, name)
		got := scan.New(again.Machine(), scan.Options{}).Inventory()
		if diff := cmp.Diff(want, got, sets); diff != "" || len(got.Vectors) != 1 || !got.Vectors[0].ReadOnly {
			t.Errorf("%s: %+v\n%s", name, got.Vectors, diff)
		}
		if _, err := again.tree.Read(nil, "proc/softirqs"); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: softirqs: %v", name, err)
		}
	}
}

// TestCaptureReplacesNothing proves that what is there stays, and that nothing is
// left beside it.
func TestCaptureReplacesNothing(t *testing.T) {
	_, taking := take(t, TakeOptions{})
	dir := t.TempDir()
	plant(t, dir, map[string]string{"old": "older", "folder/x": "x"})
	for _, name := range []string{"old", "old/", "folder/", "folder", "nowhere/new", "old/new"} {
		if err := taking.Save(dir + "/" + name); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := content(t, dir); len(got) != 2 || got["old"] != "older" {
		t.Errorf("%v", got)
	}
	if err := taking.Save(dir + "/new.tar.gz"); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(dir + "/new.tar.gz")
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	var a, b bytes.Buffer
	if err := errors.Join(taking.WriteArchive(&a), taking.WriteArchive(&b)); err != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Errorf("the same capture is not the same bytes: %v", err)
	}
}
