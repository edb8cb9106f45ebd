package apply

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// lock takes <dir>/lock for a whole transaction, or refuses: daemon and commands
// exclude each other. The kernel drops it when the process ends, however it ends,
// so a lock is never stale.
//
// The file is for the owner alone: flock needs no more than read permission, and
// anybody who may read it could hold up all transactions.
func lock(dir string) (unlock func(), err error) {
	if dir == "" {
		return nil, refuse(WordRefused, "no state directory: give --state.dir")
	}
	if err := os.MkdirAll(filepath.Join(dir, transactionsDir), 0o755); err != nil {
		return nil, noState(err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, noState(err)
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err == nil {
		return func() { f.Close() }, nil
	}
	f.Close()
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, refuse(WordBusy, "another transaction is at work (%s is locked): try again when it has ended", f.Name())
	}
	return nil, noState(fmt.Errorf("flock %s: %w", f.Name(), err))
}

// Interrupted reports whether a record was left by a crash: it is not final, and
// no process is at work. false also where that cannot be seen, as by another user.
func (e *Engine) Interrupted(t *Transaction) bool {
	if t.State.Final() || !e.idle() {
		return false
	}
	now, err := e.journal.get(t.ID) // it may have ended before the lock was looked at
	return err == nil && !now.State.Final()
}

// idle: the lock is free. The look is shared and short, and made only beside a
// record that is not final, so that it refuses nobody a transaction.
func (e *Engine) idle() bool {
	f, err := os.OpenFile(filepath.Join(e.o.Dir, "lock"), os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return errors.Is(err, unix.ENOENT)
	}
	defer f.Close()
	return unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) == nil
}

// noState refuses because the state directory cannot be used.
func noState(err error) *Refused {
	switch {
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM), errors.Is(err, unix.EROFS):
		return refuse(WordNotPrivileged, "the journal cannot be written: %w: run as root, or choose a folder with --state.dir", err)
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		return refuse(WordRefused, "the journal cannot be written: %w: nothing was changed; make room, or choose a folder with --state.dir", err)
	}
	return refuse(WordRefused, "the journal cannot be written: %w", err)
}
