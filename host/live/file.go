package live

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// file is an open file of procfs or sysfs.
type file struct {
	// os.File lets a read that is under way finish while another goroutine
	// closes the file, so that no read ever goes to a number used again.
	os  *os.File
	raw syscall.RawConn
	// attribute: a read that gives less than a page, and less than it was
	// offered, was the whole (file.short).
	attribute bool

	// mu: two readers' turns at one descriptor would send the kernel back to
	// the file's beginning at every pread (seq_file keeps one position).
	mu    sync.Mutex
	pread func(fd uintptr) bool // made once: a closure for each read would be an allocation
	room  []byte                // pread's arguments and results
	off   int64
	n     int
	err   error
}

// open is os.Open without the attempt to poll: sysfs files can be polled, and
// the runtime would watch each of them by epoll.
func open(path string, attribute bool) (*file, error) {
	var fd int
	err := uninterrupted(func() (err error) {
		fd, err = unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	f := &file{os: os.NewFile(uintptr(fd), path), attribute: attribute}
	f.pread = func(fd uintptr) bool {
		f.err = uninterrupted(func() (err error) {
			f.n, err = unix.Pread(int(fd), f.room, f.off)
			return err
		})
		return true
	}
	if f.raw, err = f.os.SyscallConn(); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

// read appends the content from the beginning. Large files come in pieces of a
// page or less, so the end is where a read gives nothing.
func (f *file) read(dst []byte) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer func() { f.room = nil }() // the buffer is the caller's
	f.off = 0
	for {
		if len(dst) == cap(dst) {
			dst = slices.Grow(dst, max(len(dst), 512))
		}
		f.room = dst[len(dst):cap(dst)]
		if err := f.raw.Read(f.pread); err != nil { // closed meanwhile
			return dst, &fs.PathError{Op: "read", Path: f.os.Name(), Err: err}
		}
		if f.err != nil {
			return dst, &fs.PathError{Op: "read", Path: f.os.Name(), Err: f.err}
		}
		dst = dst[:len(dst)+f.n]
		f.off += int64(f.n)
		if f.n == 0 || f.short() {
			return dst, nil
		}
	}
}

// short tells the end of a sysfs attribute without asking for it, which would
// take as long as the reading. sysfs shows an attribute whole, in less than a
// page, at the read of its beginning (sysfs_kf_seq_show in fs/sysfs/file.c); the
// binary ones, among them long CPU lists, come page by page
// (kernfs_file_read_iter in fs/kernfs/file.c). Linux 6.18.
func (f *file) short() bool { return f.attribute && f.n < min(len(f.room), os.Getpagesize()) }

// close has nothing to tell: the file was only read.
func (f *file) close() { f.os.Close() }

func uninterrupted(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
