package netlink

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Offsets in struct ethtool_rxnfc and the struct ethtool_rx_flow_spec within it, on 64-bit kernels
// (include/uapi/linux/ethtool.h).
const (
	rxnfcSize      = 192
	rxnfcFlowType  = 4
	rxnfcData      = 8
	rxnfcCookie    = 16 + 152
	rxnfcLocation  = 16 + 160
	rxnfcRuleCount = 184
	rxnfcRuleLocs  = 188
)

type rxnfc struct {
	cmd, flowType, location uint32
}

// rxnfc makes one request without a list of rules; f reads the answer.
func (c *Conn) rxnfc(name string, q rxnfc, f func(b []byte)) error {
	return c.ioctl.do(c.timeout(), name, func() error {
		b, err := c.ioctl.zeroed(rxnfcSize)
		if err != nil {
			return err
		}
		ne.PutUint32(b, q.cmd)
		ne.PutUint32(b[rxnfcFlowType:], q.flowType)
		ne.PutUint32(b[rxnfcLocation:], q.location)
		if err := c.ioctl.call(); err != nil {
			return err
		}
		f(b)
		return nil
	})
}

// RXRings is the number of RX rings RSS and flow rules can use (ETHTOOL_GRXRINGS).
func (c *Conn) RXRings(name string) (uint32, error) {
	var n uint32
	err := c.rxnfc(name, rxnfc{cmd: unix.ETHTOOL_GRXRINGS}, func(b []byte) { n = uint32(ne.Uint64(b[rxnfcData:])) })
	return n, wrap(err, "ioctl ETHTOOL_GRXRINGS", name)
}

// RXRuleCount is the number of ntuple rules (ETHTOOL_GRXCLSRLCNT).
func (c *Conn) RXRuleCount(name string) (uint32, error) {
	var n uint32
	err := c.rxnfc(name, rxnfc{cmd: unix.ETHTOOL_GRXCLSRLCNT}, func(b []byte) { n = ne.Uint32(b[rxnfcRuleCount:]) })
	return n, wrap(err, "ioctl ETHTOOL_GRXCLSRLCNT", name)
}

// RXDrop is the ring cookie of a rule that drops (RX_CLS_FLOW_DISC).
const RXDrop = ^uint64(0)

// CookieRing splits a ring cookie: the RX ring, and the virtual function it belongs to, counted from
// 1; 0 is the device itself (ethtool_get_flow_spec_ring and _ring_vf). It means nothing for RXDrop.
func CookieRing(cookie uint64) (ring uint32, vf uint8) { return uint32(cookie), uint8(cookie >> 32) }

// RXRules returns the ring cookie of each ntuple rule, in the order of their locations in the device.
// A rule removed in between is left out.
func (c *Conn) RXRules(name string) ([]uint64, error) {
	locations, err := c.ruleLocations(name)
	if err != nil {
		return nil, wrap(err, "ioctl ETHTOOL_GRXCLSRLALL", name)
	}
	cookies := make([]uint64, 0, len(locations))
	for _, l := range locations {
		err := c.rxnfc(name, rxnfc{cmd: unix.ETHTOOL_GRXCLSRULE, location: l}, func(b []byte) {
			cookies = append(cookies, ne.Uint64(b[rxnfcCookie:]))
		})
		if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EINVAL) { // drivers say either
			continue
		}
		if err != nil {
			return nil, wrap(err, "ioctl ETHTOOL_GRXCLSRULE", name)
		}
	}
	return cookies, nil
}

// ruleTries is how often the list is asked for again when rules were added after they were counted.
const ruleTries = 4

func (c *Conn) ruleLocations(name string) ([]uint32, error) {
	var locations []uint32
	var err error
	for range ruleTries {
		var n uint32
		if n, err = c.RXRuleCount(name); err != nil || n == 0 {
			return nil, err
		}
		err = c.ioctl.do(c.timeout(), name, func() error {
			b, err := c.ioctl.zeroed(rxnfcRuleLocs + 4*int(n))
			if err != nil {
				return err
			}
			ne.PutUint32(b, unix.ETHTOOL_GRXCLSRLALL)
			ne.PutUint32(b[rxnfcRuleCount:], n)
			if err := c.ioctl.call(); err != nil {
				return err
			}
			got := min(ne.Uint32(b[rxnfcRuleCount:]), n)
			locations = uint32s(b[rxnfcRuleLocs:][:4*got])
			return nil
		})
		if !errors.Is(err, unix.EMSGSIZE) {
			break
		}
	}
	return locations, err
}
