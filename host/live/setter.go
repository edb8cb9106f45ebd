package live

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/netsteer/netsteer/host"
)

// Setter reads and writes settings of this machine, one write(2) per value. It
// finds each one's file itself, from the Inventory as it is at that moment: no
// request can name a path. It is safe for concurrent use.
type Setter struct {
	proc, sys string
	inventory func() *host.Inventory
}

// NewSetter returns a Setter for the two mounts, --path.procfs and --path.sysfs.
// inventory is the last one read; nil: none yet.
func NewSetter(procfs, sysfs string, inventory func() *host.Inventory) *Setter {
	return &Setter{proc: procfs, sys: sysfs, inventory: inventory}
}

// Get returns what the kernel shows now, in canonical form. A device, queue or
// vector that is not there matches fs.ErrNotExist; so does xps_cpus of a device
// with one TX queue. Kinds that are not files are errors.ErrUnsupported.
func (s *Setter) Get(of host.Setting) (host.Value, error) {
	p, err := s.place(of)
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(p.path)
	if err != nil {
		return "", gone(err)
	}
	v, err := p.form.parse(string(text))
	if err != nil {
		return "", fmt.Errorf("%s: %w", p.path, err)
	}
	return v, nil
}

// Set writes a value and does not read back: kernels store something else than
// was written (RPS without offline and isolated CPUs, powers of two).
func (s *Setter) Set(of host.Setting, v host.Value) error {
	p, err := s.place(of)
	if err != nil {
		return err
	}
	text, err := p.form.render(v, p.width)
	if err != nil {
		return fmt.Errorf("%s: %w", of, err)
	}
	fd, err := openToWrite(p.path)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	n := 0
	err = uninterrupted(func() (err error) {
		n, err = unix.Write(fd, []byte(text))
		return err
	})
	if err == nil && n != len(text) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return gone(&fs.PathError{Op: "write", Path: p.path, Err: err})
	}
	return nil
}

// Check fails if Set cannot work, and changes nothing: it opens the file for
// writing, which is where most refusals come from, and looks at what the kernel
// checks only in the write itself.
func (s *Setter) Check(of host.Setting, v host.Value) error {
	p, err := s.place(of)
	if err != nil {
		return err
	}
	if _, err := p.form.render(v, p.width); err != nil {
		return fmt.Errorf("%s: %w", of, err)
	}
	info, err := os.Stat(p.path)
	if err != nil {
		return gone(err)
	}
	// Root may open it all the same. For a vector that must not move, mode 0444
	// is the kernel's word for it (c7718e5c76d4, Linux 6.12).
	if info.Mode().Perm()&0o222 == 0 {
		return &fs.PathError{Op: "open", Path: p.path, Err: fmt.Errorf("%w: the kernel shows it read-only", unix.EPERM)}
	}
	fd, err := openToWrite(p.path)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var in unix.Statfs_t
	if err := unix.Fstatfs(fd, &in); err == nil && in.Type == unix.SYSFS_MAGIC && !mayAdminNet() {
		return &fs.PathError{Op: "write", Path: p.path, Err: fmt.Errorf("%w: needs CAP_NET_ADMIN", unix.EPERM)}
	}
	return nil
}

// Effective is where a vector is programmed now (effective_affinity_list), false
// where the kernel does not tell.
func (s *Setter) Effective(of host.Setting) (host.Value, bool) {
	if of.Kind != host.IRQAffinity {
		return "", false
	}
	v, err := s.vector(of)
	if err != nil {
		return "", false
	}
	text, err := os.ReadFile(s.irqFile(v, "effective_affinity_list"))
	if err != nil {
		return "", false
	}
	value, err := listForm{}.parse(string(text))
	return value, err == nil && value != ""
}

// openToWrite opens an existing file, which it neither makes nor empties.
func openToWrite(path string) (int, error) {
	var fd int
	err := uninterrupted(func() (err error) {
		fd, err = unix.Open(path, unix.O_WRONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
		return err
	})
	if err != nil {
		return -1, gone(&fs.PathError{Op: "open", Path: path, Err: err})
	}
	return fd, nil
}

// mayAdminNet reports CAP_NET_ADMIN: the queues' files ask for it in the write,
// whoever has opened them (store_rps_map, xps_cpus_store in net/core/net-sysfs.c,
// Linux 7.2).
func mayAdminNet() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if err := unix.Capget(&header, &sets[0]); err != nil {
		return true // unknown: the write will tell
	}
	return sets[0].Effective&(1<<unix.CAP_NET_ADMIN) != 0
}

// missing is an error of something that is not there.
func missing(format string, args ...any) error {
	return missingError{fmt.Errorf(format, args...)}
}

// sameWords compares action names however they are separated.
func sameWords(a, b string) bool {
	split := func(s string) map[string]int {
		words := map[string]int{}
		for word := range strings.SplitSeq(s, ",") {
			words[strings.TrimSpace(word)]++
		}
		return words
	}
	x, y := split(a), split(b)
	for word, n := range x {
		if y[word] != n {
			return false
		}
	}
	return len(x) == len(y)
}

var errNoInventory = errors.New("the machine has not been read yet: try again")
