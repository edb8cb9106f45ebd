package record

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Where things are in a recording.
const (
	captureFile = "netsteer/capture.json"
	netlinkFile = "netsteer/netlink.json"
	t1Dir       = "netsteer/t1" // the second sample, in the same layout
	sosDir      = "sos_commands/networking"
)

// folders are what a recording's root is known by.
var folders = []string{"proc", "sys", "sos_commands", "netsteer"}

// bare are the files that are also taken from the root itself, and their names
// in /proc. A root is known by the first four: many a folder has a "version".
var bare = []struct{ name, proc string }{
	{"interrupts", "proc/interrupts"},
	{"softirqs", "proc/softirqs"},
	{"softnet_stat", "proc/net/softnet_stat"},
	{"stat", "proc/stat"},
	{"uptime", "proc/uptime"},
	{"version", "proc/version"},
	{"cmdline", "proc/cmdline"},
	{"default_smp_affinity", "proc/irq/default_smp_affinity"},
}

const bareMarks = 4

// errUnrecognised has no path: Open says it.
var errUnrecognised = errors.New("neither it nor its single top folder holds proc, sys, sos_commands or netsteer, " +
	"or the files interrupts, softirqs, softnet_stat or stat: " +
	"expected an unpacked sosreport, a netsteer capture, files of /proc, or an archive of one of these")

// findRoot returns the recording in a store: the store itself or its single
// top folder, by folders first and else by bare files.
func findRoot(s store) (store, error) {
	list, err := s.readdir(".")
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, errors.New("is empty: expected an unpacked sosreport, a netsteer capture or files of /proc")
	}
	roots := []store{s}
	if top := slices.DeleteFunc(list, func(e fs.DirEntry) bool { return !e.IsDir() }); len(top) == 1 {
		roots = append(roots, below{s, top[0].Name()})
	}
	for _, r := range roots {
		if flat(r) {
			return bareFiles(r), nil
		}
		for _, f := range folders {
			if i, err := r.lstat(f); err == nil && i.IsDir() {
				return r, nil
			}
		}
	}
	for _, r := range roots {
		for _, f := range bare[:bareMarks] {
			if i, err := r.lstat(f.name); err == nil && i.Mode().IsRegular() {
				return bareFiles(r), nil
			}
		}
	}
	return nil, errUnrecognised
}

// flat reports whether the root is a copy of /proc itself: it has sys, which is
// sysctl's and not sysfs, and interrupts beside it.
func flat(r store) bool {
	if _, err := r.lstat("proc"); err == nil {
		return false
	}
	_, isProc := r.lstat("interrupts")
	_, isSysfs := r.lstat("sys/class")
	return isProc == nil && isSysfs != nil
}

// bareFiles lays out a root's bare files as /proc has them.
func bareFiles(r store) store {
	m := newMemstore()
	for _, f := range bare {
		i, err := r.lstat(f.name)
		if err != nil || !i.Mode().IsRegular() {
			continue
		}
		data, err := r.read(nil, f.name)
		m.put(f.proc, &node{mode: 0o444, data: data, err: err})
	}
	return m
}

// wanted reports whether an archive's entry is one that is read: sosreports are
// mostly logs. Which folder is the root is known only at the end of the archive,
// so the folders count at the top and one below it.
func wanted(name string) bool {
	part := strings.SplitN(name, "/", 5)
	for depth := 0; depth < min(2, len(part)); depth++ {
		rest := part[depth:]
		switch {
		case len(rest) == 1:
			if slices.ContainsFunc(bare, func(b struct{ name, proc string }) bool { return b.name == rest[0] }) {
				return true
			}
		case rest[0] == "sos_commands":
			if rest[1] == path.Base(sosDir) {
				return true
			}
		case rest[0] == "sys" && (rest[1] == "firmware" || rest[1] == "module"):
		case slices.Contains(folders, rest[0]):
			return true
		}
	}
	return false
}
