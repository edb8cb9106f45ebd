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
	`\{rx\}`, `(?P<dir>rx)`,
	`\{tx\}`, `(?P<dir>tx)`,
	`\{q\}`, `(?P<q>\d{1,5})`,
	`\{last\}`, `(?P<last>\d{1,5})`,
)

// matcher is a compiled template.
type matcher struct {
	re                      *regexp.Regexp
	dev, unit, dir, q, last int // submatch numbers, -1 where the template has none
}

type fields struct {
	dev, unit, dir string
	queue, last    int
}

func compile(template string) matcher {
	re := regexp.MustCompile("^" + parts.Replace(regexp.QuoteMeta(template)) + "$")
	at := re.SubexpIndex
	return matcher{re, at("dev"), at("unit"), at("dir"), at("q"), at("last")}
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
	// At most five digits: Atoi fails only where there is no number.
	number := func(i, otherwise int) int {
		if n, err := strconv.Atoi(group(i)); err == nil {
			return n
		}
		return otherwise
	}
	f := fields{dev: group(m.dev), unit: group(m.unit), dir: group(m.dir), queue: number(m.q, -1)}
	f.last = number(m.last, f.queue)
	return f, f.last >= f.queue
}
