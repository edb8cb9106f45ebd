package record

import (
	"io"
	"io/fs"
)

// openFile and openFolder are what fs.FS.Open gives.
type openFile struct {
	info fs.FileInfo
	rest []byte
}

func (f *openFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *openFile) Close() error               { return nil }

func (f *openFile) Read(p []byte) (int, error) {
	if len(f.rest) == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

type openFolder struct {
	info fs.FileInfo
	list []fs.DirEntry
}

func (f *openFolder) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *openFolder) Close() error               { return nil }

func (f *openFolder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: f.info.Name(), Err: fs.ErrInvalid}
}

func (f *openFolder) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 {
		n = len(f.list)
	} else if len(f.list) == 0 {
		return nil, io.EOF
	}
	part := f.list[:min(n, len(f.list))]
	f.list = f.list[len(part):]
	return part, nil
}

// named is a file by the name of the link that leads to it, as os.Stat has it.
type named struct {
	fs.FileInfo
	name string
}

func (n named) Name() string { return n.name }
