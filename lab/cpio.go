package lab

import (
	"fmt"
	"io"
	"path"
	"strings"
)

// archive writes cpio's "newc" format, which the kernel unpacks as initramfs
// (Documentation/driver-api/early-userspace/buffer-format.rst).
type archive struct {
	w     io.Writer
	inode int
	made  map[string]bool // directories written so far
	err   error
}

const (
	modeFile      = 0o100755 // one mode for all: who needs the bit has it
	modeDirectory = 0o040755
)

func newArchive(w io.Writer) *archive { return &archive{w: w, made: map[string]bool{".": true}} }

// file adds a regular file and the directories that lead to it.
func (a *archive) file(name string, content []byte) {
	name = strings.TrimPrefix(path.Clean(name), "/")
	a.directory(path.Dir(name))
	a.entry(name, modeFile, content)
}

func (a *archive) directory(name string) {
	if name = strings.TrimPrefix(path.Clean(name), "/"); name == "" || a.made[name] {
		return
	}
	a.directory(path.Dir(name))
	a.made[name] = true
	a.entry(name, modeDirectory, nil)
}

// close writes the trailer and gives the first error of all calls.
func (a *archive) close() error {
	a.entry("TRAILER!!!", 0, nil)
	return a.err
}

func (a *archive) entry(name string, mode int, content []byte) {
	if a.err != nil {
		return
	}
	a.inode++
	links := 1
	if mode == modeDirectory {
		links = 2
	}
	// magic, inode, mode, uid, gid, links, mtime, size, device (2), rdevice
	// (2), name size with its NUL, checksum (of another magic).
	header := fmt.Sprintf("070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x",
		a.inode, mode, 0, 0, links, 0, len(content), 0, 0, 0, 0, len(name)+1, 0)
	a.padded([]byte(header + name + "\x00"))
	a.padded(content)
}

// padded writes b and zeros up to a multiple of 4: header with name, and
// content, each start at one.
func (a *archive) padded(b []byte) {
	if a.err == nil {
		_, a.err = a.w.Write(b)
	}
	if a.err == nil {
		_, a.err = a.w.Write(make([]byte, -len(b)&3))
	}
}
