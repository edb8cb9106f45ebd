package lab

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// driverModules are the modules of a NIC's driver; their dependencies are
// found in the files.
var driverModules = map[Driver][]string{IGB: {"igb"}, Virtio: {"virtio_pci", "virtio_net"}, E1000E: {"e1000e"}}

// withDependencies orders the named modules of a kernel's directory so that
// each comes after what it needs. A name without a file is left out: what is a
// module in one kernel is built into another, and what is in neither shows as
// a device that does not come.
func withDependencies(directory string, names []string) ([]string, error) {
	var order []string
	var visit func(name string) error
	visit = func(name string) error {
		file, err := moduleFile(directory, name)
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil || slices.Contains(order, file) {
			return err
		}
		needed, err := moduleDepends(file)
		if err != nil {
			return err
		}
		for _, n := range needed {
			if err := visit(n); err != nil {
				return err
			}
		}
		order = append(order, file)
		return nil
	}
	for _, name := range names {
		if err := visit(name); err != nil {
			return nil, err
		}
	}
	return order, nil
}

// moduleFile finds the file of a module: names are written with "_", files of
// some have "-".
func moduleFile(directory, name string) (string, error) {
	for _, n := range []string{name, strings.ReplaceAll(name, "_", "-")} {
		file := filepath.Join(directory, n+".ko")
		if _, err := os.Stat(file); err == nil {
			return file, nil
		}
	}
	return "", fmt.Errorf("module %s: %w", name, os.ErrNotExist)
}

// moduleDepends reads the names after "depends=" in the section .modinfo,
// which is what depmod goes by.
func moduleDepends(file string) ([]string, error) {
	f, err := elf.Open(file)
	if err != nil {
		return nil, fmt.Errorf("module %s: %w", file, err)
	}
	defer f.Close()
	section := f.Section(".modinfo")
	if section == nil {
		return nil, fmt.Errorf("module %s: no section .modinfo", file)
	}
	info, err := section.Data()
	if err != nil {
		return nil, fmt.Errorf("module %s: %w", file, err)
	}
	for entry := range bytes.SplitSeq(info, []byte{0}) {
		if list, ok := bytes.CutPrefix(entry, []byte("depends=")); ok && len(list) > 0 {
			return strings.Split(string(list), ","), nil
		}
	}
	return nil, nil
}
