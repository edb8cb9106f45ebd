// Package driver knows how each network driver names its interrupt vectors and
// its per-queue statistics, and what else sets it apart. One table, one entry a
// driver; names are built from a few forms, so that an entry reads like the
// names themselves.
package driver

import "sync"

// Entry is what is known of one driver.
type Entry struct {
	// Name is the driver's name as ETHTOOL_GDRVINFO and sysfs tell it.
	Name string
	// Vectors are the forms of action names in /proc/interrupts, tried in order.
	Vectors []VectorForm
	// Stats are the forms of the ethtool -S names that count one queue's packets,
	// bytes and drops; every other name is left alone.
	Stats []StatForm
	Traits

	compile sync.Once
	vectors []matcher
	stats   []matcher
}

// Traits set a driver apart.
type Traits struct {
	// IgnoresXPS: ndo_select_queue does not end in netdev_pick_tx.
	IgnoresXPS bool
	// RewritesXPS: the driver writes xps_cpus and smp_affinity anew on CPU
	// hot-plug and on a channel change.
	RewritesXPS bool
	// RXFollowsTX: the other side sends a flow back on the queue it came by
	// (virtio without RSS, where the host's tap remembers the guest's TX queue).
	RXFollowsTX bool
	// Hint: the driver sets affinity_hint; AppliesHint: and with it the affinity,
	// so that a written mask is lost at ifdown and reset.
	Hint, AppliesHint bool
	// Managed: vectors are spread by the kernel, smp_affinity cannot be written.
	Managed bool
	// Resets is what a change of channels loses.
	Resets Resets
	// UDPHash is the default of rx-flow-hash udp4 in ethtool -n letters: "sd"
	// addresses only, "sdfn" with ports; "" unknown.
	UDPHash string
}

// Resets are the settings that a channel change (ethtool -L) puts back to the
// driver's default.
type Resets struct{ Link, Affinity, RSSTable, XPS bool }

// Role of a vector.
type Role uint8

// Roles. Control vectors carry no traffic.
const (
	Control Role = iota
	RX
	TX
	Combined
)

// Counter is what a statistic counts.
type Counter uint8

// Counters.
const (
	Packets Counter = iota
	Bytes
	Drops
)

// VectorForm is one form of action name. The template holds {dev} for a network
// device's name, {unit} for the bus name of the function or virtio device, {q}
// for the queue number; all else stands for itself. A control form has no {q}.
type VectorForm struct {
	Role     Role
	Template string
}

// StatForm is one form of statistic name, a template with {dir} (rx or tx) and
// {q}; Direction says which where the name does not.
type StatForm struct {
	Counts    Counter
	Template  string
	Direction Role
}

// Vector is what an action name says.
type Vector struct {
	Role Role
	// Device is the netdev name in it, frozen at request_irq: after a live
	// rename it is the old one. "" if the name has none.
	Device string
	// Unit is the bus name in it ("virtio2", a PCI address), "" if none.
	Unit  string
	Queue int // -1 for control vectors
}

// Stat is what a statistic name says.
type Stat struct {
	Direction Role // RX or TX
	Queue     int
	Counts    Counter
}

// Vector reads an action name by this driver's forms.
func (e *Entry) Vector(action string) (Vector, bool) {
	e.compile.Do(e.build)
	for i := range e.vectors {
		if f, ok := e.vectors[i].match(action); ok {
			if e.Vectors[i].Role == Control {
				f.queue = -1
			}
			return Vector{Role: e.Vectors[i].Role, Device: f.dev, Unit: f.unit, Queue: f.queue}, true
		}
	}
	return Vector{}, false
}

// Stat reads a statistic name by this driver's forms.
func (e *Entry) Stat(name string) (Stat, bool) {
	e.compile.Do(e.build)
	for i := range e.stats {
		f, ok := e.stats[i].match(name)
		if !ok {
			continue
		}
		s := Stat{Direction: e.Stats[i].Direction, Queue: f.queue, Counts: e.Stats[i].Counts}
		switch f.dir {
		case "rx":
			s.Direction = RX
		case "tx":
			s.Direction = TX
		}
		return s, true
	}
	return Stat{}, false
}

func (e *Entry) build() {
	for _, f := range e.Vectors {
		e.vectors = append(e.vectors, compile(f.Template))
	}
	for _, f := range e.Stats {
		e.stats = append(e.stats, compile(f.Template))
	}
}

var byName = func() map[string]*Entry {
	m := make(map[string]*Entry, len(table))
	for i := range table {
		m[table[i].Name] = &table[i]
	}
	return m
}()

// Lookup returns the driver's entry, or nil.
func Lookup(name string) *Entry { return byName[name] }

// Names lists the drivers of the table, in its order.
func Names() []string {
	names := make([]string, len(table))
	for i := range table {
		names[i] = table[i].Name
	}
	return names
}

// Agreed reads an action name of an unknown driver: it counts only if every
// entry that matches it says the same. The same text means different queues to
// different drivers ("eth0-3").
func Agreed(action string) (Vector, bool) {
	var first Vector
	found := false
	for i := range table {
		v, ok := table[i].Vector(action)
		switch {
		case !ok:
		case !found:
			first, found = v, true
		case v != first:
			return Vector{}, false
		}
	}
	return first, found
}
