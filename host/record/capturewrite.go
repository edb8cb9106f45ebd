package record

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2"
)

// WriteArchive writes the capture as .tar.gz, below a folder of its name.
func (t *Taking) WriteArchive(w io.Writer) error {
	files, err := t.layout()
	if err != nil {
		return err
	}
	zip := gzip.NewWriter(w)
	archive := tar.NewWriter(zip)
	top := t.Name()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		n := files[name]
		h := &tar.Header{Name: path.Join(top, name), Mode: int64(n.perm()), ModTime: t.t0, Format: tar.FormatPAX}
		var data []byte
		switch n.mode.Type() {
		case fs.ModeDir:
			h.Typeflag, h.Name, h.Mode = tar.TypeDir, h.Name+"/", 0o755
		case fs.ModeSymlink:
			h.Typeflag, h.Linkname, h.Mode = tar.TypeSymlink, string(n.data), 0o777
		default:
			h.Typeflag, h.Size, data = tar.TypeReg, int64(len(n.data)), n.data
		}
		if err := archive.WriteHeader(h); err != nil {
			return err
		}
		if _, err := archive.Write(data); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), zip.Close())
}

// CheckOutput says why a capture cannot be written there. What is there is never
// replaced: an older capture may be all that is left of a fault.
func CheckOutput(file string) error {
	if _, err := os.Lstat(strings.TrimRight(file, "/")); err == nil {
		return fmt.Errorf("%s: %w: a capture replaces nothing; name another", file, fs.ErrExist)
	}
	parent := filepath.Dir(strings.TrimRight(file, "/"))
	if info, err := os.Stat(parent); err != nil {
		return err
	} else if !info.IsDir() {
		return fmt.Errorf("%s: not a directory", parent)
	}
	return nil
}

// Save writes the capture to a new file, mode 0600, or with a "/" at the end to
// a new directory, mode 0700: whole or not at all.
func (t *Taking) Save(file string) error {
	if err := CheckOutput(file); err != nil {
		return err
	}
	if dir := strings.TrimRight(file, "/"); dir != file {
		return t.saveDir(dir)
	}
	f, err := renameio.NewPendingFile(file, renameio.WithTempDir(filepath.Dir(file)), renameio.WithStaticPermissions(0o600))
	if err != nil {
		return err
	}
	defer f.Cleanup() //nolint:errcheck // after the rename there is nothing to clean
	if err := t.WriteArchive(f); err != nil {
		return err
	}
	return f.CloseAtomicallyReplace()
}

func (t *Taking) saveDir(dir string) error {
	temporary, err := os.MkdirTemp(filepath.Dir(dir), ".netsteer-")
	if err != nil {
		return err
	}
	if err := t.fill(temporary); err != nil {
		return errors.Join(err, os.RemoveAll(temporary))
	}
	// Fails where a folder with files has come there since.
	if err := os.Rename(temporary, dir); err != nil {
		return errors.Join(err, os.RemoveAll(temporary))
	}
	return nil
}

func (t *Taking) fill(dir string) error {
	files, err := t.layout()
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) { // a folder before what is in it
		n, at := files[name], filepath.Join(dir, filepath.FromSlash(name))
		switch {
		case name == ".":
		case n.mode.IsDir():
			err = os.Mkdir(at, 0o755)
		case n.mode.Type() == fs.ModeSymlink:
			err = os.Symlink(string(n.data), at)
		default:
			// Made by us just now, in a folder of ours.
			if err = os.WriteFile(at, n.data, 0o600); err == nil {
				err = os.Chmod(at, n.perm())
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
