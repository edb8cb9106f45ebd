package cpuset

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseList reads list text as bitmap_parselist() prints and takes it
// (lib/bitmap-str.c, Linux 7.2): "0-3,8", strides "0-15:1/2", blanks and
// a trailing newline around. Empty text and the kernel's "(null)" (nohz_full
// when it is off, up to 6.18) are the empty set. "all" and "N" depend on the
// reading kernel's size and are refused.
func ParseList(text string) (Set, error) {
	text = strings.TrimSpace(text)
	if text == "" || text == "(null)" {
		return Set{}, nil
	}
	var b Builder
	for part := range strings.SplitSeq(text, ",") {
		if err := parseRange(&b, strings.TrimSpace(part)); err != nil {
			return Set{}, fmt.Errorf("CPU list %q: %w", clip(text), err)
		}
	}
	return b.Set(), nil
}

func parseRange(b *Builder, part string) error {
	span, stride, strided := strings.Cut(part, ":")
	from, to, isRange := strings.Cut(span, "-")
	first, err := parseID(from)
	if err != nil {
		return err
	}
	last := first
	if isRange {
		if last, err = parseID(to); err != nil {
			return err
		}
	}
	if last < first {
		return fmt.Errorf("range %q runs backwards", part)
	}
	if !strided {
		b.AddRange(first, last)
		return nil
	}
	usedText, groupText, ok := strings.Cut(stride, "/")
	used, err1 := parseID(usedText)
	group, err2 := parseID(groupText)
	if !ok || err1 != nil || err2 != nil || group == 0 || used == 0 || used > group || !isRange {
		return fmt.Errorf("stride %q is not first-last:used/group", part)
	}
	for c := first; c <= last; c += group {
		b.AddRange(c, min(c+used-1, last))
	}
	return nil
}

func parseID(s string) (int, error) {
	if s == "" || s[0] < '0' || s[0] > '9' {
		return 0, fmt.Errorf("%q is not a CPU number", s)
	}
	n, err := strconv.Atoi(s)
	if err != nil || n >= Max {
		return 0, fmt.Errorf("%q is not a CPU number below %d", s, Max)
	}
	return n, nil
}

// clip keeps a hostile text from filling an error line.
func clip(s string) string {
	if len(s) > 60 {
		return s[:60] + "..."
	}
	return s
}

// String returns list text as bitmap_print_list prints it: "0-3,8", and "" for
// the empty set.
func (s Set) String() string { return string(s.AppendList(nil)) }

// AppendList appends the list text of s to dst.
func (s Set) AppendList(dst []byte) []byte {
	start, first, prev := len(dst), -1, -1
	flush := func() {
		if first < 0 {
			return
		}
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, int64(first), 10)
		if prev > first {
			dst = append(dst, '-')
			dst = strconv.AppendInt(dst, int64(prev), 10)
		}
	}
	for c := range s.All() {
		if first >= 0 && c == prev+1 {
			prev = c
			continue
		}
		flush()
		first, prev = c, c
	}
	flush()
	return dst
}

// MarshalText writes list text, the form of CPU sets in all of netsteer's JSON.
func (s Set) MarshalText() ([]byte, error) { return s.AppendList(nil), nil }

// UnmarshalText reads list text.
func (s *Set) UnmarshalText(text []byte) error {
	v, err := ParseList(string(text))
	if err == nil {
		*s = v
	}
	return err
}
