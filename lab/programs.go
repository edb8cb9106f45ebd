package lab

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// loaders are where a guest's dynamic loader looks, and where the host has the
// libraries.
var loaders = []string{"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64"}

// Program gives Guest.Files of a program that is not static, local on this
// machine and inside in the guest: the program, its loader and its libraries.
// Libraries are looked for under root first, "" for none, then in this machine's
// own directories.
func Program(inside, local, root string) (map[string]string, error) {
	files := map[string]string{inside: local}
	if err := addLibraries(files, local, root); err != nil {
		return nil, fmt.Errorf("program %s: %w", local, err)
	}
	return files, nil
}

func addLibraries(files map[string]string, local, root string) error {
	f, err := elf.Open(local)
	if err != nil {
		return err
	}
	defer f.Close()
	for _, segment := range f.Progs {
		if segment.Type == elf.PT_INTERP {
			path := make([]byte, segment.Filesz)
			if _, err := segment.ReadAt(path, 0); err != nil {
				return err
			}
			loader := string(path[:len(path)-1]) // it ends with a zero
			files[loader] = loader
		}
	}
	names, err := f.ImportedLibraries()
	if err != nil {
		return err
	}
	for _, name := range names {
		inside := filepath.Join(loaders[0], name)
		if _, there := files[inside]; there {
			continue
		}
		if files[inside], err = findLibrary(name, root); err != nil {
			return err
		}
		if err := addLibraries(files, files[inside], root); err != nil {
			return err
		}
	}
	return nil
}

func findLibrary(name, root string) (string, error) {
	var roots []string
	if root != "" {
		roots = append(roots, root)
	}
	for _, r := range append(roots, "/") {
		for _, directory := range loaders {
			file := filepath.Join(r, directory, name)
			if _, err := os.Stat(file); err == nil {
				return file, nil
			}
		}
	}
	return "", fmt.Errorf("no %s in %v", name, loaders)
}

// Irqbalance gives Guest.Files that hold Debian's irqbalance, at IrqbalancePath,
// or skips the test where fetch.sh has not fetched it.
func Irqbalance(t testing.TB) map[string]string {
	t.Helper()
	cache, err := cacheDir()
	must(t, err)
	root := filepath.Join(cache, "irqbalance")
	local := filepath.Join(root, IrqbalancePath)
	if _, err := os.Stat(local); err != nil {
		missing(t, fmt.Sprintf("irqbalance is not in %s: run lab/fetch.sh", cache))
	}
	files, err := Program(IrqbalancePath, local, root)
	must(t, err)
	return files
}

// IrqbalancePath is where a guest has irqbalance. Run as it is, it goes into the
// background.
const IrqbalancePath = "/usr/sbin/irqbalance"

// Netsteer gives the path of the binary that the guests run, for commands that
// are tried on the host.
func Netsteer(t testing.TB) string {
	t.Helper()
	binary, err := buildNetsteer()
	must(t, err)
	path := filepath.Join(t.TempDir(), "netsteer")
	must(t, os.WriteFile(path, binary, 0o755))
	return path
}
