package record

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/ulikunitz/xz"
)

// maxDictionary bounds the memory of an xz decoder, in bytes: xz -9 has 64 MiB.
const maxDictionary = 256 << 20

// openXZ refuses a dictionary that no sosreport has: a few bytes can ask for
// 4 GiB. It looks at the first block; a later one with a larger dictionary costs
// no more memory than it unpacks, which limits.stream bounds.
func openXZ(r *bufio.Reader) (io.Reader, error) {
	const header, block = 12, 1024 // the stream's header, and the longest a block's can be
	head, err := r.Peek(header + block)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if n, ok := dictionary(head[min(header, len(head)):]); ok && n > maxDictionary {
		return nil, fmt.Errorf("xz: needs a dictionary of %s, netsteer allows %s: unpack it and give the folder", size(int64(n)), size(maxDictionary))
	}
	z, err := xz.NewReader(r)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, fmt.Errorf("xz: %w", err)
	}
	return z, nil
}

// dictionary reads the size from a block header (the .xz file format 1.2.1,
// sections 3.1 and 5.3.1); false where there is none.
func dictionary(b []byte) (uint64, bool) {
	if len(b) < 2 || b[0] == 0 { // 0 begins the index: no block
		return 0, false
	}
	flags := b[1]
	b = b[2:min(len(b), 4*(int(b[0])+1))]
	next := func() (uint64, bool) {
		n, used := binary.Uvarint(b)
		if used <= 0 {
			return 0, false
		}
		b = b[used:]
		return n, true
	}
	for _, sizes := range []byte{0x40, 0x80} { // compressed, uncompressed
		if flags&sizes != 0 {
			if _, ok := next(); !ok {
				return 0, false
			}
		}
	}
	for range flags&3 + 1 {
		id, ok := next()
		props, ok2 := next()
		if !ok || !ok2 || props > uint64(len(b)) {
			return 0, false
		}
		const lzma2 = 0x21
		if id == lzma2 && props == 1 {
			bits := b[0] & 0x3f
			if bits >= 40 {
				return 1<<32 - 1, true
			}
			return uint64(2|bits&1) << (bits/2 + 11), true
		}
		b = b[props:]
	}
	return 0, false
}
