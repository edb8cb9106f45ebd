package netlink

import (
	"errors"
	"slices"

	"golang.org/x/sys/unix"
)

// Stats reads the private statistics of one device (`ethtool -S`) and keeps their names, which are
// ten times the size of the values. It is not safe for concurrent use.
type Stats struct {
	conn   *Conn
	name   string
	known  bool // names are those of the device as far as we know
	fresh  bool // names were read by the present Read and differ
	names  []string
	values []uint64
}

// NewStats prepares for the device of that name; the first Read asks.
func (c *Conn) NewStats(name string) *Stats { return &Stats{conn: c, name: name} }

// Names are the statistics' names in the order of the values, as the driver wrote them up to the NUL:
// leading blanks, which some drivers use for grouping, are kept. Valid until the next Read.
func (s *Stats) Names() []string { return s.names }

// Reset makes the next Read ask for the names again. The kernel only tells when their number changed:
// whoever knows of a changed layout (channels, driver) says so here.
func (s *Stats) Reset() { s.known = false }

// Read returns the values, valid until the next Read, and whether Names differs from before. A device
// without statistics is EOPNOTSUPP.
func (s *Stats) Read() (values []uint64, namesChanged bool, err error) {
	s.fresh = false
	if err := s.conn.ioctl.do(s.conn.timeout(), s.name, s.read); err != nil {
		return nil, s.fresh, wrap(err, "ioctl ETHTOOL_GSTATS", s.name)
	}
	return s.values, s.fresh, nil
}

// stringLen is ETH_GSTRING_LEN.
const stringLen = 32

// statsTries is how often names and values are read again when the count changed between them.
const statsTries = 4

var errStatsRestless = errors.New("the number of statistics changed each time they were read")

func (s *Stats) read() error {
	for range statsTries {
		if !s.known {
			if ok, err := s.readNames(); err != nil {
				return err
			} else if !ok {
				continue
			}
		}
		if len(s.names) == 0 {
			s.known = false // nothing to read, so nothing would tell when there is
			s.values = s.values[:0]
			return nil
		}
		ok, err := s.readValues()
		if ok || err != nil {
			return err
		}
		s.known = false
	}
	return errStatsRestless
}

// readValues reports false when the device has another number of statistics by now. Recent stable
// kernels (seen: Debian's 6.1.0-57, 6.12.117, 6.18) then answer 0, older ones their own number and as many values, for which the
// memory may be too short: EFAULT.
func (s *Stats) readValues() (bool, error) {
	const header = 8 // struct ethtool_stats: cmd, n_stats
	n := len(s.names)
	b, err := s.conn.ioctl.reserve(header + 8*n)
	if err != nil {
		return false, err
	}
	ne.PutUint32(b, unix.ETHTOOL_GSTATS)
	ne.PutUint32(b[4:], uint32(n))
	if err := s.conn.ioctl.call(); err != nil {
		return false, notFault(err)
	}
	if ne.Uint32(b[4:]) != uint32(n) {
		return false, nil
	}
	s.values = slices.Grow(s.values[:0], n)[:n]
	for i := range s.values {
		s.values[i] = ne.Uint64(b[header+8*i:])
	}
	return true, nil
}

// readNames asks for the count, then the names; false: the count changed in between.
func (s *Stats) readNames() (bool, error) {
	n, err := s.count()
	if err != nil {
		return false, err
	}
	names := make([]string, 0, n)
	if n > 0 {
		const header = 12 // struct ethtool_gstrings: cmd, string_set, len
		b, err := s.conn.ioctl.zeroed(header + stringLen*n)
		if err != nil {
			return false, err
		}
		ne.PutUint32(b, unix.ETHTOOL_GSTRINGS)
		ne.PutUint32(b[4:], StringsStats)
		ne.PutUint32(b[8:], uint32(n))
		if err := s.conn.ioctl.call(); err != nil {
			return false, notFault(err)
		}
		if ne.Uint32(b[8:]) != uint32(n) {
			return false, nil
		}
		names = statNames(names, b[header:])
	}
	if !slices.Equal(names, s.names) || s.names == nil {
		s.names, s.fresh = names, true
	}
	s.known = true
	return true, nil
}

// statNames cuts b into strings of stringLen bytes; one without a NUL fills its place.
func statNames(dst []string, b []byte) []string {
	for ; len(b) >= stringLen; b = b[stringLen:] {
		dst = append(dst, text(b[:stringLen]))
	}
	return dst
}

// count asks ETHTOOL_GSSET_INFO. A set the device does not have is missing from the answer's mask.
func (s *Stats) count() (int, error) {
	const data = 16 // struct ethtool_sset_info: cmd, reserved, sset_mask, then the counts
	b, err := s.conn.ioctl.zeroed(data + 4)
	if err != nil {
		return 0, err
	}
	ne.PutUint32(b, unix.ETHTOOL_GSSET_INFO)
	ne.PutUint64(b[8:], 1<<StringsStats)
	if err := s.conn.ioctl.call(); err != nil {
		return 0, err
	}
	if ne.Uint64(b[8:]) == 0 {
		return 0, unix.EOPNOTSUPP
	}
	return int(ne.Uint32(b[data:])), nil
}

func notFault(err error) error {
	if errors.Is(err, unix.EFAULT) {
		return nil
	}
	return err
}
