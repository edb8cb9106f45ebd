package lab

import (
	"fmt"
	"strconv"
	"strings"
)

// tap is the host's name of the n-th NIC's other end.
func tap(n int) string { return "tap" + strconv.Itoa(n) }

// arguments is QEMU's command line. Software emulation always: /dev/kvm may
// open and still fail inside, and a test that is fast here and slow there has
// two deadlines.
func (g Guest) arguments(kernel, initramfs, console string) []string {
	// no_timer_check: on a busy host the kernel takes the emulated timer for
	// broken and panics. No IPv6: its packets would wake vectors that a test
	// wants idle.
	const cmdline = "console=ttyS0 quiet panic=-1 nokaslr mitigations=off tsc=reliable no_timer_check ipv6.disable=1 "
	args := []string{
		"-M", "q35", "-accel", "tcg,thread=multi",
		// An Intel model tells its threads in CPUID leaf 0xB, which every kernel
		// here reads; emulated AMD ones have no topoext, and 6.1 then sees no
		// SMT. With `-cpu max` 16 CPUs with SMT hung in firmware.
		"-cpu", "Skylake-Server-v4",
		"-smp", fmt.Sprintf("%d,sockets=%d,cores=%d,threads=%d", g.CPUs(), max(g.Sockets, 1), max(g.Cores, 1), max(g.Threads, 1)),
		"-m", strconv.Itoa(g.MemoryMB) + "M",
		"-kernel", kernel, "-initrd", initramfs,
		"-append", strings.TrimSpace(cmdline + g.Cmdline),
		"-nodefaults", "-no-reboot", "-display", "none", "-monitor", "none", "-serial", "file:" + console,
	}
	perNode := g.CPUs() / g.nodes()
	for n := range g.nodes() {
		args = append(args,
			"-object", fmt.Sprintf("memory-backend-ram,id=m%d,size=%dM", n, g.MemoryMB/g.nodes()),
			"-numa", fmt.Sprintf("node,nodeid=%d,cpus=%d-%d,memdev=m%d", n, n*perNode, (n+1)*perNode-1, n))
	}
	for n, card := range g.NICs {
		args = append(args, card.arguments(n)...)
	}
	return args
}

func (c NIC) arguments(n int) []string {
	var args []string
	bus := "pcie.0"
	if c.Node != "" {
		bus = fmt.Sprintf("pxb%d", n)
		args = append(args, "-device", fmt.Sprintf("pxb-pcie,bus_nr=%d,id=%s,bus=pcie.0,numa_node=%s", 64+16*n, bus, c.Node))
	}
	// romfile= leaves out the slow network boot.
	identity := fmt.Sprintf("netdev=n%d,romfile=,mac=%s", n, text(mac(n)))
	if c.Driver == Virtio {
		return append(args,
			"-netdev", fmt.Sprintf("tap,id=n%d,ifname=%s,script=no,downscript=no,queues=%d", n, tap(n), c.Queues),
			"-device", fmt.Sprintf("virtio-net-pci,bus=%s,%s,mq=on,vectors=%d,rss=on,hash=on", bus, identity, 2*c.Queues+2))
	}
	// A PCI Express card wants a port of its own: two on one bus do not start.
	return append(args,
		"-device", fmt.Sprintf("pcie-root-port,id=rp%d,bus=%s,chassis=%d,slot=%d", n, bus, n+1, n+1),
		"-netdev", fmt.Sprintf("tap,id=n%d,ifname=%s,script=no,downscript=no", n, tap(n)),
		"-device", fmt.Sprintf("%s,bus=rp%d,%s", c.Driver, n, identity))
}
