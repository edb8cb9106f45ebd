package apply

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// CountResults are the results that Counts counts by.
var CountResults = []string{"applied", "inconclusive", "rolled_back", "rejected", "failed"}

// Count is how often something happened, and when last (zero: never).
type Count struct {
	N    uint64    `json:"n"`
	Last time.Time `json:"last"`
}

func (c Count) and(n uint64, at time.Time) Count {
	c.N += n
	if at.After(c.Last) {
		c.Last = at
	}
	return c
}

// tally is counts.json: what the records were that are no longer kept, so that
// counters never fall.
type tally struct {
	Schema string `json:"schema"`
	// Through is the start of the last record counted in: a crash between writing
	// this and removing the record must not count it twice.
	Through time.Time        `json:"through"`
	Counts  map[string]Count `json:"counts"`
}

const countsSchema = "netsteer.counts/v1"

// outcome is what one record adds to the counts.
type outcome struct {
	mod            time.Time
	size           int64
	result         string // "" counts nowhere
	started, ended time.Time
}

func (t *Transaction) outcome() outcome {
	o := outcome{started: t.started()}
	o.ended, _ = time.Parse(time.RFC3339, t.Ended)
	switch {
	case t.State == Failed:
		o.result = "failed"
	case t.Operation == Rollback: // on request, it says nothing of an apply
	case t.State == RolledBack:
		o.result = "rolled_back"
	case t.State == Committed && t.Verify != nil && t.Verify.Verdict == "inconclusive":
		o.result = "inconclusive"
	case t.State == Committed:
		o.result = "applied"
	}
	return o
}

// Counts returns how transactions ended, for each of CountResults: from the
// journal, so those of commands and of former processes count too, but for
// "rejected", which are this process's. Records that have not changed are not
// read again.
func (e *Engine) Counts() (map[string]Count, error) {
	past := e.journal.tally()
	outcomes, err := e.outcomes()
	if err != nil {
		return nil, err
	}
	counts := map[string]Count{}
	for _, result := range CountResults {
		counts[result] = past.Counts[result]
	}
	for _, o := range outcomes {
		if o.result != "" && o.started.After(past.Through) {
			counts[o.result] = counts[o.result].and(1, o.ended)
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	counts["rejected"] = e.rejected
	return counts, nil
}

func (e *Engine) outcomes() (map[string]outcome, error) {
	entries, err := os.ReadDir(filepath.Join(e.o.Dir, transactionsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	e.mu.Lock()
	before := e.seen
	e.mu.Unlock()
	now := map[string]outcome{}
	for _, entry := range entries {
		id, ok := strings.CutSuffix(entry.Name(), ".json")
		info, err := entry.Info()
		if !ok || err != nil || !idPattern.MatchString(id) {
			continue
		}
		if o, ok := before[id]; ok && o.mod.Equal(info.ModTime()) && o.size == info.Size() {
			now[id] = o
			continue
		}
		var o outcome
		if t, err := e.journal.get(id); err == nil {
			o = t.outcome()
		}
		o.mod, o.size = info.ModTime(), info.Size()
		now[id] = o
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.seen = now
	return now, nil
}

// Reject counts a request that was refused before it came to the Engine; Apply
// counts its own refusals.
func (e *Engine) Reject() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.rejected = e.rejected.and(1, e.o.Now())
}

func (j journal) countsPath() string { return filepath.Join(j.dir, "counts.json") }

// tally reads counts.json; what cannot be read counts from 0.
func (j journal) tally() tally {
	var past tally
	text, err := readBounded(j.countsPath())
	if err == nil {
		err = json.Unmarshal(text, &past)
	}
	if err == nil && past.Schema != countsSchema {
		err = errors.New("schema is not " + countsSchema)
	}
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			j.log.Warn("journal: former counts are lost", "file", j.countsPath(), "err", err)
		}
		return tally{}
	}
	return past
}

// prune removes the oldest final records beyond those kept, once they are
// counted, and what a crash left of a record that was being written. Failing
// does no harm: the next transaction tries again.
func (j journal) prune() {
	j.sweep()
	all, err := j.list()
	if err != nil || len(all) <= kept {
		return
	}
	past := j.tally()
	next := tally{Schema: countsSchema, Through: past.Through, Counts: maps.Clone(past.Counts)}
	if next.Counts == nil {
		next.Counts = map[string]Count{}
	}
	var old []string
	for i := len(all) - 1; i >= kept; i-- { // oldest first
		t := &all[i]
		if !t.State.Final() {
			continue
		}
		old = append(old, t.ID)
		if o := t.outcome(); o.started.After(past.Through) {
			next.Through = o.started
			if o.result != "" {
				next.Counts[o.result] = next.Counts[o.result].and(1, o.ended)
			}
		}
	}
	text, err := json.Marshal(next)
	if err == nil {
		err = writeDurably(j.countsPath(), append(text, '\n'))
	}
	if err != nil {
		j.log.Warn("journal: old records are kept, for their counts cannot be written", "err", err)
		return
	}
	for _, id := range old {
		j.remove(id)
	}
}

// sweep removes temporary files.
func (j journal) sweep() {
	for _, pattern := range []string{filepath.Join(transactionsDir, ".*.json*"), ".counts.json*"} {
		left, _ := filepath.Glob(filepath.Join(j.dir, pattern))
		for _, path := range left {
			if err := os.Remove(path); err != nil {
				j.log.Warn("journal: a temporary file cannot be removed", "file", path, "err", err)
			}
		}
	}
}
