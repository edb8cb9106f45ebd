package apply

import (
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"

	"github.com/netsteer/netsteer/host"
)

// Word is why a request was refused: the last part of a problem type
// (urn:netsteer:problem:<word>).
type Word string

// Words of refusals. After the first write nothing is refused: the
// Transaction's state says what became of it.
const (
	WordBusy               Word = "busy"                // another transaction holds the lock
	WordRefused            Word = "refused"             // any other reason
	WordNotPrivileged      Word = "not-privileged"      // the kernel or the state directory lets this process write nothing
	WordUnknownDevice      Word = "unknown-device"      // no such device, or not one that is reported
	WordUnknownKind        Word = "unknown-kind"        // no such kind of setting
	WordUnknownTransaction Word = "unknown-transaction" // no such record
	WordPlanChanged        Word = "plan-changed"        // a target no longer holds what the plan says
)

// Refused is a request that was refused before its first write: nothing was
// changed and nothing recorded.
//
//nolint:errname // it reads as what became of the request
type Refused struct {
	Word   Word
	Detail string // one line for people: what, where, why, what to do
	Err    error  // its cause, may be nil
}

func (r *Refused) Error() string { return r.Detail }

func (r *Refused) Unwrap() error { return r.Err }

func refuse(w Word, format string, args ...any) *Refused {
	err := fmt.Errorf(format, args...)
	return &Refused{Word: w, Detail: err.Error(), Err: errors.Unwrap(err)}
}

// Code is why one change was not made: a closed set.
type Code string

// Codes.
const (
	CodeGone          Code = "gone"              // device, queue or vector is not there
	CodeNotPrivileged Code = "not-privileged"    // no permission, or a read-only mount
	CodeUnmovable     Code = "unmovable"         // the kernel or the chip does not let this vector move
	CodeNoVectors     Code = "no-vectors"        // the CPU has no free interrupt vector
	CodeInvalid       Code = "invalid"           // the kernel refuses the value
	CodeNoMemory      Code = "no-memory"         //
	CodeUnsupported   Code = "unsupported"       // this kind cannot be written
	CodeNoEffect      Code = "no-effect"         // written, and the kernel shows another value
	CodeTrimmed       Code = "trimmed"           // applied without the CPUs the kernel removed
	CodeChanged       Code = "changed-meanwhile" // holds neither the written nor the former value
	CodeRival         Code = "rival"             // another program keeps writing it
	CodeUndo          Code = "undo-incomplete"   // the former value could not be written back
	CodeError         Code = "error"             // any other failure
)

// codeOf names an error of reading or writing a setting. The kernel has used
// two errnos for a vector that must not move: EPERM since Linux 6.12
// (eb29369fa543), EIO before; and EINVAL where the chip has no setter.
func codeOf(kind host.Kind, err error) Code {
	irq := kind == host.IRQAffinity
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENODEV), errors.Is(err, unix.ENXIO):
		return CodeGone
	case errors.Is(err, errors.ErrUnsupported):
		return CodeUnsupported
	case irq && (errors.Is(err, unix.EPERM) || errors.Is(err, unix.EIO)):
		return CodeUnmovable
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES), errors.Is(err, unix.EROFS):
		return CodeNotPrivileged
	case irq && errors.Is(err, unix.ENOSPC):
		return CodeNoVectors
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.EOVERFLOW), errors.Is(err, unix.ERANGE):
		return CodeInvalid
	case errors.Is(err, unix.ENOMEM):
		return CodeNoMemory
	}
	return CodeError
}

// changeError is what the record says of a failure.
func changeError(kind host.Kind, err error) *ChangeError {
	e := &ChangeError{Code: codeOf(kind, err), Detail: err.Error()}
	var errno unix.Errno
	if errors.As(err, &errno) {
		e.Errno = unix.ErrnoName(errno)
	}
	return e
}
