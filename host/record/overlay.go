package record

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/netsteer/netsteer/host/scan"
)

var _ scan.Tree = (*overlay)(nil)

// overlay is a tree with another sample's files laid over it. Folders, links and
// settings are the base's; a counter is the sample's or nobody's.
type overlay struct {
	*tree
	dir string // where the sample lies in the tree
}

// Read appends the file's content to dst.
func (o *overlay) Read(dst []byte, name string) ([]byte, error) {
	at, err := o.find(name)
	if err != nil {
		return dst, fault("read", name, err)
	}
	dst, err = o.tree.Read(dst, at)
	return dst, fault("read", name, err)
}

// Open opens a file of the sample, or a folder of the base.
func (o *overlay) Open(name string) (fs.File, error) {
	at, err := o.find(name)
	if err != nil {
		return nil, fault("open", name, err)
	}
	f, err := o.tree.Open(at)
	if err != nil {
		return nil, fault("open", name, err)
	}
	return f, nil
}

// find says where the file is read. The sample may hold it by the name asked
// for (sys/class/net/eth0/...) or by the one that its links lead to
// (sys/devices/...): the first sample's links serve both.
func (o *overlay) find(name string) (string, error) {
	if !fs.ValidPath(name) {
		return "", fs.ErrInvalid
	}
	names := []string{name}
	if place, err := o.resolve(name); err == nil && place != name {
		names = append(names, place)
	}
	for _, n := range names {
		at := path.Join(o.dir, n)
		if place, err := o.resolve(at); err == nil {
			if i, err := o.store.lstat(place); err == nil && !i.IsDir() || err != nil && o.recorded(place) != nil {
				return at, nil
			}
		}
	}
	if slices.ContainsFunc(names, counter) {
		return "", fs.ErrNotExist
	}
	return name, nil
}

// counter reports whether a file holds counters, or a time that goes with them.
func counter(name string) bool {
	switch name {
	case "proc/interrupts", "proc/softirqs", "proc/stat", "proc/uptime":
		return true
	}
	dir, base := path.Split(name)
	switch {
	case strings.HasPrefix(name, "sys/kernel/irq/"):
		return base == "per_cpu_count"
	case strings.HasPrefix(name, "sys/"):
		return path.Base(dir) == "statistics"
	case strings.HasPrefix(name, "proc/net/"): // snmp, netstat, dev: counters all
		return true
	case strings.HasPrefix(name, "proc/"):
		// proc/PID/stat: a NAPI thread's CPU time.
		return base == "stat" && strings.Trim(path.Base(dir), "0123456789") == ""
	}
	return false
}
