package record

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"syscall"
	"time"
)

// memstore is a tree of files in memory, by clean name.
type memstore map[string]*node

type node struct {
	name     string
	mode     fs.FileMode // fs.ModeDir, fs.ModeSymlink or 0, and permissions
	data     []byte      // a file's content, a link's target
	err      error       // the file is known, its content is not
	children map[string]*node
}

func newMemstore() memstore {
	return memstore{".": {name: ".", mode: fs.ModeDir | 0o755}}
}

// put adds a node and the folders above it. It reports false, and adds nothing,
// where the name is taken by something a later entry may not replace: a folder
// by a file, a file by a folder, or anything below a link.
func (m memstore) put(name string, n *node) bool {
	if old := m[name]; old != nil {
		if old.mode.IsDir() || n.mode.IsDir() {
			return old.mode.IsDir() && n.mode.IsDir()
		}
	}
	parent := m.folder(path.Dir(name))
	if parent == nil {
		return false
	}
	n.name = path.Base(name)
	m[name] = n
	if parent.children == nil {
		parent.children = map[string]*node{}
	}
	parent.children[n.name] = n
	return true
}

// folder returns the folder of that name, made if need be; nil where the name
// is something else's.
func (m memstore) folder(name string) *node {
	if n := m[name]; n != nil {
		if n.mode.IsDir() {
			return n
		}
		return nil
	}
	n := &node{mode: fs.ModeDir | 0o755}
	if !m.put(name, n) {
		return nil
	}
	return n
}

func (m memstore) get(name string) (*node, error) {
	if n := m[name]; n != nil {
		return n, nil
	}
	return nil, syscall.ENOENT
}

func (m memstore) lstat(name string) (fs.FileInfo, error) {
	n, err := m.get(name)
	if err != nil {
		return nil, err
	}
	return info{n}, nil
}

func (m memstore) readlink(name string) (string, error) {
	n, err := m.get(name)
	switch {
	case err != nil:
		return "", err
	case n.mode.Type() != fs.ModeSymlink:
		return "", syscall.EINVAL
	}
	return string(n.data), nil
}

func (m memstore) readdir(name string) ([]fs.DirEntry, error) {
	n, err := m.get(name)
	switch {
	case err != nil:
		return nil, err
	case !n.mode.IsDir():
		return nil, syscall.ENOTDIR
	}
	list := make([]fs.DirEntry, 0, len(n.children))
	for _, k := range slices.Sorted(maps.Keys(n.children)) {
		list = append(list, fs.FileInfoToDirEntry(info{n.children[k]}))
	}
	return list, nil
}

func (m memstore) read(dst []byte, name string) ([]byte, error) {
	n, err := m.get(name)
	switch {
	case err != nil:
		return dst, err
	case n.err != nil:
		return dst, n.err
	case n.mode.IsDir():
		return dst, syscall.EISDIR
	}
	return append(dst, n.data...), nil
}

// info is what is known of a node. Times are not kept: no reader asks for them,
// and a capture's own are in capture.json.
type info struct{ n *node }

func (i info) Name() string       { return i.n.name }
func (i info) Size() int64        { return int64(len(i.n.data)) }
func (i info) Mode() fs.FileMode  { return i.n.mode }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.n.mode.IsDir() }
func (i info) Sys() any           { return nil }
