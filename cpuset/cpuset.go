// Package cpuset holds sets of CPU ids as small immutable values, and reads and
// writes the two texts the kernel has for them: list ("0-3,8") and mask
// ("f,fffc0000").
package cpuset

import (
	"iter"
	"math/bits"
)

// Max is one more than the highest CPU id a Set can hold. NR_CPUS of Linux 7.2
// is at most 8192; the bound keeps hostile text from asking for gigabytes.
const Max = 1 << 16

// Set is a set of CPU ids. The zero value is the empty set. Sets are immutable
// and comparable: a == b exactly if they hold the same CPUs.
type Set struct {
	// bitmap, little endian, without trailing zero bytes, so that == is set
	// equality and a Set is a map key.
	bits string
}

// Of returns the set of the given CPU ids. It panics on an id outside [0, Max),
// which no kernel text can yield.
func Of(cpus ...int) Set {
	var b Builder
	for _, c := range cpus {
		b.Add(c)
	}
	return b.Set()
}

// Range returns the set first..last, empty if last < first.
func Range(first, last int) Set {
	var b Builder
	b.AddRange(first, last)
	return b.Set()
}

// Builder collects CPU ids for a Set. The zero value is ready to use.
type Builder struct{ b []byte }

// Add puts one CPU id in. It panics on an id outside [0, Max).
func (b *Builder) Add(cpu int) {
	if cpu < 0 || cpu >= Max {
		panic("cpuset: CPU id out of range")
	}
	for len(b.b) <= cpu>>3 {
		b.b = append(b.b, 0)
	}
	b.b[cpu>>3] |= 1 << (cpu & 7)
}

// AddRange puts first..last in.
func (b *Builder) AddRange(first, last int) {
	for c := first; c <= last; c++ {
		b.Add(c)
	}
}

// Set returns what was added so far.
func (b *Builder) Set() Set { return trimmed(b.b) }

func trimmed(b []byte) Set {
	for len(b) > 0 && b[len(b)-1] == 0 {
		b = b[:len(b)-1]
	}
	return Set{string(b)}
}

// Contains reports whether the CPU is in the set.
func (s Set) Contains(cpu int) bool {
	return cpu >= 0 && cpu>>3 < len(s.bits) && s.bits[cpu>>3]&(1<<(cpu&7)) != 0
}

// IsEmpty reports whether the set holds no CPU.
func (s Set) IsEmpty() bool { return s.bits == "" }

// Len returns the number of CPUs in the set.
func (s Set) Len() int {
	n := 0
	for i := range len(s.bits) {
		n += bits.OnesCount8(s.bits[i])
	}
	return n
}

// First returns the lowest CPU id, or -1 for the empty set.
func (s Set) First() int {
	for i := range len(s.bits) {
		if b := s.bits[i]; b != 0 {
			return i<<3 + bits.TrailingZeros8(b)
		}
	}
	return -1
}

// Last returns the highest CPU id, or -1 for the empty set.
func (s Set) Last() int {
	if s.bits == "" {
		return -1
	}
	n := len(s.bits) - 1
	return n<<3 + bits.Len8(s.bits[n]) - 1
}

// All yields the CPU ids in ascending order.
func (s Set) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range len(s.bits) {
			for b := s.bits[i]; b != 0; b &= b - 1 {
				if !yield(i<<3 + bits.TrailingZeros8(b)) {
					return
				}
			}
		}
	}
}

// Slice returns the CPU ids in ascending order; never nil, so that JSON shows
// an empty set as [].
func (s Set) Slice() []int {
	out := make([]int, 0, s.Len())
	for c := range s.All() {
		out = append(out, c)
	}
	return out
}

// Union returns the CPUs in s or t.
func (s Set) Union(t Set) Set {
	if s.bits == "" || s == t {
		return t
	}
	if t.bits == "" {
		return s
	}
	if len(s.bits) < len(t.bits) {
		s, t = t, s
	}
	b := []byte(s.bits)
	for i := range len(t.bits) {
		b[i] |= t.bits[i]
	}
	return Set{string(b)}
}

// Intersect returns the CPUs in both s and t.
func (s Set) Intersect(t Set) Set {
	n := min(len(s.bits), len(t.bits))
	b := make([]byte, n)
	for i := range n {
		b[i] = s.bits[i] & t.bits[i]
	}
	return trimmed(b)
}

// Minus returns the CPUs in s that are not in t.
func (s Set) Minus(t Set) Set {
	b := []byte(s.bits)
	for i := range min(len(b), len(t.bits)) {
		b[i] &^= t.bits[i]
	}
	return trimmed(b)
}

// SubsetOf reports whether every CPU of s is in t.
func (s Set) SubsetOf(t Set) bool {
	if len(s.bits) > len(t.bits) {
		return false
	}
	for i := range len(s.bits) {
		if s.bits[i]&^t.bits[i] != 0 {
			return false
		}
	}
	return true
}

// Overlaps reports whether s and t share a CPU.
func (s Set) Overlaps(t Set) bool {
	for i := range min(len(s.bits), len(t.bits)) {
		if s.bits[i]&t.bits[i] != 0 {
			return true
		}
	}
	return false
}
