// Package plain keeps what other people wrote, device names and recorded files,
// from driving the reader's terminal.
package plain

import (
	"io"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// Writer returns a writer that writes text to w with every control character
// but newline and tab, and every byte that is not UTF-8, as an escape (\x1b).
// Each Write must hold whole characters.
func Writer(w io.Writer) io.Writer { return writer{w} }

type writer struct{ w io.Writer }

func (p writer) Write(b []byte) (int, error) {
	if isPlain(b) {
		return p.w.Write(b)
	}
	if _, err := io.WriteString(p.w, Text(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Text returns s as Writer writes it.
func Text(s string) string {
	var out []byte
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if harmless(r, n) {
			out = append(out, s[:n]...)
		} else {
			quoted := strconv.QuoteToASCII(s[:n])
			out = append(out, quoted[1:len(quoted)-1]...)
		}
		s = s[n:]
	}
	return string(out)
}

func isPlain(b []byte) bool {
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if !harmless(r, n) {
			return false
		}
		b = b[n:]
	}
	return true
}

// harmless: unicode.IsPrint leaves out control and format characters, among them
// those that turn the direction of text.
func harmless(r rune, size int) bool {
	return r == '\n' || r == '\t' || unicode.IsPrint(r) && (r != utf8.RuneError || size > 1)
}
