package plain

import (
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"eth0\tup\n", "eth0\tup\n"},
		{"5.14\x1b]0;PWN\x07", `5.14\x1b]0;PWN\a`},
		{"x\xff", `x\xff`},
		{"größe €", "größe €"},
		{"a\u202eb", `a\u202eb`}, // right-to-left override
		{"a\rb", `a\rb`},
		{"\ufffd", "\ufffd"}, // a real replacement character
	} {
		var sb strings.Builder
		n, err := Writer(&sb).Write([]byte(c.in))
		if sb.String() != c.want || n != len(c.in) || err != nil || Text(c.in) != c.want {
			t.Errorf("%q: %q, %d, %v; want %q", c.in, sb.String(), n, err, c.want)
		}
	}
}
