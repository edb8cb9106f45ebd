package cpuset

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestListText(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"0", "0"},
		{"0-3,8\n", "0-3,8"},
		{"", ""},
		{"\n", ""},
		{"  (null)\n", ""}, // nohz_full up to 6.18
		{"3,1,2", "1-3"},
		{"0-15:1/2", "0,2,4,6,8,10,12,14"},
		{"0-9:3/4", "0-2,4-6,8-9"},
		{"31-32", "31-32"},
		{"0-1, 4", "0-1,4"},
		{"8191", "8191"},
	} {
		s, err := ParseList(c.text)
		if err != nil || s.String() != c.want {
			t.Errorf("ParseList(%q) = %q, %v; want %q", c.text, s, err, c.want)
		}
	}
	for _, bad := range []string{"none", "1-0", "-1", "a", "1-", "1,,2", "0-3:0/2", "0-3:3/2", "4:1/2", "all", "N", "70000", "0x3", "99999999999999999999", "+1"} {
		if s, err := ParseList(bad); err == nil {
			t.Errorf("ParseList(%q) = %q; want an error", bad, s)
		}
	}
}

func TestMaskText(t *testing.T) {
	for _, c := range []struct {
		text string
		cpus string
		n    int
		mask string
	}{
		{"0", "", 8, "00"},
		{"1", "0", 4, "1"},
		{"00000001,00000f00", "8-11,32", 64, "00000001,00000f00"},
		{"ffffffff,fffffffe", "1-63", 64, "ffffffff,fffffffe"},
		{"f,fffc0000", "18-35", 36, "f,fffc0000"},
		{"1,1", "0,32", 33, "1,00000001"},
		{"00080000,,,,0", "147", 160, "00080000,00000000,00000000,00000000,00000000"},
		{"0x00ffffff,,,0x0", "96-119", 128, "00ffffff,00000000,00000000,00000000"},
		{"0xFFFF,,0xFFFF", "0-15,64-79", 80, "ffff,00000000,0000ffff"},
		{",3", "0-1", 2, "3"},
		{",,", "", 1, "0"},
		{"80\n", "7", 8, "80"},
		{"80", "7", 36, "0,00000080"},
	} {
		s, err := ParseMask(c.text)
		if err != nil || s.String() != c.cpus {
			t.Errorf("ParseMask(%q) = %q, %v; want %q", c.text, s, err, c.cpus)
			continue
		}
		if got := s.Mask(c.n); got != c.mask {
			t.Errorf("Mask(%d) of %q = %q; want %q", c.n, s, got, c.mask)
		}
	}
	for _, bad := range []string{"", "\n", "0-1", "g", "000000003", "ffffc0000", "-1", "1 ,g", "0x123456789"} {
		if s, err := ParseMask(bad); err == nil {
			t.Errorf("ParseMask(%q) = %q; want an error", bad, s)
		}
	}
}

func TestSetOperations(t *testing.T) {
	a, b := Of(0, 1, 2, 40), Of(2, 3)
	for _, c := range []struct {
		name string
		got  Set
		want string
	}{
		{"union", a.Union(b), "0-3,40"},
		{"intersect", a.Intersect(b), "2"},
		{"minus", a.Minus(b), "0-1,40"},
		{"minus all", a.Minus(a), ""},
		{"empty union", Set{}.Union(b), "2-3"},
		{"range", Range(3, 5), "3-5"},
		{"backward range", Range(5, 3), ""},
	} {
		if c.got.String() != c.want {
			t.Errorf("%s = %q; want %q", c.name, c.got, c.want)
		}
	}
	if a.Minus(Of(40)) != Of(0, 1, 2) {
		t.Error("a set that lost its highest CPU differs from the same set made afresh")
	}
	if a.First() != 0 || a.Last() != 40 || a.Len() != 4 || (Set{}).First() != -1 || (Set{}).Last() != -1 {
		t.Error("First, Last or Len is wrong")
	}
	if !Of(1).SubsetOf(a) || Of(3).SubsetOf(a) || Of(41).SubsetOf(a) || !(Set{}).SubsetOf(Set{}) {
		t.Error("SubsetOf is wrong")
	}
	if !a.Overlaps(b) || a.Overlaps(Of(39, 41)) || a.Contains(-1) || a.Contains(4000) {
		t.Error("Overlaps or Contains is wrong")
	}
	if got := a.Slice(); !slices.Equal(got, []int{0, 1, 2, 40}) {
		t.Errorf("Slice = %v", got)
	}
}

func TestJSONIsListText(t *testing.T) {
	out, err := json.Marshal(struct{ A, B Set }{Of(0, 1, 5), Set{}})
	if err != nil || string(out) != `{"A":"0-1,5","B":""}` {
		t.Fatalf("%s, %v", out, err)
	}
	var back struct{ A Set }
	if err := json.Unmarshal([]byte(`{"A":"0-1,5"}`), &back); err != nil || back.A != Of(0, 1, 5) {
		t.Fatalf("%v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`{"A":"x"}`), &back); err == nil {
		t.Fatal("bad list text was taken")
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"0-3,8", "0-15:1/2", "f,fffc0000", "00080000,,,,0", "0x3", "(null)", "1-0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if set, err := ParseList(s); err == nil {
			if again, err := ParseList(set.String()); err != nil || again != set {
				t.Errorf("list %q -> %q -> %q, %v", s, set, again, err)
			}
		}
		if set, err := ParseMask(s); err == nil {
			text := set.Mask(0)
			if again, err := ParseMask(text); err != nil || again != set {
				t.Errorf("mask %q -> %q -> %q, %v", s, text, again, err)
			}
			if strings.Contains(text, ",,") {
				t.Errorf("mask %q has an empty word", text)
			}
		}
	})
}
