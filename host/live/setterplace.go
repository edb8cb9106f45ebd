package live

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/netsteer/netsteer/host"
)

// place is the file that a setting is now.
type place struct {
	path  string
	form  form
	width int // nr_cpu_ids, for masks
}

// sysctlFiles are the host-wide kinds.
var sysctlFiles = map[host.Kind]string{
	host.RPSSockFlowEntries: "rps_sock_flow_entries",
	host.NetdevMaxBacklog:   "netdev_max_backlog",
}

// place finds the file and makes sure that it still is that setting: device
// names, queue numbers and IRQ numbers are given anew by the kernel as devices
// come and go.
func (s *Setter) place(of host.Setting) (place, error) {
	if name, ok := sysctlFiles[of.Kind]; ok {
		if of.Device != "" {
			return place{}, fmt.Errorf("%s is of the host, not of a device: %w", of.Kind, errors.ErrUnsupported)
		}
		return place{path: filepath.Join(s.proc, "sys/net/core", name), form: numberForm{}}, nil
	}
	switch of.Kind {
	case host.IRQAffinity:
		v, err := s.vector(of)
		if err != nil {
			return place{}, err
		}
		return place{path: s.irqFile(v, "smp_affinity_list"), form: listForm{}}, nil
	case host.RPSCPUs:
		return s.queue(of, host.RX, maskForm{})
	case host.RPSFlowCnt:
		return s.queue(of, host.RX, numberForm{})
	case host.XPSCPUs:
		return s.queue(of, host.TX, maskForm{})
	}
	return place{}, fmt.Errorf("%s: %w", of.Kind, errors.ErrUnsupported)
}

// queue is a file of a queue's folder, named as the kind.
func (s *Setter) queue(of host.Setting, direction host.Direction, form form) (place, error) {
	inv, d, err := s.device(of)
	if err != nil {
		return place{}, err
	}
	queues := d.RX
	if direction == host.TX {
		queues = d.TX
	}
	if of.Direction != direction {
		return place{}, missing("%s: this kind is of %s queues", of, direction)
	}
	if direction == host.TX && len(queues) == 1 {
		return place{}, missing("%s: with one TX queue there is no XPS", of)
	}
	for i := range queues {
		if queues[i].Index == of.Queue {
			path := filepath.Join(s.netDir(d), "queues", fmt.Sprintf("%s-%d", direction, of.Queue), string(of.Kind))
			return place{path, form, inv.CPUs.NumIDs()}, nil
		}
	}
	return place{}, missing("%s: the device has no queue %s-%d", of, direction, of.Queue)
}

// device finds the device, and that its name is no other's now.
func (s *Setter) device(of host.Setting) (*host.Inventory, *host.Device, error) {
	inv := s.inventory()
	if inv == nil {
		return nil, nil, errNoInventory
	}
	d := inv.Device(of.Device)
	if d == nil {
		return nil, nil, missing("%s: no such device", of)
	}
	text, err := os.ReadFile(filepath.Join(s.netDir(d), "ifindex"))
	if err != nil {
		return nil, nil, gone(err)
	}
	if now := strings.TrimSpace(string(text)); now != strconv.Itoa(d.Ifindex) {
		return nil, nil, missing("%s: another device has this name now (ifindex %s, was %d)", of, now, d.Ifindex)
	}
	return inv, d, nil
}

// vector finds the vector, and that its IRQ number is no other's now.
func (s *Setter) vector(of host.Setting) (*host.Vector, error) {
	_, d, err := s.device(of)
	if err != nil {
		return nil, err
	}
	v := d.VectorOf(of)
	if v == nil {
		return nil, missing("%s: no vector is known to serve it", of)
	}
	want := strings.Join(v.Actions, ",")
	text, err := os.ReadFile(filepath.Join(s.sys, "kernel/irq", strconv.Itoa(v.IRQ), "actions"))
	if err == nil {
		if now := strings.TrimSpace(string(text)); !sameWords(now, want) {
			return nil, missing("%s: IRQ %d is %q now, was %q", of, v.IRQ, now, want)
		}
		return v, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	// Before 4.9, or with that folder hidden: /proc/irq/N has a folder per action.
	for _, action := range v.Actions {
		if _, err := os.Stat(s.irqFile(v, action)); err != nil {
			return nil, fmt.Errorf("%s: IRQ %d: %w", of, v.IRQ, err)
		}
	}
	return v, nil
}

func (s *Setter) netDir(d *host.Device) string { return filepath.Join(s.sys, "class/net", d.Name) }

func (s *Setter) irqFile(v *host.Vector, name string) string {
	return filepath.Join(s.proc, "irq", strconv.Itoa(v.IRQ), name)
}
