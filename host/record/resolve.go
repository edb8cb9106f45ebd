package record

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"syscall"
)

// maxLinks is MAXSYMLINKS of the kernel (include/linux/namei.h).
const maxLinks = 40

// errOutside is a link out of the recording. What it names was not recorded.
var errOutside = fmt.Errorf("link leads out of the recording: %w", fs.ErrNotExist)

// resolve follows every link of name, the last part's too, and returns the name
// of what is there: absolute links begin at the recording's root, as chroot has
// it, for a sosreport holds the machine's own. The last part need not exist.
func (t *tree) resolve(name string) (string, error) { return t.follow(name, true) }

// parent follows the links of all parts but the last.
func (t *tree) parent(name string) (string, error) { return t.follow(name, false) }

func (t *tree) follow(name string, last bool) (string, error) {
	if name == "." {
		return name, nil
	}
	dir, base := path.Split(name)
	if dir = path.Clean(dir); dir == "." {
		return t.walk(".", base, last)
	}
	place, ok := t.folders.Load(dir)
	if !ok {
		r, err := t.walk(".", dir, true)
		if err != nil {
			return "", err
		}
		// Only the names of folders that are there, so that questions for what
		// is not there do not fill memory.
		if info, err := t.store.lstat(r); err != nil {
			return "", err
		} else if !info.IsDir() {
			return "", syscall.ENOTDIR
		}
		place, _ = t.folders.LoadOrStore(dir, r)
	}
	return t.walk(place.(string), base, last)
}

// walk goes from the folder at, which holds no links, along name.
func (t *tree) walk(at, name string, last bool) (string, error) {
	rest := strings.Split(name, "/")
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			if at == "." {
				return "", errOutside
			}
			at = path.Dir(at)
			continue
		}
		next := path.Join(at, part)
		if len(rest) == 0 && !last {
			return next, nil
		}
		info, err := t.store.lstat(next)
		switch {
		case err != nil && len(rest) == 0:
			return next, nil // whoever reads it says what is wrong with it
		case err != nil:
			return "", err
		case info.Mode().Type() == fs.ModeSymlink:
			if links++; links > maxLinks {
				return "", syscall.ELOOP
			}
			target, err := t.store.readlink(next)
			if err != nil {
				return "", err
			}
			if path.IsAbs(target) {
				at = "."
			}
			if len(target) > maxName {
				return "", syscall.ENAMETOOLONG
			}
			rest = append(strings.Split(target, "/"), rest...)
			last = true
		case !info.IsDir() && len(rest) > 0:
			return "", syscall.ENOTDIR
		default:
			at = next
		}
	}
	return at, nil
}

// maxName is PATH_MAX.
const maxName = 4096
