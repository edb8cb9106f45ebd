package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/alecthomas/kingpin/v2"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/scan"
	"github.com/netsteer/netsteer/skew"
)

// machineFlags say which machine is read and which of its devices: flags of
// every command.
type machineFlags struct {
	procfs, sysfs    string
	netlink          bool
	include, exclude *regexp.Regexp
	leave            *regexp.Regexp
	limit            int
	minRate          float64
}

func addMachineFlags(app *kingpin.Application) *machineFlags {
	m := &machineFlags{}
	app.Flag("path.procfs", "Where proc is mounted.").Default("/proc").StringVar(&m.procfs)
	app.Flag("path.sysfs", "Where sysfs is mounted.").Default("/sys").StringVar(&m.sysfs)
	app.Flag("source.netlink", "Ask devices over netlink and ioctl (--no-source.netlink: files only).").Default("true").BoolVar(&m.netlink)
	parsed(app.Flag("device.include", "Report devices whose whole name matches, also those with one queue and no hardware.").PlaceHolder("REGEXP"), &m.include, parseRegexp)
	parsed(app.Flag("device.exclude", "Leave out devices whose whole name matches; wins over --device.include.").PlaceHolder("REGEXP"), &m.exclude, parseRegexp)
	parsed(app.Flag("device.limit", "Report at most so many devices, hardware first.").Default("64"), &m.limit, parsePositive)
	parsed(app.Flag("advisor.leave", "Measure devices whose whole name matches, and never change them.").PlaceHolder("REGEXP"), &m.leave, parseRegexp)
	parsed(app.Flag("skew.min-rate", "Packets per second of a device and direction below which no skew is reported.").Default("100"), &m.minRate, parseRate)
	return m
}

// addFrom adds --from to a command that can read a recorded machine.
func addFrom(cmd *kingpin.CmdClause) *string {
	from := new(string)
	parsed(cmd.Flag("from", "Read this directory or archive (a sosreport, a capture, a copy of proc and sys) instead of this machine.").PlaceHolder("PATH"), from, parsePath)
	return from
}

// parsePath refuses what an unset shell variable leaves: the machine at hand
// must not be taken for another.
func parsePath(path string) (string, error) {
	if path == "" {
		return "", errors.New("is empty: name a directory or an archive")
	}
	return path, nil
}

// addExcludeCPUs adds --advisor.exclude-cpus to a command that says which CPUs
// are allowed.
func addExcludeCPUs(cmd *kingpin.CmdClause) *cpuset.Set {
	set := &cpuset.Set{}
	parsed(cmd.Flag("advisor.exclude-cpus", "CPUs that shall take no vector and no RPS, as list text (applications, DPDK); isolated CPUs never do.").PlaceHolder("LIST"), set, cpuset.ParseList)
	return set
}

// scanner reports the devices of always whatever the flags say.
func (m *machineFlags) scanner(machine scan.Machine, always []string) *scan.Scanner {
	return scan.New(machine, m.scanOptions(always))
}

func (m *machineFlags) scanOptions(always []string) scan.Options {
	return scan.Options{
		Include:    m.include,
		Exclude:    m.exclude,
		Limit:      m.limit,
		Always:     always,
		NetlinkOff: !m.netlink,
	}
}

func (m *machineFlags) skew(excludeCPUs cpuset.Set) skew.Options {
	return skew.Options{MinRate: m.minRate, ExcludeCPUs: excludeCPUs}
}

// checkDevices says which of the names no device has.
func checkDevices(names []string, inv *host.Inventory) error {
	for _, name := range names {
		if inv.Device(name) != nil {
			continue
		}
		there := make([]string, 0, len(inv.Devices))
		for i := range inv.Devices {
			there = append(there, inv.Devices[i].Name)
		}
		if len(there) == 0 {
			return fmt.Errorf("--device=%q: no such device; none is reported here", name)
		}
		return fmt.Errorf("--device=%q: no such device; there are: %s", name, strings.Join(there, ", "))
	}
	return nil
}
