package scan

import (
	"bytes"

	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/procfile"
)

// readIP reads how many packets this host sent itself and how many it
// forwarded. Nothing else tells a router from a server; where it cannot be read
// both stay unknown, and nothing is judged by it.
//
// OutTransmits exists since Linux 6.7 (b4a11b2033b7); before, OutRequests counts
// what is forwarded as well.
func (c *Counters) readIP(dst *host.Sample) {
	var err error
	if c.text, err = c.machine.Tree.Read(c.text[:0], "proc/net/snmp"); err == nil {
		countIP(dst, snmpField(c.text, "Ip:", "OutRequests"), snmpField(c.text, "Ip:", "ForwDatagrams"),
			snmpField(c.text, "Ip:", "OutTransmits").OK)
	}
	if c.text, err = c.machine.Tree.Read(c.text[:0], "proc/net/snmp6"); err == nil {
		countIP(dst, snmp6Field(c.text, "Ip6OutRequests"), snmp6Field(c.text, "Ip6OutForwDatagrams"),
			snmp6Field(c.text, "Ip6OutTransmits").OK)
	}
}

func countIP(dst *host.Sample, out, forwarded host.Count, apart bool) {
	if !out.OK || !forwarded.OK {
		return
	}
	if !apart {
		out.N -= min(out.N, forwarded.N)
	}
	add(&dst.IPOut, out)
	add(&dst.IPForwarded, forwarded)
}

func add(to *host.Count, n host.Count) {
	if n.OK {
		*to = host.Known(to.N + n.N)
	}
}

// snmpField finds a value in /proc/net/snmp, where a line of names is followed
// by a line of values (net/ipv4/proc.c).
func snmpField(text []byte, prefix, name string) host.Count {
	names, rest := nextLine(text)
	for len(names) > 0 {
		values, after := nextLine(rest)
		if bytes.HasPrefix(names, []byte(prefix)) && bytes.HasPrefix(values, []byte(prefix)) {
			return sameColumn(names, values, name)
		}
		names, rest = nextLine(after)
	}
	return host.Count{}
}

func sameColumn(names, values []byte, name string) host.Count {
	for len(names) > 0 && len(values) > 0 {
		var n, v []byte
		n, names = nextWord(names)
		v, values = nextWord(values)
		if string(n) == name {
			return number(v)
		}
	}
	return host.Count{}
}

// snmp6Field finds a value in /proc/net/snmp6, one "name value" a line.
func snmp6Field(text []byte, name string) host.Count {
	for len(text) > 0 {
		var line []byte
		line, text = nextLine(text)
		key, rest := nextWord(line)
		if string(key) == name {
			value, _ := nextWord(rest)
			return number(value)
		}
	}
	return host.Count{}
}

func number(b []byte) host.Count {
	n, err := procfile.ParseUint(b)
	return host.Count{N: n, OK: err == nil}
}

func nextLine(b []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(b, []byte{'\n'})
	return line, rest
}

func nextWord(b []byte) (word, rest []byte) {
	b = bytes.TrimLeft(b, " \t")
	if i := bytes.IndexAny(b, " \t"); i >= 0 {
		return b[:i], b[i:]
	}
	return b, nil
}
