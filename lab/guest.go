// Package lab boots Linux guests with real multi-queue NICs, on any x86-64
// machine with root and QEMU 10, and lets a test reach them over the network:
// the program under test by HTTP like any user, and the truth beside it, which
// the test reads itself from the guest's kernel files.
//
// A guest is one value (Guest), booted by Boot for the length of one test. It
// lives in a network namespace of its own and dies with the test's process,
// however that ends. Nothing is tried twice: a boot, a request or a condition
// that misses its deadline fails the test, and the console stays on disk.
package lab

import (
	"fmt"
	"net/netip"
	"net/url"
)

// Guest says what machine to boot. The zero value of a field is the plainest
// choice.
type Guest struct {
	Name string
	// Kernel is a line of Debian kernels that fetch.sh has put into the cache,
	// "6.12".
	Kernel string
	// Sockets, Cores (of a socket) and Threads (of a core) make the CPUs; 0
	// counts as 1.
	Sockets, Cores, Threads int
	// Nodes is the number of NUMA nodes, each with an equal run of CPUs and
	// share of the memory; 0 counts as 1.
	Nodes    int
	MemoryMB int
	NICs     []NIC
	// Cmdline is added to the kernel's command line.
	Cmdline string
	// Modules are loaded beside those of the NICs' drivers, by name.
	Modules []string
	// Sysctls are text by path under /proc/sys.
	Sysctls map[string]string
	// Routes and Neighbours are added after the NICs are up.
	Routes     []Route
	Neighbours []Neighbour
	// FilterSteps is the length of the socket filters that every IPv4 packet runs
	// through when it is received, as programs that capture packets have them.
	// They make packets cost softirq time, where a higher rate would load the host
	// more than the guest.
	FilterSteps int
	// Files are local paths by their path in the guest.
	Files map[string]string
	// Program is the argument list of the program under test, nil for none.
	// Its first element is a path in the guest: NetsteerPath for netsteer.
	Program []string
	// User is whom the program's web configuration lets in, nil where it asks
	// nobody.
	User *url.Userinfo
}

// Driver names a kind of NIC that QEMU emulates with more than one queue.
type Driver string

// The kinds: Intel's 82576 and the paravirtual NIC, each with its Linux driver's
// queues, vectors and RSS; and Intel's 82574, which has one queue pair with a
// vector for each direction.
const (
	IGB    Driver = "igb"
	Virtio Driver = "virtio"
	E1000E Driver = "e1000e"
)

// NIC is one network device of the guest, on a tap of its own.
type NIC struct {
	Driver Driver
	// Queues is the number of queue pairs. Of virtio it is what the device
	// offers and the guest uses; igb takes what its driver makes of the CPUs
	// (8 at most), unless Queues is set.
	Queues int
	// Node puts the NIC behind a host bridge that firmware says belongs to
	// that NUMA node. "" is the root bus, of which the guest knows no node.
	Node string
	// Name is given to the device before it comes up, and so before its vectors
	// get theirs; "" leaves the kernel's.
	Name string
}

// Route sends a prefix out by NIC, an index in Guest.NICs, to a host that is
// not there: what the guest forwards or sends there leaves the NIC and is
// dropped on the tap without an answer.
type Route struct {
	To  netip.Prefix
	NIC int
}

// Neighbour is a fixed ARP entry of a NIC's network.
type Neighbour struct {
	NIC     int
	Address netip.Addr
	MAC     [6]byte
}

// CPUs is the number of CPUs.
func (g Guest) CPUs() int { return max(g.Sockets, 1) * max(g.Cores, 1) * max(g.Threads, 1) }

// nodes is the number of NUMA nodes, at least 1.
func (g Guest) nodes() int { return max(g.Nodes, 1) }

// Addresses: each NIC has a /24 of its own, so that a reply leaves by the NIC
// that the request came in by.

// network is the prefix of the n-th NIC's tap, with the host's address.
func network(n int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 77, byte(n), 1}), 24)
}

// HostAddress is the host's own, as the guest sees it through its first NIC.
var HostAddress = network(0).Addr()

// address is the guest's own address on its n-th NIC.
func address(n int) netip.Addr { return netip.AddrFrom4([4]byte{10, 77, byte(n), 2}) }

// sink is an address on the n-th NIC's network at which nobody is, known to
// the guest by a fixed ARP entry.
func sink(n int) netip.Addr { return netip.AddrFrom4([4]byte{10, 77, byte(n), 254}) }

// mac is the guest's own on its n-th NIC; sinkMAC is that of sink(n).
func mac(n int) [6]byte     { return [6]byte{0x52, 0x54, 0x00, 0x77, byte(n), 0x02} }
func sinkMAC(n int) [6]byte { return [6]byte{0x52, 0x54, 0x00, 0x77, byte(n), 0xfe} }

func text(mac [6]byte) string {
	return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4], mac[5])
}

// Steering is a machine on which placement matters: 16 CPUs of 2 nodes with
// SMT, an igb with 8 queues on node 1 (NIC 0) and a virtio-net with 8 pairs
// (NIC 1).
func Steering(kernel string) Guest {
	return Guest{
		Name: "steering", Kernel: kernel,
		Sockets: 2, Cores: 4, Threads: 2, Nodes: 2, MemoryMB: 2048,
		NICs: []NIC{{Driver: IGB, Node: "1"}, {Driver: Virtio, Queues: 8}},
	}
}

// Forwarder is a small router: 4 CPUs and two igb. What comes for Beyond goes
// in by NIC 0 and out by NIC 1.
func Forwarder(kernel string) Guest {
	return Guest{
		Name: "forwarder", Kernel: kernel,
		Cores: 4, MemoryMB: 1024,
		NICs:    []NIC{{Driver: IGB}, {Driver: IGB}},
		Sysctls: map[string]string{"net/ipv4/ip_forward": "1"},
		Routes:  []Route{{To: Beyond, NIC: 1}},
	}
}

// Plain is the smallest machine that has something to place: 4 CPUs and one NIC
// with 4 queue pairs.
func Plain(kernel string, driver Driver) Guest {
	return Guest{
		Name: "plain-" + string(driver), Kernel: kernel,
		Cores: 4, MemoryMB: 512,
		NICs: []NIC{{Driver: driver, Queues: 4}},
	}
}

// Random source addresses are of Sources, and forwarded packets go to Beyond:
// the two halves of the network for benchmarks (RFC 2544, 198.18.0.0/15),
// which nobody else uses.
var (
	Sources = netip.MustParsePrefix("198.18.0.0/16")
	Beyond  = netip.MustParsePrefix("198.19.0.0/16")
)
