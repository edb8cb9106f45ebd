package netlink

import (
	"slices"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// RSS is one RSS context. Context 0 is the device's default one.
type RSS struct {
	Context   uint32
	HFunc     Count               // ETH_RSS_HASH_* bits; HashFunction spells it
	Indir     []uint32            // the indirection table: RX ring of each bucket; nil: the device gives none
	HKey      []byte              // nil: none given
	InputXfrm Count               // RXH_XFRM_* bits: 1 = symmetric-xor, 2 = symmetric-or-xor
	FlowHash  map[FlowType]string // e.g. "udp4": "sdfn"; nil before Linux 6.17 (see RXFlowHash)
}

// HashFunction is "toeplitz", "xor", "crc32", or "" when unknown.
func (r RSS) HashFunction() string {
	if !r.HFunc.OK {
		return ""
	}
	switch r.HFunc.N {
	case 1 << 0:
		return "toeplitz"
	case 1 << 1:
		return "xor"
	case 1 << 2:
		return "crc32"
	}
	return ""
}

// RSS reads ETHTOOL_MSG_RSS_GET (Linux 6.2), and on older kernels the ioctl ETHTOOL_GRSSH. A device
// without RSS answers EOPNOTSUPP, or without Indir: the table, not the answer, is what tells.
func (c *Conn) RSS(ifindex int, context uint32) (RSS, error) {
	const request = "ethtool rss-get"
	if !c.HasOp(unix.ETHTOOL_GENL_NAME, unix.ETHTOOL_MSG_RSS_GET) {
		return c.rssByIoctl(ifindex, context)
	}
	r := RSS{Context: context}
	err := c.ask(request, unix.ETHTOOL_MSG_RSS_GET, ifindex, func(ae *netlink.AttributeEncoder) {
		if context != 0 {
			ae.Uint32(aRSSContext, context)
		}
	}, r.decode)
	return r, err
}

// RSSContexts lists the additional contexts, without 0, sorted. Kernels before 6.12 can't list them:
// EOPNOTSUPP. Other kernels list those of drivers that let the kernel keep them.
func (c *Conn) RSSContexts(ifindex int) ([]uint32, error) {
	var ids []uint32
	attrs, err := deviceHeader(ifindex, nil)
	if err == nil {
		err = c.ethtool.dump(c.timeout(), unix.ETHTOOL_MSG_RSS_GET, attrs,
			func() { ids = nil },
			func(attrs []byte) error {
				var r RSS
				err := r.decode(attrs)
				if r.Context != 0 {
					ids = append(ids, r.Context)
				}
				return err
			})
	}
	if err != nil {
		return nil, wrap(err, "ethtool rss-get dump", ifindexName(ifindex))
	}
	slices.Sort(ids)
	return ids, nil
}

func (r *RSS) decode(attrs []byte) error {
	return walk(attrs, func(typ uint16, v []byte) (err error) {
		switch typ {
		case aRSSContext:
			var n Count
			n, err = count(v)
			r.Context = n.N
		case aRSSHFunc:
			r.HFunc, err = count(v)
		case aRSSIndir:
			if len(v)%4 != 0 {
				return errMalformed
			}
			r.Indir = uint32s(v)
		case aRSSHKey:
			r.HKey = slices.Clone(v)
		case aRSSInputXfrm:
			r.InputXfrm, err = count(v)
		case aRSSFlowHash:
			r.FlowHash = map[FlowType]string{}
			return walk(v, func(typ uint16, v []byte) error {
				bits, err := counter(v)
				if int(typ) < len(flowAttrs) && flowAttrs[typ] != "" {
					r.FlowHash[flowAttrs[typ]] = hashFields(bits.N)
				}
				return err
			})
		}
		return err
	})
}

func uint32s(b []byte) []uint32 {
	if len(b) == 0 {
		return nil
	}
	u := make([]uint32, len(b)/4)
	for i := range u {
		u[i] = ne.Uint32(b[4*i:])
	}
	return u
}
