package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/internal/plain"
	"github.com/netsteer/netsteer/skew"
	"github.com/netsteer/netsteer/watch"
)

// unknownText stands for what the kernel does not tell.
const unknownText = "-"

// writeInspection writes what is seen for people: the host, a table per device,
// and what is degraded.
func writeInspection(out io.Writer, state *watch.State, only []string) {
	out = plain.Writer(out)
	inv := state.Inventory
	shown := func(device string) bool { return len(only) == 0 || slices.Contains(only, device) }
	fmt.Fprintln(out, hostLine(inv))
	for i := range inv.Devices {
		if d := &inv.Devices[i]; shown(d.Name) {
			fmt.Fprintln(out)
			writeDevice(out, state, d)
		}
	}
	if len(inv.Devices) == 0 {
		fmt.Fprintln(out, "\nno device with a parent or several queues; --device.include=REGEXP takes in others")
	}
	title := "\ndegraded"
	for _, d := range state.Degraded {
		if d.Device == "" || shown(d.Device) {
			if title != "" {
				fmt.Fprintln(out, title)
				title = ""
			}
			fmt.Fprintln(out, "  "+degradedLine(d))
		}
	}
}

func hostLine(inv *host.Inventory) string {
	parts := []string{strings.TrimSpace("Linux " + inv.Kernel), "CPUs " + orUnknown(inv.CPUs.Online.String())}
	if offline := inv.CPUs.Possible.Minus(inv.CPUs.Online); !offline.IsEmpty() {
		parts = append(parts, "offline "+offline.String())
	}
	if isolated := inv.CPUs.Isolated(); !isolated.IsEmpty() {
		parts = append(parts, "isolated "+isolated.String())
	}
	for _, node := range inv.Nodes {
		parts = append(parts, fmt.Sprintf("node %d: %s", node.ID, node.CPUs))
	}
	return strings.Join(parts, ", ")
}

func writeDevice(out io.Writer, state *watch.State, d *host.Device) {
	fmt.Fprintln(out, deviceLine(d))
	for _, line := range settingLines(d) {
		fmt.Fprintln(out, "  "+line)
	}
	if d.Stacked {
		return
	}
	queueTable(state, d).write(out, "  ")
}

func deviceLine(d *host.Device) string {
	parts := []string{d.Name + "  " + orUnknown(strings.TrimSpace(d.Driver+" "+d.BusInfo))}
	if d.Node >= 0 {
		parts = append(parts, fmt.Sprintf("node %d", d.Node))
	}
	if d.Up {
		parts = append(parts, "up")
	} else {
		parts = append(parts, "down")
	}
	if d.SpeedBytes.OK {
		parts = append(parts, speedText(d.SpeedBytes.N))
	}
	if len(d.Lower) > 0 {
		parts = append(parts, "over "+strings.Join(d.Lower, " "))
	}
	if d.ThreadedNAPI {
		parts = append(parts, "threaded NAPI")
	}
	return strings.Join(parts, ", ")
}

// settingLines are channels, rings and RSS as far as they are known.
func settingLines(d *host.Device) []string {
	var lines []string
	add := func(name string, parts ...string) {
		parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" })
		if len(parts) > 0 {
			lines = append(lines, fmt.Sprintf("%-9s %s", name, strings.Join(parts, ", ")))
		}
	}
	c := &d.Channels
	add("channels", pairText("combined", c.Combined), pairText("rx", c.RX), pairText("tx", c.TX))
	add("rings", pairText("rx", d.Rings.RX), pairText("tx", d.Rings.TX))
	if n := len(d.RSS.Table); n > 0 {
		queues := slices.Compact(slices.Sorted(slices.Values(d.RSS.Table)))
		add("rss", fmt.Sprintf("%d entries over %d queues", n, len(queues)), d.RSS.Hash, optionsText(d.RSS.Fields))
	} else {
		add("rss", optionsText(d.RSS.Fields))
	}
	return lines
}

func pairText(name string, p host.Pair) string {
	switch {
	case !p.Current.OK || p.Current.N == 0 && !(p.Max.OK && p.Max.N > 0):
		return "" // the device has no such thing
	case !p.Max.OK:
		return fmt.Sprintf("%s %d", name, p.Current.N)
	}
	return fmt.Sprintf("%s %d of %d", name, p.Current.N, p.Max.N)
}

func optionsText(options []host.Option) string {
	var parts []string
	for _, o := range options {
		if o.Value != "" {
			parts = append(parts, o.Name+" "+o.Value)
		}
	}
	return strings.Join(parts, ", ")
}

// queueTable has one row for a pair of queues that share a vector or have none,
// else one for each queue.
func queueTable(state *watch.State, d *host.Device) *table {
	t := &table{heads: []string{">QUEUE", ">IRQ", ">CPU", "<AFFINITY", ">RX PACKETS", ">TX PACKETS", "<RPS", "<XPS", "<NOTE"}}
	for i := range max(len(d.RX), len(d.TX)) {
		rx, tx := queueAt(d.RX, i), queueAt(d.TX, i)
		if rx != nil && tx != nil && rx.Vector == tx.Vector {
			addQueueRow(t, state, strconv.Itoa(rx.Index), rx, tx)
			continue
		}
		if rx != nil {
			addQueueRow(t, state, "rx "+strconv.Itoa(rx.Index), rx, nil)
		}
		if tx != nil {
			addQueueRow(t, state, "tx "+strconv.Itoa(tx.Index), nil, tx)
		}
	}
	return t
}

func queueAt(queues []host.Queue, i int) *host.Queue {
	if i < len(queues) {
		return &queues[i]
	}
	return nil
}

func addQueueRow(t *table, state *watch.State, name string, rx, tx *host.Queue) {
	irq, cpu, affinity, rps, xps := unknownText, unknownText, unknownText, "", ""
	var notes []string
	q := rx
	if rx == nil {
		q = tx
	}
	if !q.Usable {
		notes = append(notes, "not usable")
	}
	if q.Vector >= 0 {
		v := &state.Inventory.Vectors[q.Vector]
		irq, affinity = strconv.Itoa(v.IRQ), maskText(v.Affinity)
		cpu, notes = vectorPlace(state, q.Vector, notes)
	}
	if rx != nil {
		rps = maskText(rx.RPS)
		notes = appendMismatch(notes, state, rx.ID)
	}
	if tx != nil {
		xps = maskText(tx.XPS)
		if len(tx.XPSRXQueues) > 0 {
			xps = "rx queues " + strings.Trim(fmt.Sprint(tx.XPSRXQueues), "[]")
		}
	}
	t.add(name, irq, cpu, affinity, packetsText(state, rx), packetsText(state, tx), rps, xps, strings.Join(notes, ", "))
}

func vectorPlace(state *watch.State, vector int, notes []string) (cpu string, _ []string) {
	cpu = unknownText
	place := state.Place
	if place == nil {
		return cpu, notes
	}
	if n := place.CPU[vector]; n >= 0 {
		cpu = strconv.Itoa(n)
	}
	if place.Pending[vector] {
		notes = append(notes, "pending")
	}
	if place.Roaming[vector] {
		notes = append(notes, "roaming NAPI thread")
	}
	if state.Inventory.Vectors[vector].Shared {
		notes = append(notes, "shared line")
	}
	return cpu, notes
}

// distanceText is by host.Distance.
var distanceText = [...]string{
	host.SameCPU: "same CPU", host.SameCore: "same core", host.SameCache: "same cache",
	host.SameNode: "same node", host.Remote: "remote node",
}

func appendMismatch(notes []string, state *watch.State, queue int) []string {
	if state.Place == nil || state.Place.Mismatch[queue] != skew.Mismatched {
		return notes
	}
	note := "tx completes elsewhere"
	if d := state.Place.Distance[queue]; d.OK {
		note += " (" + distanceText[int(d.V)] + ")"
	}
	return append(notes, note)
}

func packetsText(state *watch.State, q *host.Queue) string {
	if q == nil {
		return ""
	}
	if packets := state.Sample.Queues[q.ID].Packets; packets.OK {
		return strconv.FormatUint(packets.N, 10)
	}
	return unknownText
}

// maskWidth keeps a table readable on hosts whose masks are long lists.
const maskWidth = 24

func maskText(m host.Mask) string {
	switch text := m.Set.String(); {
	case !m.OK:
		return unknownText
	case text == "":
		return "off"
	case len(text) > maskWidth:
		return fmt.Sprintf("%s... (%d)", text[:maskWidth-9], m.Set.Len())
	default:
		return text
	}
}

func speedText(bytesPerSecond uint64) string {
	mbit := bytesPerSecond * 8 / 1e6
	if mbit >= 1000 && mbit%100 == 0 {
		return strconv.FormatFloat(float64(mbit)/1000, 'f', -1, 64) + " Gbit/s"
	}
	return strconv.FormatUint(mbit, 10) + " Mbit/s"
}

func degradedLine(d host.Degraded) string {
	line := string(d.Source)
	if d.Device != "" {
		line += " of " + d.Device
	}
	line += ": " + string(d.Reason)
	if d.Detail != "" {
		line += " (" + oneLine(d.Detail) + ")"
	}
	return line
}

func orUnknown(text string) string {
	if text == "" {
		return unknownText
	}
	return text
}
