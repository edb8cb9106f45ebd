package netlink

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"testing"
)

// btfEnums returns the enumerators of the running kernel, by name, from the BTF type section
// (Documentation/bpf/btf.rst). Only enum and enum64 are read; every other kind is stepped over.
func btfEnums(t testing.TB) map[string]int64 {
	t.Helper()
	raw, err := os.ReadFile("/sys/kernel/btf/vmlinux")
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("kernel without BTF")
	}
	if err != nil {
		t.Fatal(err)
	}
	m, err := parseBTFEnums(raw)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func parseBTFEnums(raw []byte) (map[string]int64, error) {
	ne := binary.NativeEndian
	if len(raw) < 24 || ne.Uint16(raw) != 0xeb9f {
		return nil, errors.New("not BTF")
	}
	hdr := int(ne.Uint32(raw[4:]))
	typeOff, typeLen := int(ne.Uint32(raw[8:])), int(ne.Uint32(raw[12:]))
	strOff, strLen := int(ne.Uint32(raw[16:])), int(ne.Uint32(raw[20:]))
	types, strs := raw[hdr+typeOff:][:typeLen], raw[hdr+strOff:][:strLen]
	name := func(off uint32) string {
		s := strs[off:]
		for i, c := range s {
			if c == 0 {
				return string(s[:i])
			}
		}
		return ""
	}
	m := map[string]int64{}
	for p := 0; p+12 <= len(types); {
		info := ne.Uint32(types[p+4:])
		vlen, kind := int(info&0xffff), info>>24&0x1f
		p += 12
		switch kind {
		case 2, 7, 8, 9, 10, 11, 12, 18: // ptr, fwd, typedef, volatile, const, restrict, func, type_tag
		case 1, 14, 17: // int, var, decl_tag
			p += 4
		case 3: // array
			p += 12
		case 4, 5, 15: // struct, union, datasec
			p += 12 * vlen
		case 6: // enum
			for range vlen {
				m[name(ne.Uint32(types[p:]))] = int64(int32(ne.Uint32(types[p+4:])))
				p += 8
			}
		case 13: // func_proto
			p += 8 * vlen
		case 16: // float
		case 19: // enum64
			for range vlen {
				m[name(ne.Uint32(types[p:]))] = int64(ne.Uint64(types[p+4:]))
				p += 12
			}
		default:
			return nil, fmt.Errorf("BTF kind %d at %d", kind, p-12)
		}
	}
	return m, nil
}

func TestPrintTmp(t *testing.T) {
	for k, v := range btfEnums(t) {
		fmt.Println(v, k)
	}
}
