package netlink

import (
	"errors"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// dialFamily opens a socket and looks the family up. An absent family leaves id 0. The lookup is our
// own because genetlink.Family holds no operations, by which HasOp tells a kernel's abilities.
func dialFamily(name string) (*sock, error) {
	conn, err := dialGenetlink(0)
	if err != nil {
		return nil, err
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	s := &sock{conn: conn, raw: raw, version: 1, lock: newLock(), buf: make([]byte, 64<<10), name: name}
	attrs, err := netlink.MarshalAttributes([]netlink.Attribute{{
		Type: unix.CTRL_ATTR_FAMILY_NAME,
		Data: append([]byte(name), 0),
	}})
	if err == nil {
		err = s.exchange(DefaultTimeout, unix.GENL_ID_CTRL, unix.CTRL_CMD_GETFAMILY,
			netlink.Request|netlink.Acknowledge, attrs, s.parseFamily)
	}
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return nil, errors.Join(wrap(err, "nlctrl getfamily "+name, ""), conn.Close())
	}
	return s, nil
}

// parseFamily reads the answer to CTRL_CMD_GETFAMILY (include/uapi/linux/genetlink.h).
func (s *sock) parseFamily(attrs []byte) error {
	return walk(attrs, func(typ uint16, v []byte) error {
		switch typ {
		case unix.CTRL_ATTR_FAMILY_ID:
			if len(v) != 2 {
				return errMalformed
			}
			s.id = ne.Uint16(v)
		case unix.CTRL_ATTR_VERSION:
			n, err := count(v)
			if err != nil {
				return err
			}
			s.version = uint8(n.N)
		case unix.CTRL_ATTR_OPS:
			s.ops = map[uint8]uint32{}
			return walk(v, func(_ uint16, op []byte) error {
				id, flags, err := pair(op, unix.CTRL_ATTR_OP_ID, unix.CTRL_ATTR_OP_FLAGS)
				s.ops[uint8(id)] = flags
				return err
			})
		case unix.CTRL_ATTR_MCAST_GROUPS:
			s.groups = map[string]uint32{}
			return walk(v, func(_ uint16, group []byte) error {
				var name string
				var id Count
				err := walk(group, func(typ uint16, v []byte) (err error) {
					switch typ {
					case unix.CTRL_ATTR_MCAST_GRP_NAME:
						name = text(v)
					case unix.CTRL_ATTR_MCAST_GRP_ID:
						id, err = count(v)
					}
					return err
				})
				s.groups[name] = id.N
				return err
			})
		}
		return nil
	})
}

// pair reads two u32 attributes of a nest.
func pair(nest []byte, a, b uint16) (x, y uint32, err error) {
	err = walk(nest, func(typ uint16, v []byte) error {
		if typ != a && typ != b {
			return nil
		}
		n, err := count(v)
		if typ == a {
			x = n.N
		} else {
			y = n.N
		}
		return err
	})
	return x, y, err
}
