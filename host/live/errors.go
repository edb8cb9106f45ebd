package live

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"
)

// notThere makes an error of the kernel match fs.ErrNotExist, which ENODEV and
// ESRCH do not by themselves (EOPNOTSUPP matches errors.ErrUnsupported).
type notThere struct{ error }

func (e notThere) Unwrap() error { return e.error }

func (notThere) Is(target error) bool { return target == fs.ErrNotExist }

// gone marks the error of a device that is not there, or of a task that ended
// while its files were open.
func gone(err error) error {
	if errors.Is(err, unix.ENODEV) || errors.Is(err, unix.ESRCH) {
		return notThere{err}
	}
	return err
}
