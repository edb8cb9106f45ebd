package apply

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"
)

const (
	transactionsDir = "transactions"
	// kept is how many records stay. Older ones are in counts.json only.
	kept = 100
	// maxRecord bounds what is read of a file that is no record of ours; one
	// change takes less than 1 KiB.
	maxRecord = 16 << 20
)

// journal is the folder of records: transactions/<id>.json, one per
// transaction. It is read by anybody and written under the lock.
type journal struct {
	dir string
	log *slog.Logger
}

var idPattern = regexp.MustCompile(`^[0-9]{8}T[0-9]{6}Z-[0-9a-f]{4}$`)

func (j journal) path(id string) string {
	return filepath.Join(j.dir, transactionsDir, id+".json")
}

// exists: there may be records.
func (j journal) exists() bool {
	_, err := os.Stat(filepath.Join(j.dir, transactionsDir))
	return !errors.Is(err, fs.ErrNotExist)
}

// save makes the record durable: on return it survives a power cut.
func (j journal) save(t *Transaction) error {
	text, err := json.MarshalIndent(t, "", " ")
	if err != nil {
		return err
	}
	if err := writeDurably(j.path(t.ID), append(text, '\n')); err != nil {
		return err
	}
	return syncDir(j.dir) // the folder of records may be new
}

// writeDurably replaces a file as a whole: a reader, and the next start after a
// crash, sees the former content or the new one.
func writeDurably(path string, text []byte) error {
	dir := filepath.Dir(path)
	f, err := renameio.NewPendingFile(path, renameio.WithTempDir(dir), renameio.WithStaticPermissions(0o644))
	if err != nil {
		return err
	}
	defer func() { _ = f.Cleanup() }() // the error before it says more
	if _, err := f.Write(text); err != nil {
		return err
	}
	if err := f.CloseAtomicallyReplace(); err != nil {
		return err
	}
	return syncDir(dir) // only then the rename lasts
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	// Some file systems cannot sync folders, and then need not.
	if err := d.Sync(); err != nil && !errors.Is(err, unix.EINVAL) {
		return err
	}
	return nil
}

func (j journal) remove(id string) {
	if err := os.Remove(j.path(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		j.log.Warn("journal: a record cannot be removed", "file", j.path(id), "err", err)
	}
}

// get reads one record.
func (j journal) get(id string) (*Transaction, error) {
	if !idPattern.MatchString(id) { // the id is a file name, and comes from outside
		return nil, fmt.Errorf("transaction %q: %w", clip(id), fs.ErrNotExist)
	}
	text, err := readBounded(j.path(id))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fs.ErrNotExist
		}
		return nil, fmt.Errorf("transaction %s: %w", id, err)
	}
	var t Transaction
	if err := json.Unmarshal(text, &t); err != nil {
		return nil, fmt.Errorf("transaction %s: %w", id, err)
	}
	switch {
	case t.Schema != TransactionSchema:
		return nil, fmt.Errorf("transaction %s: schema %q is not %s", id, clip(t.Schema), TransactionSchema)
	case t.ID != id:
		return nil, fmt.Errorf("transaction %s: the file holds the id %q", id, clip(t.ID))
	}
	if _, err := time.Parse(time.RFC3339, t.Started); err != nil {
		return nil, fmt.Errorf("transaction %s: started: %w", id, err)
	}
	return &t, nil
}

func readBounded(path string) ([]byte, error) {
	// Not blocked by a fifo, not led elsewhere by a link.
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	text, err := io.ReadAll(io.LimitReader(f, maxRecord+1))
	if err == nil && len(text) > maxRecord {
		err = fmt.Errorf("larger than %d bytes", maxRecord)
	}
	return bytes.TrimSpace(text), err
}

// list reads all records, newest first. One bad file takes nothing from the
// others: it is left out with a warning.
func (j journal) list() ([]Transaction, error) {
	entries, err := os.ReadDir(filepath.Join(j.dir, transactionsDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []Transaction
	for _, entry := range entries {
		id, ok := strings.CutSuffix(entry.Name(), ".json")
		if !ok || !idPattern.MatchString(id) {
			continue
		}
		t, err := j.get(id)
		if errors.Is(err, fs.ErrNotExist) { // pruned since
			continue
		}
		if err != nil {
			j.log.Warn("journal: a record is skipped", "file", j.path(id), "err", err)
			continue
		}
		all = append(all, *t)
	}
	slices.SortFunc(all, func(a, b Transaction) int {
		if c := b.started().Compare(a.started()); c != 0 {
			return c
		}
		return strings.Compare(b.ID, a.ID)
	})
	return all, nil
}

// started is when the transaction began; get has seen that it can be parsed.
func (t *Transaction) started() time.Time {
	at, _ := time.Parse(time.RFC3339, t.Started)
	return at
}

// clip keeps a hostile text from filling an error line.
func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "..."
	}
	return s
}
