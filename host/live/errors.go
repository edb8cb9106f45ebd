package live

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"
)

// missingError makes an error of the kernel match fs.ErrNotExist, which ENODEV and
// ESRCH do not by themselves (EOPNOTSUPP matches errors.ErrUnsupported).
type missingError struct{ error }

func (e missingError) Unwrap() error { return e.error }

func (missingError) Is(target error) bool { return target == fs.ErrNotExist }

// gone marks the error of a device that is not there, or of a task that ended
// while its files were open.
func gone(err error) error {
	if errors.Is(err, unix.ENODEV) || errors.Is(err, unix.ESRCH) {
		return missingError{err}
	}
	return err
}
