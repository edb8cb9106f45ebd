// Package procfile turns the text of kernel files into numbers: one pass over
// the bytes, no allocation once the caller's buffers have grown.
//
// Where a file can be large there are two parsers with one grammar: Parse takes
// each row by the fixed width the kernel prints it in, and falls back to
// ParseScalar's plain reading for a row that is laid out otherwise. They give
// the same values and the same errors; the scalar one is the oracle of the
// other.
package procfile

import (
	"bytes"
	"errors"
	"fmt"
)

var (
	// ErrEmpty is a file without content. The kernel never prints one here; a
	// container runtime that masks the file does.
	ErrEmpty = errors.New("file is empty (containers mask it)")
	// ErrMalformed is text the kernel does not print.
	ErrMalformed = errors.New("malformed kernel text")
	// ErrTorn is a row of another set of CPUs than the header: a CPU went on or
	// off line between two reads of the same file. Reading it again helps.
	ErrTorn = errors.New("online CPUs changed while it was read")
)

// lineError says which line of text the byte at is in. Lines are counted here,
// where an error made it worthwhile, and not while parsing.
func lineError(text []byte, at int, err error, format string, args ...any) error {
	line := 1 + bytes.Count(text[:at], []byte{'\n'})
	return fmt.Errorf("line %d: %s: %w", line, fmt.Sprintf(format, args...), err)
}

// quote shortens what is shown of a bad input: an error is one line.
func quote(b []byte) string {
	const most = 32
	if len(b) > most {
		return fmt.Sprintf("%q...", b[:most])
	}
	return fmt.Sprintf("%q", b)
}
