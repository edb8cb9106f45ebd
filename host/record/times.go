package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"
)

// CaptureSchema is the schema of netsteer/capture.json.
const CaptureSchema = "netsteer.capture/v1"

// Capture is netsteer/capture.json.
type Capture struct {
	Schema string    `json:"schema"`
	T0     time.Time `json:"t0,omitzero"` // begin of the first sample
	T1     time.Time `json:"t1,omitzero"` // begin of the second
	// Rivals are the programs that write the same files; absent: unknown.
	Rivals []CaptureRival `json:"rivals,omitempty"`
	// RivalsError is why they are unknown: strerror's text.
	RivalsError string `json:"rivals_error,omitempty"`
}

// readCapture reads netsteer/capture.json, nil if it is not there.
func readCapture(t *tree) (*Capture, error) {
	text, err := t.Read(nil, captureFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var c Capture
	if err := decode(text, &c, &c.Schema, CaptureSchema); err != nil {
		return nil, fmt.Errorf("%s: %w", captureFile, err)
	}
	return &c, nil
}

type times struct {
	t0, t1 time.Time
	ok     bool
}

func readTimes(t *tree, c *Capture) (times, error) {
	if c == nil {
		return uptimes(t), nil
	}
	switch {
	case c.T0.IsZero() || c.T1.IsZero():
		up := uptimes(t)
		if up.ok && !c.T0.IsZero() {
			return times{c.T0, c.T0.Add(up.t1.Sub(up.t0)), true}, nil
		}
		return up, nil
	case !c.T1.After(c.T0):
		return times{}, fmt.Errorf("%s: t1 %s is not after t0 %s", captureFile, c.T1.Format(time.RFC3339Nano), c.T0.Format(time.RFC3339Nano))
	}
	return times{c.T0, c.T1, true}, nil
}

// uptimes are both samples' proc/uptime: 1/100 s apart is all they can tell.
func uptimes(t *tree) times {
	a, okA := uptime(t, "proc/uptime")
	b, okB := uptime(t, t1Dir+"/proc/uptime")
	if !okA || !okB || b <= a {
		return times{}
	}
	epoch := time.Unix(0, 0).UTC()
	return times{epoch.Add(a), epoch.Add(b), true}
}

func uptime(t *tree, name string) (time.Duration, bool) {
	text, err := t.Read(nil, name)
	if err != nil {
		return 0, false
	}
	return parseUptime(text)
}

// parseUptime reads the first number of /proc/uptime (fs/proc/uptime.c): seconds
// with two digits, of which a float64 would lose the last after 2,000 years.
func parseUptime(text []byte) (time.Duration, bool) {
	first, _, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	s, err := strconv.ParseFloat(first, 64)
	if err != nil || !(s >= 0) || s > 1e9 {
		return 0, false
	}
	return time.Duration(s*100+0.5) * (time.Second / 100), true
}

// decode reads a JSON document of one schema. Unknown keys are left alone: a
// later netsteer may add them within the version.
func decode(text []byte, doc any, schema *string, want string) error {
	if err := json.Unmarshal(text, doc); err != nil {
		return fmt.Errorf("not the JSON of %s: %w", want, err)
	}
	if *schema != want {
		return fmt.Errorf("schema is %.40q, this netsteer reads %q", *schema, want)
	}
	return nil
}
