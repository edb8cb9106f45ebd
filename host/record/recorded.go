package record

import (
	"io/fs"
	"path"
	"strings"
	"syscall"
)

// errSuffix marks a file that holds, as text, the error that reading the file
// beside it gave: xps_cpus.err holds "No such file or directory" where the
// device has one TX queue. The file is there in the kernel, and so it is listed.
const errSuffix = ".err"

// kernelFile reports whether a name is in /proc or /sys: only there is a .err
// ours to read.
func kernelFile(name string) bool {
	return strings.HasPrefix(name, "proc/") || strings.HasPrefix(name, "sys/") || strings.HasPrefix(name, t1Dir+"/")
}

// recorded returns the error that reading name gave, nil if none was recorded.
func (t *tree) recorded(name string) error {
	if !kernelFile(name) {
		return nil
	}
	text, err := t.store.read(nil, name+errSuffix)
	if err != nil {
		return nil
	}
	return errorOf(string(text))
}

// unreadable is a file of which only the error is known.
func unreadable(name string) fs.FileInfo {
	return info{&node{name: path.Base(name), mode: 0o444}}
}

// notedError is an error of which only the text is known.
type notedError string

func (n notedError) Error() string { return string(n) }

// errorOf turns an error's text back into an error: the errno when the text is
// strerror's, else one that says the same.
func errorOf(text string) error {
	text = strings.TrimSpace(text)
	if e, ok := errnoOf(text); ok {
		return e
	}
	const most = 80
	if line, _, _ := strings.Cut(text, "\n"); line != "" {
		return notedError(line[:min(len(line), most)])
	}
	return notedError("reading it failed")
}

// errnoOf finds the errno of strerror's text.
func errnoOf(text string) (syscall.Errno, bool) {
	e, ok := errnos[strings.ToLower(text)]
	return e, ok
}

// errnos are the C library's texts in lower case, which is how Go spells them.
var errnos = func() map[string]syscall.Errno {
	m := map[string]syscall.Errno{
		// ENOTSUPP is not for user space and has no text, yet some drivers let
		// it out; musl and older tools shorten EOPNOTSUPP's.
		"unknown error 524": syscall.EOPNOTSUPP,
		"not supported":     syscall.EOPNOTSUPP,
		"i/o error":         syscall.EIO,
	}
	for e := syscall.Errno(1); e < 134; e++ {
		text := strings.ToLower(e.Error())
		if _, ok := m[text]; !ok {
			m[text] = e
		}
	}
	return m
}()
