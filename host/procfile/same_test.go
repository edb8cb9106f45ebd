package procfile

import (
	"errors"
	"slices"
	"testing"
)

// kind is the sentinel an error wraps: the two paths must agree on it.
func kind(err error) string {
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, ErrEmpty):
		return "empty"
	case errors.Is(err, ErrTorn):
		return "torn"
	case errors.Is(err, ErrMalformed):
		return "malformed"
	}
	return "unknown: " + err.Error()
}

// sameErrors fails unless both paths end alike, to the word.
func sameErrors(t *testing.T, text []byte, fast, scalar error) {
	t.Helper()
	if kind(fast) != kind(scalar) || fast != nil && fast.Error() != scalar.Error() {
		t.Fatalf("fast: %v\nscalar: %v\nof %q", fast, scalar, text)
	}
}

// sameInterrupts parses text into a by the fast path and anew by the scalar one. a is
// used again and again, so what a reading leaves behind is tested too.
func sameInterrupts(t *testing.T, text []byte, a *Interrupts) {
	t.Helper()
	b := new(Interrupts)
	sameErrors(t, text, a.Parse(text), b.ParseScalar(text))
	if !slices.Equal(a.CPUs, b.CPUs) {
		t.Fatalf("CPUs: fast %v, scalar %v, of %q", a.CPUs, b.CPUs, text)
	}
	if !slices.Equal(a.Rows, b.Rows) {
		t.Fatalf("rows: fast %v, scalar %v, of %q", a.Rows, b.Rows, text)
	}
	if !slices.Equal(a.Cells, b.Cells) {
		t.Fatalf("cells: fast %v, scalar %v, of %q", a.Cells, b.Cells, text)
	}
	if len(a.Cells) != len(a.Rows)*len(a.CPUs) {
		t.Fatalf("%d cells for %d rows of %d CPUs", len(a.Cells), len(a.Rows), len(a.CPUs))
	}
	for r := range a.Rows {
		if len(a.Label(r)) == 0 || len(a.Row(r)) != len(a.CPUs) {
			t.Fatalf("row %d: label %q, %d cells", r, a.Label(r), len(a.Row(r)))
		}
		SplitTail(string(a.Tail(r)))
	}
}

func sameSoftirqs(t *testing.T, text []byte, a *Softirqs) {
	t.Helper()
	b := new(Softirqs)
	sameErrors(t, text, a.Parse(text), b.ParseScalar(text))
	if !slices.Equal(a.CPUs, b.CPUs) || !slices.Equal(a.names, b.names) || !slices.Equal(a.Cells, b.Cells) {
		t.Fatalf("fast %v\nscalar %v\nof %q", a, b, text)
	}
	for r := range a.Len() {
		if a.Row(string(a.Name(r))) == nil {
			t.Fatalf("row %d %q is not found by its name", r, a.Name(r))
		}
	}
}

func sameSoftnet(t *testing.T, text []byte) {
	t.Helper()
	a, err := ParseSoftnet(nil, text)
	b, oracle := ParseSoftnetScalar(nil, text)
	sameErrors(t, text, err, oracle)
	if !slices.Equal(a, b) {
		t.Fatalf("fast %v\nscalar %v\nof %q", a, b, text)
	}
}
