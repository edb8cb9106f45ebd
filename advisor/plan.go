package advisor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/skew"
)

// planFile is what is read of a plan file: intent. All else comes from the
// machine at hand, so that a plan survives reboots and renumbered IRQs, and
// names no path.
type planFile struct {
	Schema  string            `json:"schema"`
	Changes []json.RawMessage `json:"changes"`
	Host    *Host             `json:"host"`
}

type planChange struct {
	Kind      host.Kind `json:"kind"`
	Device    string    `json:"device"`
	Direction string    `json:"direction"`
	Queue     *int      `json:"queue"`
	Proposed  *string   `json:"proposed"`

	text json.RawMessage
}

// ParsePlan reads a plan file: netsteer's own Advice, or the same written by
// hand. Of each change it keeps kind, device, direction, queue and proposed, in
// canonical form; of the file also the host block. An error is one line that
// names the change (counted from 1), the field and the fault.
func ParsePlan(text []byte) (*Advice, error) {
	var file planFile
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, errors.New("the plan is empty")
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	if err := dec.Decode(&file); err != nil {
		return nil, notPlan(text, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("plan: there is more after the first JSON value")
	}
	if file.Schema != Schema {
		return nil, fmt.Errorf("plan: schema is %q, want %q", clip(file.Schema), Schema)
	}
	a := &Advice{Schema: Schema, Devices: []Device{}, Findings: []Finding{}, Changes: []Change{}, Degraded: []host.Degraded{}}
	if file.Host != nil {
		a.Host = *file.Host
	}
	for i, raw := range file.Changes {
		c, err := parseChange(raw)
		if err != nil {
			return nil, fmt.Errorf("plan: change %d: %w", i+1, err)
		}
		for j := range a.Changes {
			if a.Changes[j].Setting() == c.Setting() {
				return nil, fmt.Errorf("plan: change %d sets the same as change %d: %s", i+1, j+1, c.name())
			}
		}
		c.ID = "c" + strconv.Itoa(i+1)
		a.Changes = append(a.Changes, c)
	}
	return a, nil
}

// directions are those a kind has; none: it has no direction and no queue.
func directions(kind host.Kind) []string {
	switch kind {
	case host.IRQAffinity:
		return []string{"rx", "tx", "combined"}
	case host.RPSCPUs, host.RPSFlowCnt:
		return []string{"rx"}
	case host.XPSCPUs:
		return []string{"tx"}
	}
	return nil
}

func hostWide(kind host.Kind) bool {
	return kind == host.RPSSockFlowEntries || kind == host.NetdevMaxBacklog || kind == host.NetdevBudget
}

func parseChange(raw json.RawMessage) (Change, error) {
	p := planChange{text: raw}
	if err := json.Unmarshal(raw, &p); err != nil {
		return Change{}, wrongType(err)
	}
	return p.change()
}

// notPlan says why a text is not a plan file, and where.
func notPlan(text []byte, err error) error {
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		at := max(0, min(int(syntax.Offset), len(text))-1) // the offset is behind the fault
		return fmt.Errorf("plan is not JSON: line %d: %w", 1+bytes.Count(text[:at], []byte("\n")), err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("plan is not JSON: line %d: it ends too early", 1+bytes.Count(bytes.TrimSpace(text), []byte("\n")))
	}
	return fmt.Errorf("plan: %w", wrongType(err))
}

// wrongType names the key whose value has the wrong type, in words of JSON and
// not of Go.
func wrongType(err error) error {
	var e *json.UnmarshalTypeError
	if !errors.As(err, &e) {
		return err
	}
	field, want := e.Field, "an object"
	if field == "" {
		field = "it"
	}
	switch e.Type.Kind() {
	case reflect.String:
		want = "a string"
	case reflect.Slice:
		want = "a list"
	case reflect.Int:
		want = "a number"
		if strings.HasPrefix(e.Value, "number") {
			want = "a whole number"
		}
	}
	return fmt.Errorf("%s must be %s", field, want)
}

// missing says that a key is not there, and which strange ones are: a key is
// more often misspelt than forgotten.
func (p *planChange) missing(key string) error {
	var all map[string]json.RawMessage
	_ = json.Unmarshal(p.text, &all) // it could be read before
	var strange []string
	for name := range all {
		if !slices.Contains(changeKeys, strings.ToLower(name)) {
			strange = append(strange, strconv.Quote(clip(name)))
		}
	}
	if len(strange) == 0 {
		return fmt.Errorf("%s is missing", key)
	}
	slices.Sort(strange)
	return fmt.Errorf("%s is missing (there is %s)", key, strings.Join(strange[:min(3, len(strange))], ", "))
}

// changeKeys are those that netsteer writes of a change, in an Advice or a
// Transaction.
var changeKeys = []string{
	"id", "stage", "kind", "device", "direction", "queue", "target", "current", "proposed", "cpus",
	"rule", "reason", "disruptive", "result", "stored", "error",
}

// maxQueue bounds queue numbers as the kernel's u16 queue mappings do.
const maxQueue = 1 << 16

func (p *planChange) change() (Change, error) {
	c := Change{Kind: p.Kind, Device: p.Device, Direction: p.Direction, Queue: p.Queue, Stage: stageOf(p.Kind)}
	allowed := directions(p.Kind)
	switch {
	case p.Kind == "":
		return c, p.missing("kind")
	case !slices.Contains(kindOrder, p.Kind):
		return c, fmt.Errorf("kind %q is unknown; kinds are %s", clip(string(p.Kind)), kindList())
	case hostWide(p.Kind) && p.Device != "":
		return c, fmt.Errorf("device: %s is host-wide and has none, got %q", p.Kind, clip(p.Device))
	case !hostWide(p.Kind) && p.Device == "":
		return c, p.missing("device")
	case !hostWide(p.Kind) && !deviceName(p.Device):
		return c, fmt.Errorf("device: %q is not a network device's name", clip(p.Device))
	case len(allowed) == 0 && p.Direction != "":
		return c, fmt.Errorf("direction: %s has none, got %q", p.Kind, clip(p.Direction))
	case len(allowed) > 0 && p.Direction == "":
		return c, p.missing("direction")
	case len(allowed) > 0 && !slices.Contains(allowed, p.Direction):
		return c, fmt.Errorf("direction: %q is not one of %s, as %s has", clip(p.Direction), strings.Join(allowed, ", "), p.Kind)
	case len(allowed) == 0 && p.Queue != nil:
		return c, fmt.Errorf("queue: %s has none, got %d", p.Kind, *p.Queue)
	case len(allowed) > 0 && p.Queue == nil:
		return c, p.missing("queue")
	case len(allowed) > 0 && (*p.Queue < 0 || *p.Queue >= maxQueue):
		return c, fmt.Errorf("queue: %d is not a queue number", *p.Queue)
	case p.Proposed == nil:
		return c, p.missing("proposed")
	}
	var err error
	if c.Proposed, err = canonical(p.Kind, *p.Proposed); err != nil {
		return c, fmt.Errorf("proposed: %w", err)
	}
	if isMask(p.Kind) {
		set, _ := cpuset.ParseList(c.Proposed) // canonical: it parses
		c.CPUs = set.Slice()
	}
	// Only steering is known to reset nothing.
	c.Disruptive = c.Stage == Structure
	return c, nil
}

// deviceName: dev_valid_name, net/core/dev.c: what cannot be a path.
func deviceName(s string) bool {
	if s == "" || len(s) > 15 || s == "." || s == ".." {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == '/' || r == ':' || r == 0x7f })
}

// canonical checks a value and writes it in the form of its kind. Bounds are
// netsteer's where the kernel has none: it would allocate 12 GB of flow table.
func canonical(kind host.Kind, text string) (string, error) {
	if isMask(kind) {
		set, err := cpuset.ParseList(text)
		if err == nil && kind == host.IRQAffinity && set.IsEmpty() {
			err = errors.New("an interrupt needs at least one CPU")
		}
		return set.String(), err
	}
	switch kind {
	case host.RPSFlowCnt:
		return decimal(text, 0, 1<<20)
	case host.RPSSockFlowEntries:
		return decimal(text, 0, 1<<26)
	case host.NetdevMaxBacklog:
		return decimal(text, 1, 1<<20)
	case host.NetdevBudget:
		return pairs(text, "packets", "usecs")
	case host.RSSIndirection:
		return weights(text)
	}
	return pairs(text)
}

// isMask: the kind's value is a CPU set.
func isMask(kind host.Kind) bool {
	return kind == host.IRQAffinity || kind == host.RPSCPUs || kind == host.XPSCPUs
}

func decimal(text string, low, high uint64) (string, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n < low || n > high {
		return "", fmt.Errorf("%q is not a decimal number from %d to %d", clip(text), low, high)
	}
	return strconv.FormatUint(n, 10), nil
}

// pairs checks "name=value name=value", sorted; names, where given, are the only
// ones and have decimal values.
func pairs(text string, names ...string) (string, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return "", errors.New("no name=value pair")
	}
	for _, w := range words {
		name, value, ok := strings.Cut(w, "=")
		if !ok || name == "" || value == "" || strings.Contains(value, "=") {
			return "", fmt.Errorf("%q is not name=value", clip(w))
		}
		if len(names) == 0 {
			continue
		}
		if !slices.Contains(names, name) {
			return "", fmt.Errorf("%q is not one of %s", clip(name), strings.Join(names, ", "))
		}
		if _, err := decimal(value, 1, 1<<31-1); err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
	}
	slices.Sort(words)
	for i := 1; i < len(words); i++ {
		a, _, _ := strings.Cut(words[i-1], "=")
		if b, _, _ := strings.Cut(words[i], "="); a == b {
			return "", fmt.Errorf("%q is there twice", clip(a))
		}
	}
	return strings.Join(words, " "), nil
}

// weights checks "default" or "weights 1 1 1 1".
func weights(text string) (string, error) {
	words := strings.Fields(text)
	if len(words) == 1 && words[0] == "default" {
		return "default", nil
	}
	if len(words) < 2 || words[0] != "weights" {
		return "", fmt.Errorf("%q is neither \"default\" nor \"weights 1 1 ..\"", clip(text))
	}
	sum := 0
	for _, w := range words[1:] {
		n, err := strconv.ParseUint(w, 10, 16)
		if err != nil {
			return "", fmt.Errorf("weight %q is not a number below 65536", clip(w))
		}
		sum += int(n)
	}
	if sum == 0 {
		return "", errors.New("all weights are 0")
	}
	return strings.Join(words, " "), nil
}

// name says what a change sets, for people: "rps_cpus of eth0 rx-1".
func (c *Change) name() string {
	switch {
	case c.Device == "":
		return string(c.Kind)
	case c.Queue == nil:
		return string(c.Kind) + " of " + c.Device
	case c.Direction == "combined":
		return fmt.Sprintf("%s of %s queue %d", c.Kind, c.Device, *c.Queue)
	}
	return fmt.Sprintf("%s of %s %s-%d", c.Kind, c.Device, c.Direction, *c.Queue)
}

// clip keeps a hostile text from filling an error line.
func clip(s string) string {
	if len(s) > 60 {
		return s[:60] + "..."
	}
	return s
}

// CheckHost refuses a plan made for another machine: where the plan has a host
// block, the online and allowed CPUs and the driver and number of queues of each
// of its devices must be as here. The kernel may differ. Only where all else
// agrees and a device is missing the error is ErrNotThere.
func CheckHost(plan *Advice, inv *host.Inventory, allowed skew.Allowed) error {
	was, is := plan.Host, hostBlock(inv, allowed)
	if was.Online == "" && was.Allowed == "" && len(was.Devices) == 0 {
		return nil
	}
	if err := sameCPUs("online", was.Online, is.Online); err != nil {
		return err
	}
	if err := sameCPUs("allowed", was.Allowed, is.Allowed); err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(was.Devices))
	for _, name := range names {
		a := was.Devices[name]
		switch b, here := is.Devices[name]; {
		case !here:
		case a.Driver != b.Driver:
			return fmt.Errorf("plan: host: %s has driver %q here, %q in the plan", name, b.Driver, clip(a.Driver))
		case a.Queues != b.Queues:
			return fmt.Errorf("plan: host: %s has %d queues here, %d in the plan; advise again", name, b.Queues, a.Queues)
		}
	}
	for _, name := range names {
		if _, here := is.Devices[name]; !here {
			return fmt.Errorf("plan: host: device %q is %w", clip(name), ErrNotThere)
		}
	}
	return nil
}

func sameCPUs(which, was, is string) error {
	set, err := cpuset.ParseList(was)
	if err != nil {
		return fmt.Errorf("plan: host: %s: %w", which, err)
	}
	if set.String() != is {
		return fmt.Errorf("plan: host: %s CPUs are %s here, %s in the plan; advise again", which, is, set)
	}
	return nil
}
