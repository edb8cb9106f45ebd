package netlink

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"unsafe"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"github.com/netsteer/netsteer/internal/testenv"
)

// rig is a namespace with a veth pair (va, vb) of that many queues per direction, both up.
type rig struct {
	*testenv.NS
	*Conn
	va int // ifindex
}

func newRig(t testing.TB, queues int) *rig {
	t.Helper()
	ns := testenv.Netns(t)
	q := strconv.Itoa(queues)
	ns.Run(t, "ip", "link", "add", "va", "numrxqueues", q, "numtxqueues", q, "type", "veth",
		"peer", "name", "vb", "numrxqueues", q, "numtxqueues", q)
	ns.Run(t, "ip", "link", "set", "va", "up")
	ns.Run(t, "ip", "link", "set", "vb", "up")
	r := &rig{NS: ns}
	ns.Do(t, func() {
		r.Conn = dial(t)
		r.va = ifindex(t, "va")
	})
	return r
}

// dial opens a Conn in the calling thread's namespace.
func dial(t testing.TB) *Conn {
	t.Helper()
	c, err := Dial()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error("close:", err)
		}
	})
	return c
}

func ifindex(t testing.TB, name string) int {
	t.Helper()
	i, err := net.InterfaceByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return i.Index
}

func need(t testing.TB, c *Conn, family string, cmd uint8) {
	t.Helper()
	if !c.HasOp(family, cmd) {
		t.Skipf("this kernel has no command %d of family %s", cmd, family)
	}
}

// setChannels is `ethtool -L va rx N tx N` by netlink.
func (r *rig) setChannels(t testing.TB, n uint32) {
	t.Helper()
	attrs, err := deviceHeader(r.va, func(ae *netlink.AttributeEncoder) {
		ae.Uint32(unix.ETHTOOL_A_CHANNELS_RX_COUNT, n)
		ae.Uint32(unix.ETHTOOL_A_CHANNELS_TX_COUNT, n)
	})
	if err == nil {
		err = r.ethtool.get(DefaultTimeout, unix.ETHTOOL_MSG_CHANNELS_SET, attrs, func([]byte) error { return nil })
	}
	if err != nil {
		t.Fatal("set channels:", err)
	}
}

// setChannelsByIoctl is the same by ETHTOOL_SCHANNELS, on a socket of its own: struct
// ethtool_channels is cmd, four maxima, then rx, tx, other, combined.
func setChannelsByIoctl(io *ioctl, name string, n uint32) error {
	return io.do(DefaultTimeout, name, func() error {
		b, err := io.zeroed(9 * 4)
		if err != nil {
			return err
		}
		ne.PutUint32(b, unix.ETHTOOL_SCHANNELS)
		ne.PutUint32(b[5*4:], n)
		ne.PutUint32(b[6*4:], n)
		return io.call()
	})
}

// nic is a device with a driver, in the namespace of the tests.
type nic struct {
	name, driver string
	ifindex      int
}

func findNIC(t testing.TB) nic {
	t.Helper()
	links, err := filepath.Glob("/sys/class/net/*/device/driver")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range links {
		target, err := os.Readlink(l)
		if err != nil {
			continue
		}
		name := filepath.Base(filepath.Dir(filepath.Dir(l)))
		i, err := net.InterfaceByName(name)
		if err != nil || i.Flags&net.FlagUp == 0 {
			continue
		}
		return nic{name: name, driver: filepath.Base(target), ifindex: i.Index}
	}
	t.Skip("no NIC that is up")
	return nic{}
}

// The offsets in hand-decoded structures hold only if ifreq has the kernel's size.
func TestIfreqSize(t *testing.T) {
	if got := unsafe.Sizeof(ifreq{}); got != 40 {
		t.Errorf("struct ifreq is %d bytes, want 40", got)
	}
	if got := unsafe.Sizeof(unix.EthtoolDrvinfo{}); got != drvinfoSize {
		t.Errorf("struct ethtool_drvinfo is %d bytes, want %d", got, drvinfoSize)
	}
}
