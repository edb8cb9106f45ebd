package record

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/netsteer/netsteer/host/scan"
)

var (
	_ scan.Tree    = (*notedTree)(nil)
	_ fs.ReadDirFS = (*notedTree)(nil)
	_ fs.StatFS    = (*notedTree)(nil)
)

// notedTree notes every name asked for, at the place that the links of sys lead
// to, with these links. Names of proc are noted as they are asked: the links
// there lead to the process that reads.
type notedTree struct {
	tree scan.Tree
	book *notebook
}

// Read notes the content, or why there is none; a file that is not there needs
// no note.
func (t *notedTree) Read(dst []byte, name string) ([]byte, error) {
	n := len(dst)
	dst, err := t.tree.Read(dst, name)
	switch {
	case err == nil:
		mode := fs.FileMode(0o444)
		if info, err := fs.Stat(t.tree, name); err == nil {
			mode = info.Mode().Perm()
		}
		t.put(t.place(name), &node{mode: mode, data: bytes.Clone(dst[n:])})
	case !errors.Is(err, fs.ErrNotExist):
		t.put(t.place(name)+errSuffix, &node{mode: 0o444, data: []byte(errorText(err) + "\n")})
	}
	return dst, err
}

// Stat notes that a folder is there, and of a file its content as well: a name
// without one would be another answer.
func (t *notedTree) Stat(name string) (fs.FileInfo, error) {
	info, err := fs.Stat(t.tree, name)
	switch {
	case err != nil:
	case info.IsDir():
		t.put(t.place(name), &node{mode: fs.ModeDir | 0o755})
	case info.Mode().IsRegular():
		_, _ = t.Read(nil, name) // an error is noted
	}
	return info, err
}

// Lstat notes a link, and else what Stat does.
func (t *notedTree) Lstat(name string) (fs.FileInfo, error) {
	info, err := t.tree.Lstat(name)
	if err == nil && info.Mode().Type() == fs.ModeSymlink {
		_, _ = t.ReadLink(name)
	} else if err == nil {
		_, _ = t.Stat(name)
	}
	return info, err
}

// ReadLink notes the link.
func (t *notedTree) ReadLink(name string) (string, error) {
	target, err := t.tree.ReadLink(name)
	if err == nil {
		t.put(path.Join(t.place(path.Dir(name)), path.Base(name)), link(target))
	}
	return target, err
}

// msiDir is the folder of which the names alone are read: the IRQ numbers.
const msiDir = "msi_irqs"

// ReadDir notes the folder with its folders and links. Its files are noted when
// they are read: a list of what else the kernel shows there says nothing.
func (t *notedTree) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := fs.ReadDir(t.tree, name)
	if err != nil {
		return list, err
	}
	if name == "sys/class/net" && len(t.book.only) > 0 {
		list = slices.DeleteFunc(list, func(e fs.DirEntry) bool { return !slices.Contains(t.book.only, e.Name()) })
	}
	t.put(t.place(name), &node{mode: fs.ModeDir | 0o755})
	for _, e := range list {
		at := path.Join(name, e.Name())
		switch {
		case e.IsDir():
			t.put(t.place(at), &node{mode: fs.ModeDir | 0o755})
		case e.Type() == fs.ModeSymlink:
			_, _ = t.ReadLink(at) // gone since: as if it had not been there
		case path.Base(name) == msiDir:
			_, _ = t.Read(nil, at)
		}
	}
	return list, nil
}

// Open notes what Stat does.
func (t *notedTree) Open(name string) (fs.File, error) {
	_, _ = t.Stat(name)
	return t.tree.Open(name)
}

// Forget closes what the tree keeps open.
func (t *notedTree) Forget(dir string) { t.tree.Forget(dir) }

// put notes a file, or once more. Folders and links are the first sample's: a
// second one is laid over them.
func (t *notedTree) put(place string, n *node) {
	if t.book.prefix != "" && n.mode.Type() != 0 {
		return
	}
	t.book.files.put(t.book.prefix+place, n)
}

func link(target string) *node { return &node{mode: fs.ModeSymlink | 0o777, data: []byte(target)} }

// place follows the links on the way to a name, as the kernel does, and notes
// them. What leads out of sys stays as it was asked.
func (t *notedTree) place(name string) string {
	at, rest := "", strings.Split(name, "/")
	if rest[0] != "sys" {
		return name
	}
	const most = 40 // links that the kernel follows in one name (MAXSYMLINKS)
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		if part == ".." {
			at = path.Dir(at)
			continue
		}
		next := path.Join(at, part)
		target := t.target(next)
		if target == "" {
			at = next
			continue
		}
		if links++; links > most || path.IsAbs(target) {
			return name
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	if at != "sys" && !strings.HasPrefix(at, "sys/") {
		return name
	}
	return at
}

// target is where a link leads, "" for what is no link.
func (t *notedTree) target(name string) string {
	if target, ok := t.book.links[name]; ok {
		return target
	}
	target, err := t.tree.ReadLink(name)
	if err != nil {
		target = ""
	}
	t.book.links[name] = target
	if target != "" {
		t.put(name, link(target))
	}
	return target
}

// errorText is an error as errorOf reads it: strerror's text where it has an
// errno.
func errorText(err error) string {
	var errno syscall.Errno
	switch {
	case errors.As(err, &errno):
		return errno.Error()
	case errors.Is(err, errors.ErrUnsupported):
		return syscall.EOPNOTSUPP.Error()
	case errors.Is(err, fs.ErrNotExist):
		return syscall.ENODEV.Error()
	case errors.Is(err, fs.ErrPermission):
		return syscall.EACCES.Error()
	}
	return err.Error()
}
