package live

import (
	"errors"
	"fmt"

	"github.com/netsteer/netsteer/host/scan"
)

// Machine is this machine; with netlink false it is asked no questions
// (--no-source.netlink). close ends it.
func Machine(procfs, sysfs string, netlink bool) (m scan.Machine, close func() error, err error) {
	tree, err := NewTree(procfs, sysfs)
	if err != nil {
		return scan.Machine{}, nil, err
	}
	if err := tree.mounted(); err != nil {
		return scan.Machine{}, nil, errors.Join(err, tree.Close())
	}
	m = scan.Machine{Tree: tree, Threads: NewThreads(procfs), Rivals: Rivals(procfs)}
	if !netlink {
		return m, tree.Close, nil
	}
	nics, err := NewNICs()
	if err != nil {
		err = fmt.Errorf("%w: --no-source.netlink goes without it", err)
		return scan.Machine{}, nil, errors.Join(err, tree.Close())
	}
	m.NICs = nics
	return m, func() error { return errors.Join(nics.Close(), tree.Close()) }, nil
}
