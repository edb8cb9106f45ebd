package record

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/netsteer/netsteer/host/scan"
)

var (
	_ scan.Tree    = (*tree)(nil)
	_ fs.ReadDirFS = (*tree)(nil)
	_ fs.StatFS    = (*tree)(nil)
)

// tree is a store with links followed and recorded errors told. Names are as
// fs.ValidPath has them. It is safe for concurrent use.
type tree struct {
	store   store
	folders sync.Map // folder name as asked for -> as it is
}

// fault makes err an *fs.PathError with the name that was asked for.
func fault(op, name string, err error) error {
	if err == nil {
		return nil
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// Read appends the file's content to dst.
func (t *tree) Read(dst []byte, name string) ([]byte, error) {
	place, err := t.locate(t.resolve, name)
	if err != nil {
		return dst, fault("read", name, err)
	}
	n := len(dst)
	dst, err = t.store.read(dst, place)
	if errors.Is(err, fs.ErrNotExist) {
		if e := t.recorded(place); e != nil {
			err = e
		}
	}
	if err != nil {
		return dst[:n], fault("read", name, err)
	}
	return dst, nil
}

// Forget has nothing to do: nothing is kept open.
func (t *tree) Forget(string) {}

// Lstat does not follow the last link.
func (t *tree) Lstat(name string) (fs.FileInfo, error) { return t.stat(t.parent, "lstat", name) }

// Stat follows links.
func (t *tree) Stat(name string) (fs.FileInfo, error) { return t.stat(t.resolve, "stat", name) }

func (t *tree) stat(find func(string) (string, error), op, name string) (fs.FileInfo, error) {
	place, err := t.locate(find, name)
	if err != nil {
		return nil, fault(op, name, err)
	}
	i, err := t.store.lstat(place)
	if errors.Is(err, fs.ErrNotExist) && t.recorded(place) != nil {
		return unreadable(place), nil
	}
	if err != nil {
		return nil, fault(op, name, err)
	}
	return named{i, path.Base(name)}, nil
}

// ReadLink returns the link's text as it was recorded.
func (t *tree) ReadLink(name string) (string, error) {
	place, err := t.locate(t.parent, name)
	if err != nil {
		return "", fault("readlink", name, err)
	}
	target, err := t.store.readlink(place)
	return target, fault("readlink", name, err)
}

// ReadDir lists a folder, sorted by name. A file whose reading failed stands
// there by its own name.
func (t *tree) ReadDir(name string) ([]fs.DirEntry, error) {
	place, err := t.locate(t.resolve, name)
	if err != nil {
		return nil, fault("readdir", name, err)
	}
	list, err := t.store.readdir(place)
	if err != nil {
		return nil, fault("readdir", name, err)
	}
	if !kernelFile(path.Join(place, "x")) {
		return list, nil
	}
	for i, e := range list {
		if plain, ok := strings.CutSuffix(e.Name(), errSuffix); ok && plain != "" {
			list[i] = fs.FileInfoToDirEntry(unreadable(plain))
		}
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return slices.CompactFunc(list, func(a, b fs.DirEntry) bool { return a.Name() == b.Name() }), nil
}

// Open opens a file or a folder; a file's content is read at once.
func (t *tree) Open(name string) (fs.File, error) {
	i, err := t.stat(t.resolve, "open", name)
	if err != nil {
		return nil, err
	}
	if i.IsDir() {
		list, err := t.ReadDir(name)
		return &openFolder{info: i, list: list}, err
	}
	data, err := t.Read(nil, name)
	if err != nil {
		return nil, err
	}
	return &openFile{info: i, rest: data}, nil
}

func (t *tree) locate(find func(string) (string, error), name string) (string, error) {
	if !fs.ValidPath(name) || len(name) > maxName {
		return "", fs.ErrInvalid
	}
	return find(name)
}
