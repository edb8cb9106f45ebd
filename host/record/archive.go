package record

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
)

// limits bound what an archive may ask for. A hostile one is small and unpacks
// to anything.
type limits struct {
	stream int64 // bytes after decompression, also of what is left out
	kept   int64 // bytes of names and contents in memory
	file   int64 // bytes of one file; a larger one is there but cannot be read
	nodes  int   // files, links and folders in memory
}

// defaultLimits hold a sosreport of 512 CPUs and 4,096 interrupts (5 MB of /proc
// and 60,000 files) several times over.
var defaultLimits = limits{stream: 8 << 30, kept: 512 << 20, file: 64 << 20, nodes: 1_000_000}

// readArchive reads a tar archive, plain or compressed (told by content, not by
// name), into memory. Only what netsteer reads is kept. Names that are absolute
// lose their slash, as tar has it; entries with ".." or that are neither file,
// link nor folder are left out. Hard links become the file they name.
func readArchive(r io.Reader, lim limits) (memstore, error) {
	r, err := decompress(bufio.NewReaderSize(r, 1<<16))
	if err != nil {
		return nil, err
	}
	b := builder{files: newMemstore(), lim: lim}
	t := tar.NewReader(&meter{r: r, left: lim.stream})
	for entries := 0; ; entries++ {
		h, err := t.Next()
		if errors.Is(err, tar.ErrInsecurePath) { // add judges names
			err = nil
		}
		switch {
		case errors.Is(err, io.EOF) && entries == 0:
			return nil, errors.New("archive is empty")
		case errors.Is(err, io.EOF):
			return b.files, nil
		case err == nil:
			err = b.add(h, t)
		case entries == 0 && !errors.Is(err, errStream):
			return nil, fmt.Errorf("not a tar archive, plain or compressed with gzip or xz: %w", err)
		}
		switch {
		case err == nil:
		case errors.Is(err, errStream):
			return nil, fmt.Errorf("archive unpacks to more than %s: unpack it and give the folder", size(lim.stream))
		case errors.Is(err, errFull):
			return nil, fmt.Errorf("archive holds more than %s or %d files of /proc and /sys: unpack it and give the folder", size(lim.kept), lim.nodes)
		default:
			return nil, fmt.Errorf("archive is damaged or cut off after %d entries: %w", entries, err)
		}
	}
}

// decompress looks at the first bytes.
func decompress(r *bufio.Reader) (io.Reader, error) {
	head, err := r.Peek(6)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case len(head) == 0:
		return nil, errors.New("file is empty: expected a .tar, .tar.gz, .tgz or .tar.xz archive")
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, fmt.Errorf("gzip: %w", err)
		}
		return z, nil
	case bytes.HasPrefix(head, []byte("\xfd7zXZ\x00")):
		return openXZ(r)
	case bytes.HasPrefix(head, []byte("BZh")), bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")):
		return nil, errors.New("compressed with bzip2 or zstd, which netsteer does not read: unpack it and give the folder")
	}
	return r, nil
}

// builder collects entries.
type builder struct {
	files memstore
	lim   limits
	kept  int64
}

func (b *builder) add(h *tar.Header, content io.Reader) error {
	name, ok := entryName(h.Name)
	if !ok {
		return nil
	}
	if !wanted(name) {
		// The top folders are kept in any case: whether there is a single one
		// decides what the root is.
		top, _, deep := strings.Cut(name, "/")
		if !deep && h.Typeflag != tar.TypeDir || b.files[top] != nil {
			return nil
		}
		return b.keep(top, &node{mode: fs.ModeDir | 0o755})
	}
	n := &node{mode: fs.FileMode(h.Mode) & 0o777}
	switch h.Typeflag {
	case tar.TypeDir:
		n.mode |= fs.ModeDir
	case tar.TypeSymlink:
		n.mode |= fs.ModeSymlink
		n.data = []byte(h.Linkname)
	case tar.TypeLink:
		target, ok := entryName(h.Linkname)
		if !ok || b.files[target] == nil || !b.files[target].mode.IsRegular() {
			return nil
		}
		n.data, n.err = b.files[target].data, b.files[target].err
	case tar.TypeReg, tar.TypeGNUSparse, tar.TypeCont:
		if h.Size > b.lim.file {
			n.err = fmt.Errorf("file is larger than %s", size(b.lim.file))
			break
		}
		if b.kept+h.Size > b.lim.kept {
			return errFull
		}
		// The header's size is a promise: nothing is allocated for it.
		var buf bytes.Buffer
		if _, err := io.Copy(&buf, content); err != nil {
			return err
		}
		n.data = buf.Bytes()
	default:
		return nil
	}
	return b.keep(name, n)
}

func (b *builder) keep(name string, n *node) error {
	b.kept += int64(len(n.data) + len(name))
	b.files.put(name, n)
	if b.kept > b.lim.kept || len(b.files) > b.lim.nodes {
		return errFull
	}
	return nil
}

// entryName is an entry's clean name; false for one that is to be left out.
func entryName(name string) (string, bool) {
	if len(name) > maxName || strings.Count(name, "/") > maxDepth {
		return "", false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." {
			return "", false
		}
	}
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	return name, name != ""
}

// maxDepth of folders: sysfs has about 20, and each entry makes the folders above it.
const maxDepth = 64

var (
	errStream = errors.New("stream is too long")
	errFull   = errors.New("too much to keep")
)

// meter ends a stream that is longer than allowed.
type meter struct {
	r    io.Reader
	left int64
}

func (m *meter) Read(p []byte) (int, error) {
	if m.left <= 0 {
		return 0, errStream
	}
	n, err := m.r.Read(p[:min(int64(len(p)), m.left)])
	m.left -= int64(n)
	return n, err
}

func size(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}
