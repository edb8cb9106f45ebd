package advisor

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/netsteer/netsteer/internal/plain"
)

// Text writes the advice for people: verdict, devices, findings, changes.
func (a *Advice) Text(w io.Writer) error {
	t := &textWriter{w: plain.Writer(w)}
	t.verdict(a)
	t.devices(a)
	t.findings(a)
	t.changes(a)
	t.predicted(a)
	for i, d := range a.Degraded {
		if i == 0 {
			t.line("degraded")
		}
		t.line("  %s", strings.TrimSpace(strings.Join([]string{string(d.Source), d.Device, string(d.Reason), d.Detail}, " ")))
	}
	return t.err
}

// textWriter remembers the first failing write.
type textWriter struct {
	w   io.Writer
	err error
}

func (t *textWriter) line(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format+"\n", args...)
	}
}

// table writes rows with tab-separated cells in columns.
func (t *textWriter) table(rows []string) {
	tw := tabwriter.NewWriter(t.w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		if t.err == nil {
			_, t.err = fmt.Fprintln(tw, row)
		}
	}
	if t.err == nil {
		t.err = tw.Flush()
	}
}

func (t *textWriter) verdict(a *Advice) {
	verdict := "nothing to change"
	switch n := len(a.Changes); n {
	case 0:
	case 1:
		verdict = "1 change"
	default:
		verdict = fmt.Sprintf("%d changes", n)
	}
	measured := "no traffic was measured"
	if a.Basis == "window" {
		measured = fmt.Sprintf("measured over %gs", a.WindowSeconds)
	}
	t.line("%s, profile %s, %s", verdict, a.Profile, measured)
	t.line("CPUs online %s, allowed %s", a.Host.Online, orNothing(a.Host.Allowed))
}

func (t *textWriter) devices(a *Advice) {
	if len(a.Devices) == 0 {
		return
	}
	rows := []string{"DEVICE\tDRIVER\tNODE\tCAUSE\tRX CV\tTX CV\tMISMATCH"}
	for _, d := range a.Devices {
		node, cause := "-", orNothing(d.Cause)
		if d.NUMANode != nil {
			node = strconv.Itoa(*d.NUMANode)
		}
		rx, tx := "-", "-"
		if d.Skew != nil {
			rx, tx = figure(d.Skew.RX.CV), figure(d.Skew.TX.CV)
		}
		rows = append(rows, strings.Join([]string{d.Device, orNothing(d.Driver), node, cause, rx, tx, figure(d.AffinityMismatchRatio)}, "\t"))
	}
	t.line("")
	t.table(rows)
}

func (t *textWriter) findings(a *Advice) {
	if len(a.Findings) == 0 {
		return
	}
	t.line("")
	t.line("findings")
	for _, f := range a.Findings {
		mends := ""
		if len(f.Changes) > 0 {
			mends = " [" + strings.Join(f.Changes, " ") + "]"
		}
		t.line("  %-8s %s: %s%s", f.Severity, f.Rule, f.Summary, mends)
		if f.Remedy != "" && f.Severity != Info {
			t.line("           %s", f.Remedy)
		}
	}
}

func (t *textWriter) changes(a *Advice) {
	if len(a.Changes) == 0 {
		return
	}
	rows := []string{"ID\tWHAT\tNOW\tPROPOSED\tWHY"}
	for i := range a.Changes {
		c := &a.Changes[i]
		now := "?"
		if c.Current != nil {
			now = orOff(*c.Current)
		}
		rows = append(rows, strings.Join([]string{c.ID, c.name(), now, orOff(c.Proposed), c.Reason}, "\t"))
	}
	t.line("")
	t.table(rows)
	t.line("")
	t.line("fingerprint %s", a.Fingerprint)
}

func (t *textWriter) predicted(a *Advice) {
	if a.Predicted == nil {
		return
	}
	for _, p := range []struct {
		name   string
		spread *Spread
	}{{"network load", a.Predicted.BusyNet}, {"NIC packets", a.Predicted.NICPackets}} {
		if p.spread != nil && p.spread.CPUSkewCV != nil {
			t.line("predicted: CV of %s over CPUs %.2f -> %.2f", p.name, p.spread.CPUSkewCV.Before, p.spread.CPUSkewCV.After)
		}
	}
}

func figure(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f", *v)
}

func orNothing(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func orOff(s string) string {
	if s == "" {
		return "off"
	}
	return s
}
