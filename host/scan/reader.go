package scan

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/procfile"
)

// ErrNotRecorded is what a recorded machine answers to a question that was not
// asked when it was recorded.
var ErrNotRecorded = errors.New("not in this recording")

func unsupported(err error) bool { return errors.Is(err, errors.ErrUnsupported) }

// reader reads small files of a Tree through one buffer.
type reader struct {
	tree  Tree
	notes *notes
	buf   []byte
}

// bytes returns a file's content, valid until the next read.
func (r *reader) bytes(name string) ([]byte, error) {
	b, err := r.tree.Read(r.buf[:0], name)
	if b != nil {
		r.buf = b
	}
	return b, err
}

// string returns a file's content without the white space around it.
func (r *reader) string(name string) (string, error) {
	b, err := r.bytes(name)
	return strings.TrimSpace(string(b)), err
}

// text is string where absence needs no mention.
func (r *reader) text(name string) string {
	s, err := r.string(name)
	if err != nil {
		return ""
	}
	return s
}

func (r *reader) uint(name string) (uint64, error) {
	b, err := r.bytes(name)
	if err != nil {
		return 0, err
	}
	n, err := procfile.ParseUint(b)
	return n, within(name, err)
}

func (r *reader) int(name string) (int64, error) {
	b, err := r.bytes(name)
	if err != nil {
		return 0, err
	}
	n, err := procfile.ParseInt(b)
	return n, within(name, err)
}

// count is uint where absence needs no mention.
func (r *reader) count(name string) host.Count {
	n, err := r.uint(name)
	return host.Count{N: n, OK: err == nil}
}

// id is int with -1 for all that is not an id.
func (r *reader) id(name string) int {
	n, err := r.int(name)
	if err != nil || n < 0 || n > cpuset.Max {
		return -1
	}
	return int(n)
}

func (r *reader) list(name string) (cpuset.Set, error) {
	b, err := r.bytes(name)
	if err != nil {
		return cpuset.Set{}, err
	}
	set, err := cpuset.ParseList(string(b))
	return set, within(name, err)
}

func (r *reader) mask(name string) (cpuset.Set, error) {
	b, err := r.bytes(name)
	if err != nil {
		return cpuset.Set{}, err
	}
	set, err := cpuset.ParseMask(string(b))
	return set, within(name, err)
}

func (r *reader) dir(name string) []fs.DirEntry {
	entries, err := fs.ReadDir(r.tree, name)
	if err != nil {
		return nil
	}
	return entries
}

func (r *reader) exists(name string) bool {
	_, err := fs.Stat(r.tree, name)
	return err == nil
}

func within(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w: %w", name, procfile.ErrMalformed, err)
}

// notes collects what is degraded, each (source, device, reason) once.
type notes struct{ list []host.Degraded }

func (n *notes) add(source host.Source, device string, err error) {
	if err != nil {
		n.say(source, device, reasonOf(err), err.Error())
	}
}

func (n *notes) say(source host.Source, device string, reason host.Reason, detail string) {
	for _, d := range n.list {
		if d.Source == source && d.Device == device && d.Reason == reason {
			return
		}
	}
	n.list = append(n.list, host.Degraded{Source: source, Device: device, Reason: reason, Detail: detail})
}

func (n *notes) sorted() []host.Degraded {
	slices.SortFunc(n.list, host.Degraded.Compare)
	return n.list
}

// reasonOf names an error by the closed set of reasons.
func reasonOf(err error) host.Reason {
	for _, c := range []struct {
		is     error
		reason host.Reason
	}{
		{procfile.ErrEmpty, host.ReasonMasked},
		{procfile.ErrMalformed, host.ReasonMalformed},
		{procfile.ErrTorn, host.ReasonVanished},
		{ErrNotRecorded, host.ReasonMissing},
		{syscall.ENODEV, host.ReasonVanished},
		{syscall.EIO, host.ReasonVanished},
		{fs.ErrNotExist, host.ReasonMissing},
		{fs.ErrPermission, host.ReasonPermission},
		{errors.ErrUnsupported, host.ReasonUnsupported},
	} {
		if errors.Is(err, c.is) {
			return c.reason
		}
	}
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		return host.ReasonTimeout
	}
	return host.ReasonError
}
