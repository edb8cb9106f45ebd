package live

import (
	"sync"

	"golang.org/x/sys/unix"
)

// maxKept is enough for a device of 512 queue pairs and its vectors, twice.
const maxKept = 4096

// reserved descriptors are for sockets, the runtime and files read once.
const reserved = 64

// keepLimit leaves half of the process's descriptors, and those reserved, to
// everyone else.
func keepLimit() int {
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &r); err != nil {
		return maxKept / 16
	}
	return int(min((r.Cur-min(r.Cur, reserved))/2, maxKept))
}

// keep holds open files by name, no more than limit.
type keep struct {
	limit int
	mu    sync.RWMutex
	files map[string]*file
}

func (k *keep) get(name string) *file {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.files[name]
}

// put keeps f open. When full, a random file makes room: so names that nobody
// reads any more leave in time, and a set larger than the limit still finds a
// part of its files open.
func (k *keep) put(name string, f *file) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.limit <= 0 || k.files[name] != nil { // another reader was first
		f.close()
		return
	}
	if k.files == nil {
		k.files = map[string]*file{}
	}
	for old, g := range k.files {
		if len(k.files) < k.limit {
			break
		}
		delete(k.files, old)
		g.close()
	}
	k.files[name] = f
}

// discard closes f, and forgets it unless the name has another file by now.
func (k *keep) discard(name string, f *file) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.files[name] == f {
		delete(k.files, name)
	}
	f.close()
}

// drop closes the files whose names match.
func (k *keep) drop(match func(name string) bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for name, f := range k.files {
		if match(name) {
			delete(k.files, name)
			f.close()
		}
	}
}
