// Package wire holds what the host and PID 1 of a guest say to one another:
// the file that PID 1 finds in its initramfs, and the bodies of its control
// server.
package wire

// SetupPath is where PID 1 finds its Setup, as JSON.
const SetupPath = "/setup.json"

// ControlPort is the TCP port of PID 1's control server, beside the port of the
// program under test.
const ControlPort = 10421

// DiscardPort is the UDP port at which a guest takes packets and says nothing,
// on all its addresses. Without it each packet would be answered by ICMP.
const DiscardPort = 9

// Setup is what PID 1 does before it answers /ready, in this order.
type Setup struct {
	// Modules are paths in the initramfs, dependencies first.
	Modules []string `json:"modules"`
	// Sysctls are text by path under /proc/sys ("net/ipv4/ip_forward").
	Sysctls map[string]string `json:"sysctls,omitempty"`
	Links   []Link            `json:"links"`
	// Neighbours are fixed, so that no ARP request of the guest's own wakes a
	// vector in the middle of a test.
	Neighbours []Neighbour `json:"neighbours,omitempty"`
	Routes     []Route     `json:"routes,omitempty"`
	// FilterSteps is the length of the filters of packet sockets, 0 for none.
	FilterSteps int `json:"filter_steps,omitempty"`
	// Program is the argument list of the program under test, empty for none.
	// It writes to the console; when it ends, the console says so.
	Program []string `json:"program,omitempty"`
}

// Link is a network device of the guest, told by its MAC address because names
// depend on the order of probing.
type Link struct {
	MAC     string `json:"mac"`
	Name    string `json:"name,omitempty"` // to rename it to; "" leaves the kernel's
	Address string `json:"address"`        // IPv4 prefix, "10.77.0.2/24"
	// Combined is the number of combined channels to set, 0 to leave the
	// driver's own.
	Combined int `json:"combined,omitempty"`
}

// Neighbour is a fixed ARP entry.
type Neighbour struct {
	Link    int    `json:"link"` // index in Setup.Links
	Address string `json:"address"`
	MAC     string `json:"mac"`
}

// Route sends an IPv4 prefix through a gateway.
type Route struct {
	To  string `json:"to"`
	Via string `json:"via"`
}

// Ready is the answer of GET /ready.
type Ready struct {
	// Devices are the kernel's names of Setup.Links, in that order.
	Devices []string `json:"devices"`
	// UptimeSeconds is the guest's own clock: it stretches when the host is
	// busy.
	UptimeSeconds float64 `json:"uptime_seconds"`
}

// Written is the answer of PUT /file: the error number of the open or the
// write, 0 when the kernel took it.
type Written struct {
	Errno int `json:"errno"`
}

// Run is the body of POST /run.
type Run struct {
	Args []string `json:"args"`
}

// Ran is the answer of POST /run. Code is -1 when the program did not start or
// was killed; Stderr then says why.
type Ran struct {
	Code   int    `json:"code"`
	Stdout string `json:"stdout"`
	Stderr string `json:"stderr"`
}

// Send is the body of POST /send: UDP from the guest, one socket a flow, the
// flows dealt in turn to the CPUs that send them.
type Send struct {
	To      string  `json:"to"`   // address:port
	CPUs    []int   `json:"cpus"` // the sending threads are pinned to these
	Flows   int     `json:"flows"`
	Rate    int     `json:"rate"` // packets per second, all flows together
	Seconds float64 `json:"seconds"`
}

// Sent is the answer of POST /send.
type Sent struct {
	Packets int `json:"packets"`
}
