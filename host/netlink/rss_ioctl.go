package netlink

import "slices"

// ethtoolGRSSH is ETHTOOL_GRSSH, which golang.org/x/sys/unix has not.
const (
	ethtoolGRSSH = 0x46
	rxfhSize     = 24 // struct ethtool_rxfh without its tail: cmd, context, sizes, hfunc, input_xfrm, reserved
)

// rssByIoctl reads the table by ETHTOOL_GRSSH, as Linux 6.1 needs: first the sizes, then the contents.
func (c *Conn) rssByIoctl(ifindex int, context uint32) (RSS, error) {
	const request = "ioctl ETHTOOL_GRSSH"
	r := RSS{Context: context}
	name, err := c.nameOf(ifindex)
	if err != nil {
		return r, wrap(err, request, ifindexName(ifindex))
	}
	var indir, key uint32
	ask := func() error {
		b, err := c.ioctl.zeroed(rxfhSize + int(indir)*4 + int(key))
		if err != nil {
			return err
		}
		ne.PutUint32(b, ethtoolGRSSH)
		ne.PutUint32(b[4:], context)
		ne.PutUint32(b[8:], indir)
		ne.PutUint32(b[12:], key)
		if err := c.ioctl.call(); err != nil {
			return err
		}
		wasIndir, wasKey := indir, key
		indir, key = ne.Uint32(b[8:]), ne.Uint32(b[12:])
		if wasIndir == indir && wasKey == key {
			return r.decodeRXFH(b)
		}
		return nil
	}
	if err = c.ioctl.do(c.timeout(), name, ask); err == nil && indir+key > 0 {
		err = c.ioctl.do(c.timeout(), name, ask)
	}
	return r, wrap(err, request, name)
}

// decodeRXFH reads struct ethtool_rxfh (include/uapi/linux/ethtool.h): the table, then the key.
func (r *RSS) decodeRXFH(b []byte) error {
	if len(b) < rxfhSize {
		return errMalformed
	}
	indir, key := int(ne.Uint32(b[8:])), int(ne.Uint32(b[12:]))
	tail := b[rxfhSize:]
	if indir > len(tail)/4 || key > len(tail)-4*indir {
		return errMalformed
	}
	r.HFunc = Count{uint32(b[16]), b[16] != 0}
	r.Indir = uint32s(tail[:4*indir])
	if key > 0 {
		r.HKey = slices.Clone(tail[4*indir : 4*indir+key])
	}
	return nil
}
