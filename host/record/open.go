package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/netsteer/netsteer/host/scan"
)

// Recording is a machine that was written down. It is safe for concurrent use.
type Recording struct {
	tree    *tree
	nics    *nics // nil: nothing recorded
	second  *second
	times   times
	capture *Capture // nil: not one of ours
	root    *os.Root // nil: an archive
}

// second is the second sample of a capture.
type second struct {
	tree *overlay
	nics *nics
}

// Open opens a directory, or a tar archive (plain, gzip or xz), whose root, or
// single top folder, holds proc, sys, sos_commands or netsteer, or bare files
// of /proc. A directory is read when asked for, an archive at once and into
// memory. Errors are one line with the path and what was expected there.
func Open(path string) (*Recording, error) {
	r, err := open(path)
	if err != nil {
		var p *fs.PathError
		if errors.As(err, &p) && p.Path == path {
			err = p.Err
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

func open(path string) (*Recording, error) {
	const expected = "expected a directory or a .tar, .tar.gz, .tgz or .tar.xz archive"
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w: %s", fs.ErrNotExist, expected)
	case err != nil:
		return nil, err
	case info.IsDir():
		root, err := os.OpenRoot(path)
		if err != nil {
			return nil, err
		}
		r, err := newRecording(dirstore{root})
		if err != nil {
			_ = root.Close() // nothing was written
			return nil, err
		}
		r.root = root
		return r, nil
	case !info.Mode().IsRegular():
		return nil, errors.New("neither a directory nor a file: " + expected)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	files, err := readArchive(f, defaultLimits)
	if err != nil {
		return nil, err
	}
	return newRecording(files)
}

func newRecording(s store) (*Recording, error) {
	s, err := findRoot(s)
	if err != nil {
		return nil, err
	}
	r := &Recording{tree: &tree{store: s}}
	doc, err := readNetlink(r.tree, netlinkFile)
	if err != nil {
		return nil, err
	}
	base := source{tree: r.tree, doc: doc}
	if !base.empty() {
		r.nics = &nics{settings: base, counters: base}
	}
	if i, err := r.tree.Stat(t1Dir); err == nil && i.IsDir() {
		late, err := readNetlink(r.tree, t1Dir+"/"+netlinkFile, t1Dir+"/netlink.json")
		if err != nil {
			return nil, err
		}
		r.second = &second{tree: &overlay{tree: r.tree, dir: t1Dir}}
		if r.nics != nil || late != nil {
			r.second.nics = &nics{settings: base, counters: source{tree: r.tree, dir: t1Dir, doc: late}}
		}
	}
	if r.capture, err = readCapture(r.tree); err != nil {
		return nil, err
	}
	r.times, err = readTimes(r.tree, r.capture)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Machine is the machine at the first sample.
func (r *Recording) Machine() scan.Machine { return r.machine(r.tree, r.nics) }

// T1 is the same machine with the counters of the second sample; false where
// there is none. Its settings are the first sample's unless they were recorded
// again; its counters are the second sample's only: what was not recorded then
// is missing, so that no rate is made of a counter and itself.
func (r *Recording) T1() (scan.Machine, bool) {
	if r.second == nil {
		return scan.Machine{}, false
	}
	return r.machine(r.second.tree, r.second.nics), true
}

func (r *Recording) machine(t scan.Tree, n *nics) scan.Machine {
	m := scan.Machine{Tree: t}
	if n != nil { // a nil *nics in the interface would not be nil
		m.NICs = n
		if n.threaded() {
			m.Threads = threads{t}
		}
	}
	if c := r.capture; c != nil && (c.Rivals != nil || c.RivalsError != "") {
		m.Rivals = c.rivals
	}
	return m
}

// Times are when the two samples were taken, from netsteer/capture.json. Where
// that has none, both proc/uptime give the distance, and t0 counts from 1970.
// ok is false where not even that is known, or there is no second sample.
func (r *Recording) Times() (t0, t1 time.Time, ok bool) {
	return r.times.t0, r.times.t1, r.times.ok && r.second != nil
}

// Close gives the directory back. The machines must not be read any more.
func (r *Recording) Close() error {
	if r.root == nil {
		return nil
	}
	return r.root.Close()
}
