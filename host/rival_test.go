package host

import "testing"

func TestRivalUndoes(t *testing.T) {
	igb := &Device{Name: "eth0", Driver: "igb"}
	unknown := &Device{Name: "eth1"}
	v := &Vector{IRQ: 43}
	for _, c := range []struct {
		name  string
		rival Rival
		d     *Device
		want  bool
	}{
		{"runs and bans nothing", Rival{Active: true}, igb, true},
		{"does not run", Rival{}, igb, false},
		{"bans the vector", Rival{Active: true, BannedIRQs: []int{42, 43}}, igb, false},
		{"bans another", Rival{Active: true, BannedIRQs: []int{45}}, igb, true},
		{"bans the driver", Rival{Active: true, BannedModules: []string{"igb"}}, igb, false},
		{"bans an empty name", Rival{Active: true, BannedModules: []string{""}}, unknown, true},
		{"writes once", Rival{Active: true, Once: true}, igb, false},
	} {
		if got := c.rival.Undoes(c.d, v); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
