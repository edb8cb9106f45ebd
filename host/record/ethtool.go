package record

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"strconv"
	"strings"
	"syscall"
	"unicode"

	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/scan"
)

// errNotEthtool is text that ethtool(8) does not print.
var errNotEthtool = errors.New("not the text that ethtool prints")

// lines yields a text's lines without line ends.
func lines(text []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.Lines(string(text)) {
			if !yield(strings.TrimRight(line, "\r\n")) {
				return
			}
		}
	}
}

// field splits "  name:   value" and trims both.
func field(line string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(line, ":")
	return strings.TrimSpace(name), strings.TrimSpace(value), ok
}

// number reads a decimal; false for "n/a" and anything else.
func number(s string) (uint64, bool) {
	n, err := strconv.ParseUint(s, 10, 64)
	return n, err == nil
}

// refusal is the error of a text in which nothing was found: what ethtool says
// was the matter, or that it is not ethtool's text. The forms are those of
// ethtool 2.6 (ioctl; perror's text may follow on a line of its own) to 6.11
// (netlink).
func refusal(text []byte) error {
	if strings.TrimSpace(string(text)) == "" {
		return fmt.Errorf("empty output: %w", scan.ErrNotRecorded)
	}
	for line := range lines(text) {
		lower := strings.ToLower(line)
		switch {
		case strings.Contains(lower, "no stats available"),
			strings.Contains(lower, "bad command line argument"),
			strings.Contains(lower, "command not found"):
			return fmt.Errorf("%s: %w", brief(line), errors.ErrUnsupported)
		}
		for rest, ok := line, true; ok; _, rest, ok = strings.Cut(rest, ":") {
			if e, known := errnoOf(strings.TrimSpace(rest)); known {
				return fmt.Errorf("%s: %w", brief(line), contract(e))
			}
		}
	}
	return errNotEthtool
}

// contract puts ENODEV under fs.ErrNotExist, as scan.NICs has it.
func contract(err error) error {
	if errors.Is(err, syscall.ENODEV) {
		return fmt.Errorf("%w: %w", err, fs.ErrNotExist)
	}
	return err
}

// brief is a line of text fit for an error.
func brief(line string) string {
	line = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, line)
	const most = 80
	line = strings.TrimLeft(strings.TrimSpace(line), ": ")
	return line[:min(len(line), most)]
}

// pairs reads the two halves of ethtool -l and -g. A maximum of 0 is how the
// ioctl, and ethtool before 5.8, say that there is no such thing; netlink leaves
// it out, and ethtool then prints n/a.
func pairs(text []byte) map[string]host.Pair {
	found := map[string]host.Pair{}
	current := false
	for line := range lines(text) {
		if strings.HasPrefix(line, "Pre-set maximums") {
			current = false
			continue
		}
		if strings.HasPrefix(line, "Current hardware settings") {
			current = true
			continue
		}
		name, value, ok := field(line)
		n, known := number(value)
		if !ok || !known {
			continue
		}
		switch p := found[name]; {
		case !current && n > 0:
			found[name] = host.Pair{Max: host.Known(n)}
		case current && p.Max.OK:
			p.Current = host.Known(n)
			found[name] = p
		}
	}
	return found
}
