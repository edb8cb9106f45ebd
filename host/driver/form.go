package driver

import (
	"regexp"
	"strconv"
	"strings"
)

// What each part of a template may be. A netdev name has up to 15 bytes without
// blank, slash or colon (dev_valid_name, net/core/dev.c); regexp prefers the
// longest, so that the queue number is read from the right.
var parts = strings.NewReplacer(
	`\{dev\}`, `(?P<dev>[^\s/:]{1,15})`,
	`\{unit\}`, `(?P<unit>[^\s,]+?)`,
	`\{dir\}`, `(?P<dir>rx|tx)`,
	`\{q\}`, `(?P<q>\d{1,5})`,
)

// matcher is a compiled template.
type matcher struct {
	re                *regexp.Regexp
	dev, unit, dir, q int // submatch numbers, -1 where the template has none
}

type fields struct {
	dev, unit, dir string
	queue          int
}

func compile(template string) matcher {
	re := regexp.MustCompile("^" + parts.Replace(regexp.QuoteMeta(template)) + "$")
	return matcher{re, re.SubexpIndex("dev"), re.SubexpIndex("unit"), re.SubexpIndex("dir"), re.SubexpIndex("q")}
}

func (m matcher) match(s string) (fields, bool) {
	at := m.re.FindStringSubmatchIndex(s)
	if at == nil {
		return fields{}, false
	}
	group := func(i int) string {
		if i < 0 {
			return ""
		}
		return s[at[2*i]:at[2*i+1]]
	}
	f := fields{dev: group(m.dev), unit: group(m.unit), dir: group(m.dir), queue: -1}
	if m.q >= 0 {
		// At most five digits: Atoi cannot fail.
		f.queue, _ = strconv.Atoi(group(m.q))
	}
	return f, true
}
