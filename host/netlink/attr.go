package netlink

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// Count is a 32-bit value that may be absent.
type Count struct {
	N  uint32
	OK bool
}

// Counter is a 64-bit value that may be absent.
type Counter struct {
	N  uint64
	OK bool
}

// Limit is what is set and what the device allows.
type Limit struct {
	Current, Max Count
}

var ne = binary.NativeEndian

const attrTypeMask = ^uint16(unix.NLA_F_NESTED | unix.NLA_F_NET_BYTEORDER)

// walk calls f for each attribute of b (include/uapi/linux/netlink.h, struct nlattr). val aliases b.
// It allocates nothing, unlike a decoder object per message: a dump holds thousands.
func walk(b []byte, f func(typ uint16, val []byte) error) error {
	for len(b) > 0 {
		if len(b) < unix.SizeofNlAttr {
			return errMalformed
		}
		n := int(ne.Uint16(b))
		if n < unix.SizeofNlAttr || n > len(b) {
			return errMalformed
		}
		if err := f(ne.Uint16(b[2:])&attrTypeMask, b[unix.SizeofNlAttr:n]); err != nil {
			return err
		}
		b = b[min(align4(n), len(b)):]
	}
	return nil
}

func align4(n int) int { return (n + 3) &^ 3 }

// count reads a u8 or u32 attribute.
func count(v []byte) (Count, error) {
	switch len(v) {
	case 1:
		return Count{uint32(v[0]), true}, nil
	case 4:
		return Count{ne.Uint32(v), true}, nil
	}
	return Count{}, errMalformed
}

// counter reads an attribute of netlink's type "uint": 4 bytes where they suffice, else 8.
func counter(v []byte) (Counter, error) {
	switch len(v) {
	case 4:
		return Counter{uint64(ne.Uint32(v)), true}, nil
	case 8:
		return Counter{ne.Uint64(v), true}, nil
	}
	return Counter{}, errMalformed
}

// text reads a NUL-terminated string attribute.
func text(v []byte) string {
	for i, c := range v {
		if c == 0 {
			return string(v[:i])
		}
	}
	return string(v)
}
