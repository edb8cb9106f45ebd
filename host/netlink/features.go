package netlink

import "golang.org/x/sys/unix"

// Feature is one line of `ethtool -k`. HW: the device can change it. NoChange: nobody can.
type Feature struct {
	Active, Wanted, HW, NoChange bool
}

// The kernel's names of the features that matter to steering, and the words ethtool(8) has for them.
const (
	FeatureNTuple = "rx-ntuple-filter" // ntuple-filters
	FeatureRXHash = "rx-hashing"       // receive-hashing
	FeatureGRO    = "rx-gro"           // generic-receive-offload
	FeatureGROHW  = "rx-gro-hw"
	FeatureLRO    = "rx-lro" // large-receive-offload
)

// Features reads ETHTOOL_MSG_FEATURES_GET (Linux 5.7): every feature the kernel knows, by its name.
func (c *Conn) Features(ifindex int) (map[string]Feature, error) {
	m := features{}
	err := c.ask("ethtool features-get", unix.ETHTOOL_MSG_FEATURES_GET, ifindex, nil, m.decode)
	if err != nil {
		return nil, err
	}
	return m, nil
}

type features map[string]Feature

func (m features) decode(attrs []byte) error {
	return walk(attrs, func(typ uint16, v []byte) error {
		var set func(*Feature)
		switch typ {
		case unix.ETHTOOL_A_FEATURES_HW:
			set = func(f *Feature) { f.HW = true }
		case unix.ETHTOOL_A_FEATURES_WANTED:
			set = func(f *Feature) { f.Wanted = true }
		case unix.ETHTOOL_A_FEATURES_ACTIVE:
			set = func(f *Feature) { f.Active = true }
		case unix.ETHTOOL_A_FEATURES_NOCHANGE:
			set = func(f *Feature) { f.NoChange = true }
		default:
			return nil
		}
		return bitset(v, func(name string, on bool) {
			f := m[name]
			if on {
				set(&f)
			}
			m[name] = f
		})
	})
}

// bitset calls f for each bit of a verbose bitset (ethtool-netlink.rst, "Bit sets"): one with a mask
// lists the mask's bits and marks the set ones, one without lists only those set.
func bitset(b []byte, f func(name string, on bool)) error {
	nomask := false
	err := walk(b, func(typ uint16, _ []byte) error {
		nomask = nomask || typ == unix.ETHTOOL_A_BITSET_NOMASK
		return nil
	})
	if err != nil {
		return err
	}
	return walk(b, func(typ uint16, bits []byte) error {
		if typ != unix.ETHTOOL_A_BITSET_BITS {
			return nil
		}
		return walk(bits, func(_ uint16, bit []byte) error {
			name, on := "", nomask
			err := walk(bit, func(typ uint16, v []byte) error {
				switch typ {
				case unix.ETHTOOL_A_BITSET_BIT_NAME:
					name = text(v)
				case unix.ETHTOOL_A_BITSET_BIT_VALUE:
					on = true
				}
				return nil
			})
			if err == nil && name != "" {
				f(name, on)
			}
			return err
		})
	})
}
