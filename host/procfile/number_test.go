package procfile

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestParseNumber(t *testing.T) {
	for _, tt := range []struct {
		text  string
		u     uint64
		i     int64
		uIs   error
		intIs error
	}{
		{"8\n", 8, 8, nil, nil},
		{" 0 \n", 0, 0, nil, nil},
		{"0042", 42, 42, nil, nil},
		{"-1\n", 0, -1, ErrMalformed, nil},
		{"9223372036854775808\n", 1 << 63, 0, nil, ErrMalformed},
		{"-9223372036854775808\n", 0, math.MinInt64, ErrMalformed, nil},
		{"-9223372036854775809\n", 0, 0, ErrMalformed, ErrMalformed},
		{"18446744073709551615", math.MaxUint64, 0, nil, ErrMalformed},
		{"18446744073709551616", 0, 0, ErrMalformed, ErrMalformed},
		{"", 0, 0, ErrEmpty, ErrEmpty},
		{"\n", 0, 0, ErrEmpty, ErrEmpty},
		{"-", 0, 0, ErrMalformed, ErrMalformed},
		{"--1", 0, 0, ErrMalformed, ErrMalformed},
		{"+1", 0, 0, ErrMalformed, ErrMalformed},
		{"0x8", 0, 0, ErrMalformed, ErrMalformed},
		{"1 2", 0, 0, ErrMalformed, ErrMalformed},
		{"8\x00", 0, 0, ErrMalformed, ErrMalformed},
	} {
		if u, err := ParseUint([]byte(tt.text)); u != tt.u || !errors.Is(err, tt.uIs) {
			t.Errorf("ParseUint(%q) is %d, %v; want %d, %v", tt.text, u, err, tt.u, tt.uIs)
		}
		if i, err := ParseInt([]byte(tt.text)); i != tt.i || !errors.Is(err, tt.intIs) {
			t.Errorf("ParseInt(%q) is %d, %v; want %d, %v", tt.text, i, err, tt.i, tt.intIs)
		}
	}
}

func TestParsePerCPUCount(t *testing.T) {
	page := strings.Repeat("1234567890,", 373)[:4095]
	for _, tt := range []struct {
		text string
		want []uint32
		is   error
	}{
		{"0,2,0,4294967295\n", []uint32{0, 2, 0, 4294967295}, nil},
		{"17", []uint32{17}, nil},
		{"\n", nil, ErrEmpty},
		{"", nil, ErrEmpty},
		{"1,,2\n", nil, ErrMalformed},
		{"1,\n", nil, ErrMalformed},
		{",1\n", nil, ErrMalformed},
		{"1 2\n", nil, ErrMalformed},
		{"1,4294967296\n", nil, ErrMalformed},
		{"1,x\n", nil, ErrMalformed},
		{page, nil, ErrMalformed},
	} {
		got, err := ParsePerCPUCount([]uint32{99}, []byte(tt.text))
		if !errors.Is(err, tt.is) || !slices.Equal(got, append([]uint32{99}, tt.want...)) {
			t.Errorf("%.40q: %v, %v, want %v, %v", tt.text, got, err, tt.want, tt.is)
		}
	}
	if _, err := ParsePerCPUCount(nil, []byte(page)); err == nil || !strings.Contains(err.Error(), "/proc/interrupts has it whole") {
		t.Errorf("cut page: %v", err)
	}
}
