package record

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
)

// maxFile bounds one file of a recording, in bytes. /proc/interrupts of 4,096
// CPUs with 4,096 vectors is 185 MB; of 512 CPUs with 2,000 it is 11 MB.
const maxFile = 256 << 20

var (
	errTooLarge   = errors.New("file is larger than 256 MiB")
	errNotRegular = errors.New("neither a file nor a folder")
)

// dirstore is a directory. os.Root keeps every name inside it, also while
// somebody swaps a folder for a link.
type dirstore struct{ root *os.Root }

func (d dirstore) lstat(name string) (fs.FileInfo, error) { return d.root.Lstat(name) }
func (d dirstore) readlink(name string) (string, error)   { return d.root.Readlink(name) }

func (d dirstore) readdir(name string) ([]fs.DirEntry, error) {
	f, err := d.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := f.ReadDir(-1)
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, err
}

func (d dirstore) read(dst []byte, name string) ([]byte, error) {
	f, err := d.open(name)
	if err != nil {
		return dst, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return dst, err
	}
	if !info.Mode().IsRegular() {
		return dst, errNotRegular
	}
	if info.Size() > maxFile {
		return dst, errTooLarge
	}
	return appendAll(dst, f, max(info.Size(), 512))
}

// open never waits: a FIFO in the directory would hold the reader for ever.
func (d dirstore) open(name string) (*os.File, error) {
	return d.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// appendAll reads r to its end, at most maxFile bytes: the size of a file of a
// mounted /proc is 0, so the end is only where reading says so.
func appendAll(dst []byte, r io.Reader, room int64) ([]byte, error) {
	begin := len(dst)
	dst = slices.Grow(dst, int(room)+1)
	for {
		n, err := r.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		switch {
		case errors.Is(err, io.EOF):
			return dst, nil
		case err != nil:
			return dst[:begin], err
		case len(dst)-begin > maxFile:
			return dst[:begin], errTooLarge
		case len(dst) == cap(dst):
			dst = slices.Grow(dst, len(dst)-begin)
		}
	}
}
