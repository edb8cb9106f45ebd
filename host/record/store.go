package record

import (
	"io/fs"
	"path"
)

// store is the files of a recording as they are, links not followed. Names are
// clean, slash-separated and relative ("." is the root), and no part but the
// last is a link: tree resolves links first, with one set of rules for
// directories and archives.
type store interface {
	lstat(name string) (fs.FileInfo, error)
	readlink(name string) (string, error)
	readdir(name string) ([]fs.DirEntry, error) // sorted by name
	read(dst []byte, name string) ([]byte, error)
}

// below is a store's folder as a store: the capture's root is often the single
// top folder of an archive.
type below struct {
	store
	dir string
}

func (b below) lstat(name string) (fs.FileInfo, error) { return b.store.lstat(path.Join(b.dir, name)) }
func (b below) readlink(name string) (string, error)   { return b.store.readlink(path.Join(b.dir, name)) }
func (b below) readdir(name string) ([]fs.DirEntry, error) {
	return b.store.readdir(path.Join(b.dir, name))
}
func (b below) read(dst []byte, name string) ([]byte, error) {
	return b.store.read(dst, path.Join(b.dir, name))
}
