// Package scan reads a machine into an Inventory and Samples. It is the only
// reader: the same code reads the live machine, a container's mounts, a
// sosreport, a capture and a fixture, through a Tree and the NICs.
package scan

import (
	"io/fs"

	"github.com/netsteer/netsteer/host"
)

// Tree is the machine's files: names are slash-separated and begin with "proc/"
// or "sys/". A live tree keeps descriptors open; a recorded one is a directory
// or an archive in memory.
type Tree interface {
	fs.ReadLinkFS
	// Read appends the file's content to dst.
	Read(dst []byte, name string) ([]byte, error)
	// Forget closes what is kept open below a folder: its files may be another
	// device's now.
	Forget(dir string)
}

// NICs are the questions put to netlink and ioctl, of one network namespace. A
// question that the driver or the kernel cannot answer, or that was never
// recorded, returns an error that wraps errors.ErrUnsupported; a device that is
// not there, one that wraps fs.ErrNotExist. Most take RTNL: scan asks one at a
// time.
type NICs interface {
	DriverInfo(device string) (DriverInfo, error)
	Channels(device string) (host.Channels, error)
	Rings(device string) (host.Rings, error)
	Coalesce(device string) ([]host.Option, error)
	Features(device string) ([]host.Option, error)
	// RSS is the table of the default context, those of further contexts, hash
	// function, fields and rules as far as they can be told. It fails with
	// errors.ErrUnsupported only when the device has no RSS at all.
	RSS(device string) (host.RSS, error)
	// Speed is in bytes per second; unknown when the link does not tell.
	Speed(device string) (host.Count, error)

	// Stats returns a reader of ethtool -S; the names are cached in it.
	Stats(device string) StatsReader

	// Netdev dumps netdev-genl's queues and NAPIs of all devices. Before Linux
	// 6.8 it fails with errors.ErrUnsupported.
	Netdev() (Netdev, error)
	// QueueStats appends netdev-genl qstats per queue. errors.ErrUnsupported:
	// the driver has none.
	QueueStats(dst []QueueStat, device string) ([]QueueStat, error)

	// Same reports whether the questions are answered for the namespace that
	// the Tree shows the device in: name, ifindex and iflink agree.
	Same(device string, ifindex, iflink int) bool
}

// StatsReader reads one device's ethtool -S.
type StatsReader interface {
	// Read returns the values and, by the same index, the names as the driver
	// wrote them (leading blanks kept). Both are valid until the next Read; the
	// names slice is the same one as long as the names are.
	Read() (names []string, values []uint64, err error)
}

// DriverInfo is ETHTOOL_GDRVINFO.
type DriverInfo struct{ Driver, Version, Firmware, BusInfo string }

// Netdev is what netdev-genl says of queues and NAPIs.
type Netdev struct {
	Queues []NetdevQueue
	NAPIs  []NAPI
}

// NetdevQueue is one queue-get entry; NAPI is unknown if the driver never linked it.
type NetdevQueue struct {
	Ifindex   int
	Direction host.Direction
	Index     int
	NAPI      host.Count
}

// NAPI is one napi-get entry; IRQ and Thread are unknown if the kernel does not say.
type NAPI struct {
	Ifindex int
	ID      uint64
	IRQ     host.Count
	Thread  host.Count // PID
	// Deferred: defer-hard-irqs or gro-flush-timeout is set for this NAPI.
	Deferred bool
}

// QueueStat is one qstats entry of scope queue.
type QueueStat struct {
	Direction             host.Direction
	Index                 int
	Packets, Bytes, Drops host.Count
}

// Threads reads NAPI threads. nil where the machine was recorded without them.
type Threads interface {
	// Thread returns the CPU time (USER_HZ ticks) and Cpus_allowed of a task.
	Thread(pid int) (ticks uint64, allowed host.Mask, err error)
}

// Machine is what scan reads.
type Machine struct {
	Tree    Tree
	NICs    NICs    // nil: --no-source.netlink, or nothing recorded
	Threads Threads // nil: unknown
	// Rivals looks for programs that write the same files; nil: unknown.
	Rivals func() ([]host.Rival, error)
}
