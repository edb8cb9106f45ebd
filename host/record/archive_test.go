package record

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/ulikunitz/xz"
)

// entry is a file, or with a link's text a symbolic link.
type entry struct {
	name, text string
	kind       byte
}

func archive(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Typeflag: e.kind, Mode: 0o644, Format: tar.FormatPAX}
		switch e.kind {
		case 0, tar.TypeReg:
			h.Typeflag, h.Size = tar.TypeReg, int64(len(e.text))
		default:
			h.Linkname = e.text
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			if _, err := io.WriteString(w, e.text); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func compress(t testing.TB, text []byte, open func(io.Writer) (io.WriteCloser, error)) []byte {
	t.Helper()
	var buf bytes.Buffer
	w, err := open(&buf)
	if err == nil {
		_, err = w.Write(text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func gz(t testing.TB, text []byte) []byte {
	return compress(t, text, func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil })
}

func xzip(t testing.TB, text []byte) []byte {
	return compress(t, text, func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) })
}

func write(t testing.TB, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The compression is told by content, and the root is the archive or its
// single top folder.
func TestOpenArchives(t *testing.T) {
	plain := []entry{{name: "proc/interrupts", text: "x"}}
	top := []entry{{name: "./host-1/proc/interrupts", text: "x"}, {name: "./host-1/var/log/messages", text: "y"}, {name: "checksums", text: "z"}}
	slash := []entry{{name: "/proc/interrupts", text: "x"}}
	for name, text := range map[string][]byte{
		"a.tar": archive(t, plain...), "a.tar.gz": gz(t, archive(t, plain...)), "a.tgz": gz(t, archive(t, top...)),
		"a.tar.xz": xzip(t, archive(t, top...)), "noname": xzip(t, archive(t, plain...)), "slash.tar": archive(t, slash...),
		"bare.tar": archive(t, entry{name: "b/interrupts", text: "x"}), "bare2.tar": archive(t, entry{name: "interrupts", text: "x"}),
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Open(write(t, name, text))
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			m := r.Machine()
			if got, err := m.Tree.Read(nil, "proc/interrupts"); err != nil || string(got) != "x" {
				t.Errorf("%q, %v", got, err)
			}
			if m.NICs != nil || m.Threads != nil {
				t.Error("NICs and threads were never recorded")
			}
		})
	}
}

// One line says what is wrong with PATH and what was expected.
func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "notes"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	full := archive(t, entry{name: "proc/interrupts", text: strings.Repeat("x", 4096)})
	netlink := func(file, text string) []byte { return archive(t, entry{name: "netsteer/" + file, text: text}) }
	for _, c := range []struct{ name, path, want string }{
		{"missing", filepath.Join(dir, "nothing"), "does not exist: expected a directory or a .tar"},
		{"fifo", fifo, "neither a directory nor a file: expected a directory"},
		{"empty directory", t.TempDir(), "is empty"},
		{"other directory", other, "holds proc, sys, sos_commands or netsteer"},
		{"empty file", write(t, "e.tar", nil), "file is empty"},
		{"text", write(t, "t.txt", []byte(strings.Repeat("hello ", 200))), "not a tar archive, plain or compressed with gzip or xz"},
		{"empty archive", write(t, "e.tar", archive(t)), "archive is empty"},
		{"cut off", write(t, "c.tar", full[:2000]), "damaged or cut off after 0 entries"},
		{"cut off gzip", write(t, "c.tgz", gz(t, full)[:40]), "not a tar archive"},
		{"bad gzip", write(t, "b.tgz", []byte("\x1f\x8bxxxxxxxxxxxxxxx")), "gzip: "},
		{"bad xz", write(t, "b.xz", []byte("\xfd7zXZ\x00xxxxxxxxxxxxxxxx")), "xz: "},
		{"zstd", write(t, "b.zst", []byte("\x28\xb5\x2f\xfdxxxxxxxx")), "bzip2 or zstd, which netsteer does not read"},
		{"other archive", write(t, "o.tar", archive(t, entry{name: "a/b", text: "c"})), "holds proc, sys, sos_commands or netsteer"},
		{"netlink.json", write(t, "n.tar", netlink("netlink.json", "{")), "netsteer/netlink.json: not the JSON of netsteer.netlink/v1"},
		{"netlink.json v2", write(t, "n.tar", netlink("netlink.json", `{"schema":"netsteer.netlink/v2"}`)), `schema is "netsteer.netlink/v2", this netsteer reads "netsteer.netlink/v1"`},
		{"netlink.json queue", write(t, "n.tar", netlink("netlink.json", `{"schema":"netsteer.netlink/v1","netdev":{"queues":[{"direction":"up"}]}}`)), `netdev.queues[0]: direction is "up", not rx or tx`},
		{"capture.json", write(t, "n.tar", netlink("capture.json", `{"schema":"netsteer.capture/v1","t0":"2026-01-01T00:00:10Z","t1":"2026-01-01T00:00:00Z"}`)), "is not after t0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Open(c.path)
			text := fmt.Sprint(err)
			if err == nil || !strings.Contains(text, c.want) || !strings.HasPrefix(text, c.path+": ") || strings.Count(text, c.path) != 1 || strings.Contains(text, "\n") {
				t.Errorf("%v", err)
			}
		})
	}
}

// Whatever an archive holds, nothing outside it is reached and nothing hangs.
func TestHostileArchive(t *testing.T) {
	files := archive(t,
		entry{name: "../proc/stat", text: "out"}, entry{name: "proc/../../x", text: "out"},
		entry{name: "proc/interrupts", text: "in"},
		entry{name: "proc/dev", kind: tar.TypeBlock}, entry{name: "proc/fifo", kind: tar.TypeFifo}, entry{name: "proc/tty", kind: tar.TypeChar},
		entry{name: "proc/hard", text: "proc/interrupts", kind: tar.TypeLink}, entry{name: "proc/hardout", text: "/etc/passwd", kind: tar.TypeLink},
		entry{name: "sys/up", text: "../../../etc/passwd", kind: tar.TypeSymlink}, entry{name: "sys/abs", text: "/etc/passwd", kind: tar.TypeSymlink},
		entry{name: "sys/in", text: "/proc/interrupts", kind: tar.TypeSymlink}, entry{name: "sys/rel", text: "../proc/./../proc/interrupts", kind: tar.TypeSymlink},
		entry{name: "sys/a", text: "b", kind: tar.TypeSymlink}, entry{name: "sys/b", text: "a", kind: tar.TypeSymlink}, entry{name: "sys/self", text: "self/x", kind: tar.TypeSymlink},
		entry{name: "sys/dir", text: "/proc", kind: tar.TypeSymlink}, entry{name: "sys/dir/interrupts", text: "below a link"},
		entry{name: "sys/long", text: strings.Repeat("x/", 5000), kind: tar.TypeSymlink},
		entry{name: "proc", text: "a file in place of a folder"}, entry{name: "proc/interrupts/x", text: "below a file"},
		entry{name: strings.Repeat("sys/", 3000) + "deep", text: "x"},
		entry{name: "proc/file.err", text: "Input/output error\n"}, entry{name: "proc/odd.err", text: "the dog ate it\n"},
	)
	r, err := Open(write(t, "h.tar", files))
	if err != nil {
		t.Fatal(err)
	}
	tree := r.tree
	for name, want := range map[string]string{"proc/interrupts": "in", "proc/hard": "in", "sys/in": "in", "sys/rel": "in", "sys/dir/interrupts": "in"} {
		if got, err := tree.Read(nil, name); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for name, want := range map[string]error{
		"proc/stat": fs.ErrNotExist, "proc/dev": fs.ErrNotExist, "proc/fifo": fs.ErrNotExist, "proc/tty": fs.ErrNotExist, "proc/hardout": fs.ErrNotExist,
		"sys/up": errOutside, "sys/abs": fs.ErrNotExist, "sys/a": syscall.ELOOP, "sys/self": syscall.ELOOP, "sys/long": syscall.ENAMETOOLONG,
		"proc/interrupts/x": syscall.ENOTDIR, "../x": fs.ErrInvalid, "/proc/stat": fs.ErrInvalid, "proc": syscall.EISDIR,
		"proc/file": syscall.EIO, "proc/odd": notedError("the dog ate it"),
	} {
		dst := []byte("kept")
		got, err := tree.Read(dst, name)
		var p *fs.PathError
		if !errors.Is(err, want) || !errors.As(err, &p) || p.Path != name || string(got) != "kept" {
			t.Errorf("%s: %q, %v; want %v", name, got, err, want)
		}
	}
	if _, err := tree.ReadLink("sys/dir"); err != nil {
		t.Error(err)
	}
	if _, err := tree.ReadLink("proc/interrupts"); !errors.Is(err, syscall.EINVAL) {
		t.Error(err)
	}
}

// Archives that ask for too much are refused with what to do.
func TestLimits(t *testing.T) {
	small := limits{stream: 1 << 20, kept: 20_000, file: 10_000, nodes: 20}
	var many []entry
	for i := range 30 {
		many = append(many, entry{name: fmt.Sprintf("proc/%d/stat", i), text: "x"})
	}
	var bulk []entry
	for i := range 5 {
		bulk = append(bulk, entry{name: fmt.Sprintf("proc/%d", i), text: strings.Repeat("x", 9_000)})
	}
	for _, c := range []struct {
		name string
		text []byte
		want string
	}{
		{"files", archive(t, many...), "holds more than 20000 bytes or 20 files"},
		{"bytes", archive(t, bulk...), "holds more than 20000 bytes or 20 files"},
		{"stream", gz(t, archive(t, entry{name: "var/log/zeros", text: strings.Repeat("\x00", 2<<20)})), "unpacks to more than 1 MiB"},
	} {
		if _, err := readArchive(bytes.NewReader(c.text), small); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	s, err := readArchive(bytes.NewReader(archive(t, entry{name: "proc/big", text: strings.Repeat("x", 10_001)}, entry{name: "proc/stat", text: "x"})), small)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.read(nil, "proc/big"); err == nil || !strings.Contains(err.Error(), "larger than 10000 bytes") {
		t.Errorf("big: %v", err)
	}
	if _, err := s.read(nil, "proc/stat"); err != nil {
		t.Error(err)
	}
	// A sparse file's size is a claim: it costs nothing to make.
	sparse := append([]byte(nil), archive(t, entry{name: "proc/huge", text: ""})...)
	copy(sparse[124:136], "77777777777\x00")
	sum := 0
	copy(sparse[148:156], "        ")
	for _, b := range sparse[:512] {
		sum += int(b)
	}
	copy(sparse[148:156], fmt.Sprintf("%06o\x00 ", sum))
	if _, err := readArchive(bytes.NewReader(sparse), defaultLimits); err == nil || !strings.Contains(err.Error(), "damaged or cut off") {
		t.Errorf("8 GiB of nothing: %v", err)
	}
}

// A dictionary is allocated before the first byte: a hostile one is refused.
func TestDictionary(t *testing.T) {
	text := xzip(t, archive(t, entry{name: "proc/stat", text: "x"}))
	if n, ok := dictionary(text[12:]); !ok || n != 8<<20 {
		t.Fatalf("the writer's own dictionary is 8 MiB, not %d, %v", n, ok)
	}
	at := bytes.Index(text[12:], []byte{0x21, 1, 22}) + 14
	for bits, want := range map[byte]uint64{0: 4096, 1: 6144, 28: 64 << 20, 39: 3 << 30, 40: 1<<32 - 1} {
		text[at] = bits
		if n, ok := dictionary(text[12:]); !ok || n != want {
			t.Errorf("%d: %d, %v; want %d", bits, n, ok, want)
		}
	}
	text[at] = 40
	if _, err := Open(write(t, "d.tar.xz", text)); err == nil || !strings.Contains(err.Error(), "dictionary of 4095 MiB") {
		t.Errorf("%v", err)
	}
	for _, short := range [][]byte{nil, {0, 0}, {2, 0xff}, {1, 0x40, 0x80, 0x80}, {1, 0, 0x21, 9}} {
		if n, ok := dictionary(short); ok {
			t.Errorf("% x: %d", short, n)
		}
	}
}

// The archive in memory is a file system as io/fs has it.
func TestMemoryFS(t *testing.T) {
	s, err := readArchive(bytes.NewReader(archive(t,
		entry{name: "proc/stat", text: "cpu 1\n"}, entry{name: "sys/class/net/eth0", text: "../../devices/eth0", kind: tar.TypeSymlink},
		entry{name: "sys/devices/eth0/ifindex", text: "2\n"}, entry{name: "netsteer/x", text: "y"})), defaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	if err := fstest.TestFS(&tree{store: s}, "proc/stat", "sys/devices/eth0/ifindex", "sys/class/net/eth0"); err != nil {
		t.Error(err)
	}
}
