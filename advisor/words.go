package advisor

import (
	"slices"
	"strconv"
	"strings"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
)

// queues says "queue 3" or "queues 0-3".
func queues(list []int) string {
	sorted := slices.Compact(slices.Sorted(slices.Values(list)))
	if len(sorted) == 1 {
		return "queue " + strconv.Itoa(sorted[0])
	}
	return "queues " + numbers(sorted)
}

// numbers writes queue numbers, and IRQ numbers as far as they fit, as the
// kernel writes lists.
func numbers(list []int) string {
	var b cpuset.Builder
	for _, n := range list {
		b.Add(min(n, cpuset.Max-1))
	}
	return b.Set().String()
}

func number(n int) string {
	if n == 0 {
		return "none"
	}
	return strconv.Itoa(n)
}

func orNone(s cpuset.Set) string {
	if s.IsEmpty() {
		return "unknown"
	}
	return s.String()
}

// lower makes a title fit for the middle of a line; "RPS" stays.
func lower(s string) string {
	if len(s) > 1 && s[1] >= 'A' && s[1] <= 'Z' {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

func masks(vectors []*host.Vector) string {
	var words []string
	for _, v := range vectors {
		text := "unknown"
		if v.Affinity.OK {
			text = v.Affinity.Set.String()
		}
		if !slices.Contains(words, text) {
			words = append(words, text)
		}
	}
	return strings.Join(words, " and ")
}
