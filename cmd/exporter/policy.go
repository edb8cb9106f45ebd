package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/alecthomas/kingpin/v2"

	"github.com/netsteer/netsteer/advisor"
	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
)

// policyFlags say what an operator wants of a plan: flags of the commands that
// make one.
type policyFlags struct {
	profile     advisor.Profile
	excludeCPUs *cpuset.Set
}

func addPolicyFlags(cmd *kingpin.CmdClause) *policyFlags {
	p := &policyFlags{excludeCPUs: addExcludeCPUs(cmd)}
	parsed(cmd.Flag("profile", "How vectors, RPS and XPS are planned: "+profileList()+".").Default(string(advisor.Balanced)), &p.profile, parseProfile)
	return p
}

func parseProfile(text string) (advisor.Profile, error) {
	for _, p := range advisor.Profiles {
		if string(p) == text {
			return p, nil
		}
	}
	return "", errors.New("no such profile; there are: " + profileList())
}

func profileList() string {
	names := make([]string, len(advisor.Profiles))
	for i, p := range advisor.Profiles {
		names[i] = string(p)
	}
	return strings.Join(names, ", ")
}

// policy is for these devices, or for all.
func (p *policyFlags) policy(m *machineFlags, devices []string) advisor.Policy {
	return advisor.Policy{Profile: p.profile, Leave: m.leave, Devices: devices, ExcludeCPUs: *p.excludeCPUs}
}

// checkSteerable says which of the devices have no queues of their own.
func checkSteerable(names []string, inv *host.Inventory) error {
	for _, name := range names {
		d := inv.Device(name)
		switch {
		case d == nil || !d.Stacked:
		case len(d.Lower) == 0:
			return fmt.Errorf("--device=%q: has no queues of its own, and no device below it", name)
		default:
			return fmt.Errorf("--device=%q: has no queues of its own; name those below it: %s", name, strings.Join(d.Lower, ", "))
		}
	}
	return nil
}
