package lab

import (
	"strings"
	"testing"
)

// Each guest's CPUs, nodes, memory and NICs come to what QEMU is told.
func TestArguments(t *testing.T) {
	for _, c := range []struct {
		guest Guest
		want  []string
	}{
		{Steering("6.12"), []string{
			"-smp 16,sockets=2,cores=4,threads=2",
			"memory-backend-ram,id=m1,size=1024M", "node,nodeid=0,cpus=0-7,memdev=m0", "node,nodeid=1,cpus=8-15,memdev=m1",
			"pxb-pcie,bus_nr=64,id=pxb0,bus=pcie.0,numa_node=1", "pcie-root-port,id=rp0,bus=pxb0,chassis=1,slot=1", "igb,bus=rp0,netdev=n0",
			"ifname=tap1,script=no,downscript=no,queues=8", "virtio-net-pci,bus=pcie.0,netdev=n1", "mq=on,vectors=18,rss=on,hash=on",
		}},
		{Forwarder("6.1"), []string{
			"-smp 4,sockets=1,cores=4,threads=1", "node,nodeid=0,cpus=0-3,memdev=m0",
			"pcie-root-port,id=rp0,bus=pcie.0,chassis=1,slot=1", "pcie-root-port,id=rp1,bus=pcie.0,chassis=2,slot=2", "igb,bus=rp1,netdev=n1",
		}},
		{Plain("6.1", Virtio), []string{"-smp 4,sockets=1,cores=4,threads=1", "queues=4", "mq=on,vectors=10"}},
		{Plain("6.1", E1000E), []string{"e1000e,bus=rp0,netdev=n0"}},
	} {
		got := strings.Join(c.guest.arguments("kernel", "initramfs", "console"), " ")
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", c.guest.Name, want, got)
			}
		}
	}
}
