package advisor

import (
	"fmt"
	"strings"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
)

const shellHead = `#!/bin/sh
# Writes a netsteer plan. Each failing write is reported; the exit status is 1
# if any failed. ROOT, default empty, goes in front of every path.
# profile %s, plan %s
`

const shellPut = `
set -u
ROOT=${ROOT:-}
failed=0

put() {
	if ! printf '%s\n' "$1" >"$ROOT$2"; then
		printf 'netsteer: %s not written to %s\n' "$1" "$ROOT$2" >&2
		failed=1
	fi
}
`

// Shell renders changes as a POSIX shell script that writes what an apply of
// them would: CPU lists to smp_affinity_list, masks of nrCPUs (nr_cpu_ids) bits
// in 32-bit words to rps_cpus and xps_cpus. A change that no file takes is a
// comment.
func Shell(a *Advice, changes []Change, nrCPUs int) string {
	var body strings.Builder
	puts := 0
	for i := range changes {
		c := &changes[i]
		fmt.Fprintf(&body, "\n# %s %s: %s\n", comment(c.ID), comment(c.name()), comment(c.Reason))
		writes := c.writes(nrCPUs)
		if len(writes) == 0 {
			fmt.Fprintf(&body, "# not a file (%s): use netsteer apply\n", comment(c.Target))
		}
		for _, w := range writes {
			fmt.Fprintf(&body, "put %s %s\n", quote(w.value), quote(w.path))
			puts++
		}
	}
	head := fmt.Sprintf(shellHead, comment(a.Profile), comment(a.Fingerprint))
	if puts == 0 {
		return head + "# nothing to write\n" + body.String()
	}
	return head + shellPut + body.String() + "\nexit \"$failed\"\n"
}

type fileWrite struct{ path, value string }

// writes are the files a change goes to and the text each takes.
func (c *Change) writes(nrCPUs int) []fileWrite {
	if !strings.HasPrefix(c.Target, "/") {
		return nil
	}
	switch c.Kind {
	case host.RPSCPUs, host.XPSCPUs:
		set, err := cpuset.ParseList(c.Proposed)
		if err != nil {
			return nil
		}
		return []fileWrite{{c.Target, set.Mask(nrCPUs)}}
	case host.NetdevBudget:
		var list []fileWrite
		for word := range strings.FieldsSeq(c.Proposed) {
			name, value, _ := strings.Cut(word, "=")
			path := c.Target
			if name == "usecs" {
				path += "_usecs"
			}
			list = append(list, fileWrite{path, value})
		}
		return list
	}
	return []fileWrite{{c.Target, c.Proposed}}
}

// quote makes one word of any text.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// comment keeps a text on its line.
func comment(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}
