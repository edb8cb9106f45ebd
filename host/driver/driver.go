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
	// bytes and drops; every other name is left alone. Forms of one counter that
	// all match are parts of it: their values add up.
	Stats []StatForm
	// Sharing is which queues a vector serves when there are fewer vectors than
	// queues.
	Sharing Sharing
	Traits

	// place finds the queues of a list of statistics where a name alone does not
	// tell; nil: it does.
	place func(e *Entry, names []string, values []uint64) []Stat

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
	// so that a written mask is lost at ifdown and reset. Of Linux 6.12: some
	// later kernels only hint.
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
// driver's default. Where they are not Known, any of them may be.
type Resets struct{ Known, Link, Affinity, RSSTable, XPS bool }

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
// for the number, {q}-{last} for a range of them; all else stands for itself.
type VectorForm struct {
	Role     Role
	Template string
	// CountsOn: the number goes on from other vectors' (tx-8 after rx-0 to rx-7
	// is TX queue 0).
	CountsOn bool
	// Pool: the vector is of a pool that sub-functions share; its number is no
	// queue's.
	Pool bool
	// Loose: other drivers mean other things by the same text, so that it says
	// nothing unless the driver is known.
	Loose bool
}

// StatForm is one form of statistic name, a template with {q} and {dir} (rx or
// tx), or {rx} or {tx} where only that word may stand.
type StatForm struct {
	Counts   Counter
	Template string
	// CountsOn: as in VectorForm.
	CountsOn bool
	// ClassZero: the number is sysfs's only for queues of traffic class 0.
	ClassZero bool
}

// Vector is what an action name says.
type Vector struct {
	Role Role
	// Device is the netdev name in it, frozen at request_irq: after a live
	// rename it is the old one. "" if the name has none.
	Device string
	// Unit is the bus name in it ("virtio2", a PCI address), "" if none.
	Unit string
	// Queue to Last are the numbers in it, -1 for control vectors. Entry.Assign
	// makes queues of them.
	Queue, Last    int
	CountsOn, Pool bool // as in VectorForm
}

// Stat is what a statistic name says.
type Stat struct {
	Direction Role // RX or TX
	Queue     int  // -1: none, or the name does not tell
	Counts    Counter
	ClassZero bool // as in StatForm
}

// Vector reads an action name by this driver's forms.
func (e *Entry) Vector(action string) (Vector, bool) {
	v, _, ok := e.vector(action)
	return v, ok
}

func (e *Entry) vector(action string) (Vector, *VectorForm, bool) {
	e.compile.Do(e.build)
	for i := range e.vectors {
		f, ok := e.vectors[i].match(action)
		if !ok {
			continue
		}
		form := &e.Vectors[i]
		if form.Role == Control {
			f.queue, f.last = -1, -1
		}
		return Vector{form.Role, f.dev, f.unit, f.queue, f.last, form.CountsOn, form.Pool}, form, true
	}
	return Vector{}, nil, false
}

// Stat reads one statistic name by this driver's forms.
func (e *Entry) Stat(name string) (Stat, bool) {
	s, _, ok := e.stat(name)
	return s, ok
}

func (e *Entry) stat(name string) (Stat, *StatForm, bool) {
	e.compile.Do(e.build)
	for i := range e.stats {
		f, ok := e.stats[i].match(name)
		if !ok {
			continue
		}
		form := &e.Stats[i]
		s := Stat{Direction: RX, Queue: f.queue, Counts: form.Counts, ClassZero: form.ClassZero}
		if f.dir == "tx" {
			s.Direction = TX
		}
		return s, form, true
	}
	return Stat{}, nil, false
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
// different drivers ("eth0-3", "eth0-tx-8").
func Agreed(action string) (Vector, bool) {
	var first Vector
	found := false
	for i := range table {
		v, form, ok := table[i].vector(action)
		switch {
		case !ok || form.Loose:
		case !found:
			first, found = v, true
		case v != first:
			return Vector{}, false
		}
	}
	return first, found
}
