package netlink

import (
	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// StringSet reads one set of strings (Strings*) by ETHTOOL_MSG_STRSET_GET (Linux 5.6), in the order of
// their numbers. A set the device does not have is EOPNOTSUPP. The kernel puts a set into one attribute
// of at most 64 KiB and fails, or cuts it, beyond: for the names of many statistics use Stats.
func (c *Conn) StringSet(ifindex int, set uint32) ([]string, error) {
	const request = "ethtool strset-get"
	s := strset{want: set}
	err := c.ask(request, unix.ETHTOOL_MSG_STRSET_GET, ifindex, func(ae *netlink.AttributeEncoder) {
		ae.Nested(unix.ETHTOOL_A_STRSET_STRINGSETS, func(sets *netlink.AttributeEncoder) error {
			sets.Nested(unix.ETHTOOL_A_STRINGSETS_STRINGSET, func(one *netlink.AttributeEncoder) error {
				one.Uint32(unix.ETHTOOL_A_STRINGSET_ID, set)
				return nil
			})
			return nil
		})
	}, s.decode)
	if err == nil && !s.found {
		err = wrap(unix.EOPNOTSUPP, request, ifindexName(ifindex))
	}
	return s.strings, err
}

type strset struct {
	want    uint32
	found   bool
	strings []string
}

func (s *strset) decode(attrs []byte) error {
	return walk(attrs, func(typ uint16, sets []byte) error {
		if typ != unix.ETHTOOL_A_STRSET_STRINGSETS {
			return nil
		}
		return walk(sets, func(_ uint16, set []byte) error { return s.set(set) })
	})
}

func (s *strset) set(b []byte) error {
	var id, n Count
	var list []byte
	err := walk(b, func(typ uint16, v []byte) (err error) {
		switch typ {
		case unix.ETHTOOL_A_STRINGSET_ID:
			id, err = count(v)
		case unix.ETHTOOL_A_STRINGSET_COUNT:
			n, err = count(v)
		case unix.ETHTOOL_A_STRINGSET_STRINGS:
			list = v
		}
		return err
	})
	if err != nil || !id.OK || id.N != s.want {
		return err
	}
	s.found = true
	err = walk(list, func(_ uint16, item []byte) error {
		var i Count
		var value string
		err := walk(item, func(typ uint16, v []byte) (err error) {
			switch typ {
			case unix.ETHTOOL_A_STRING_INDEX:
				i, err = count(v)
			case unix.ETHTOOL_A_STRING_VALUE:
				value = text(v)
			}
			return err
		})
		if err == nil && (!i.OK || int(i.N) != len(s.strings)) {
			err = errMalformed // the kernel lists them in order, without gaps
		}
		s.strings = append(s.strings, value)
		return err
	})
	if err == nil && n.OK && int(n.N) != len(s.strings) {
		err = errMalformed
	}
	return err
}
