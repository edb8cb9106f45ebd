package record

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/scan"
)

// source is where answers are looked up: a netlink.json, and the output of
// ethtool(8) as sosreport keeps it.
type source struct {
	tree *tree
	dir  string // "" or the second sample's folder
	doc  *Netlink
}

// empty reports whether nothing at all was recorded of netlink and ethtool.
func (s source) empty() bool {
	return s.doc == nil && !slices.ContainsFunc(s.outputs(), func(name string) bool { return strings.HasPrefix(name, "ethtool_") })
}

// outputs are the names of all commands' outputs.
func (s source) outputs() []string {
	list, err := s.tree.ReadDir(path.Join(s.dir, sosDir))
	if err != nil {
		return nil
	}
	names := make([]string, len(list))
	for i, e := range list {
		names[i] = e.Name()
	}
	return names
}

// output is what "ethtool ARGS" printed; fs.ErrNotExist if it was not run.
func (s source) output(args string) ([]byte, error) {
	return s.tree.Read(nil, path.Join(s.dir, sosDir, fileName("ethtool "+args)))
}

// fileName is sosreport's name for a command's output (sos/policies, mangle_command):
// what is neither letter, digit, "_", "-", "." nor "/" becomes "_", a run of it
// one, and "/" a ".".
func fileName(command string) string {
	var b strings.Builder
	run := false
	for _, r := range command {
		switch {
		case r == '/':
			r = '.'
		case r == '_' || r == '-' || r == '.' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r > 127:
		default:
			if !run {
				b.WriteByte('_')
			}
			run = true
			continue
		}
		run = false
		b.WriteRune(r)
	}
	return b.String()
}

// ask answers a question from the output of "ethtool OPTION DEVICE".
func ask[T any](s source, device, question, option string, parse func([]byte) (T, error)) (T, error) {
	var none T
	args := strings.TrimSpace(option + " " + device)
	text, err := s.output(args)
	if d := s.doc.device(device); errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) || d != nil && d.Errors[question] != "" {
		return none, s.missing(device, question)
	}
	if err != nil {
		return none, err
	}
	answer, err := parse(text)
	if err != nil {
		return none, fmt.Errorf("ethtool %s: %w", args, err)
	}
	return answer, nil
}

// rss puts together what -x, -n and -n rx-flow-hash tell. Each may be missing:
// what the others told comes with the error that says there is no table.
func (s source) rss(device string) (host.RSS, error) {
	rss, err := ask(s, device, askRSS, "-x", parseRSS)
	if err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, scan.ErrNotRecorded) {
		return rss, err
	}
	told := err == nil
	if r, e := ask(s, device, askRSS, "-n", parseRules); e == nil {
		rss.RuleQueues, rss.Rules, told = r.queues, host.Known(r.count), true
	}
	fields := map[string]string{}
	prefix := fileName("ethtool -n "+device+" rx-flow-hash") + "_"
	for _, name := range s.outputs() {
		flow, ok := strings.CutPrefix(name, prefix)
		if !ok || strings.Contains(flow, "context") { // another context's fields
			continue
		}
		if text, e := s.output("-n " + device + " rx-flow-hash " + flow); e == nil {
			if f, e := parseHashFields(text); e == nil {
				fields[flow], told = f, true
			}
		}
	}
	if len(fields) > 0 {
		rss.Fields = options(fields)
	}
	if told && errors.Is(err, errors.ErrUnsupported) {
		err = nil // a device with rules or fields has RSS; its table cannot be told
	}
	return rss, err
}

// options are a map's entries sorted by name.
func options(m map[string]string) []host.Option {
	if m == nil {
		return nil
	}
	list := make([]host.Option, 0, len(m))
	for name, value := range m {
		list = append(list, host.Option{Name: name, Value: value})
	}
	slices.SortFunc(list, func(a, b host.Option) int { return strings.Compare(a.Name, b.Name) })
	return list
}
