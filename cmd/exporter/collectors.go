package main

import (
	"github.com/alecthomas/kingpin/v2"

	"github.com/netsteer/netsteer/collector"
)

// collectorFlags are --[no-]collector.NAME and --collector.disable-defaults, as
// node_exporter has them.
type collectorFlags struct {
	disableDefaults bool
	// named holds what the command line says of a collector, by name.
	named map[string]*bool
}

func addCollectorFlags(cmd *kingpin.CmdClause) *collectorFlags {
	c := &collectorFlags{named: map[string]*bool{}}
	for _, name := range collector.Names() {
		on := "off"
		if collector.DefaultEnabled(name) {
			on = "on"
		}
		clause := cmd.Flag("collector."+name, "Show the "+name+" collector's metrics (default: "+on+").")
		clause.SetValue(&optionalBool{set: func(v bool) { c.named[name] = &v }})
	}
	cmd.Flag("collector.disable-defaults", "Switch off all collectors that are not named by a flag.").BoolVar(&c.disableDefaults)
	return c
}

// enabled says of every collector whether it is on.
func (c *collectorFlags) enabled() map[string]bool {
	out := map[string]bool{}
	for _, name := range collector.Names() {
		out[name] = collector.DefaultEnabled(name) && !c.disableDefaults
		if named := c.named[name]; named != nil {
			out[name] = *named
		}
	}
	return out
}

// optionalBool is a boolean flag that tells whether it was given.
type optionalBool struct {
	text string
	set  func(bool)
}

func (b *optionalBool) String() string   { return b.text }
func (b *optionalBool) IsBoolFlag() bool { return true }

func (b *optionalBool) Set(text string) error {
	b.text = text
	b.set(text == "true")
	return nil
}
