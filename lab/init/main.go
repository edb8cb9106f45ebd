// Command init is PID 1 of a lab guest: it makes the machine ready as the
// setup file of the initramfs says, starts the program under test, and serves
// the few primitives that a test needs to see the truth by itself: the bytes
// of a file, a write with its error number, a program, some traffic.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/netsteer/netsteer/lab/nic"
	"github.com/netsteer/netsteer/lab/wire"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("init: ")
	if err := run(); err != nil {
		log.Print(err)
	}
	// The host sees QEMU end, at once instead of at its deadline.
	_ = unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
}

func run() error {
	if err := mount(); err != nil {
		return err
	}
	setup, err := readSetup()
	if err != nil {
		return err
	}
	for _, path := range setup.Modules {
		if err := load(path); err != nil {
			return err
		}
	}
	for path, text := range setup.Sysctls {
		if err := os.WriteFile(filepath.Join("/proc/sys", path), []byte(text), 0); err != nil {
			return fmt.Errorf("sysctl: %w", err)
		}
	}
	devices, err := bringUp(setup)
	if err != nil {
		return err
	}
	if err := discard(); err != nil {
		return err
	}
	if setup.FilterSteps > 0 {
		if err := filter(setup.FilterSteps); err != nil {
			return err
		}
	}
	if len(setup.Program) > 0 {
		if err := start(setup.Program); err != nil {
			return err
		}
	}
	return serve(devices)
}

func mount() error {
	for _, m := range []struct{ kind, at string }{
		{"proc", "/proc"}, {"sysfs", "/sys"}, {"devtmpfs", "/dev"}, {"tmpfs", "/tmp"}, {"tmpfs", "/var"},
	} {
		if err := os.MkdirAll(m.at, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(m.kind, m.at, m.kind, 0, ""); err != nil {
			return fmt.Errorf("mounting %s on %s: %w", m.kind, m.at, err)
		}
	}
	return nil
}

func readSetup() (wire.Setup, error) {
	var setup wire.Setup
	text, err := os.ReadFile(wire.SetupPath)
	if err != nil {
		return setup, err
	}
	return setup, json.Unmarshal(text, &setup)
}

func load(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.FinitModule(int(f.Fd()), "", 0); err != nil && err != unix.EEXIST {
		return fmt.Errorf("module %s: %w", path, err)
	}
	return nil
}

// bringUp gives the devices of the setup, in its order, after they are up and
// have a carrier: before that, packets for them are lost.
func bringUp(setup wire.Setup) ([]string, error) {
	if err := nic.Up("lo"); err != nil {
		return nil, err
	}
	var devices []string
	for _, link := range setup.Links {
		name, err := byMAC(link.MAC)
		if err != nil {
			return nil, err
		}
		if link.Name != "" {
			if err := nic.Rename(name, link.Name); err != nil {
				return nil, err
			}
			name = link.Name
		}
		prefix, err := netip.ParsePrefix(link.Address)
		if err != nil {
			return nil, err
		}
		if link.Combined > 0 {
			if err := nic.Combined(name, link.Combined); err != nil {
				return nil, err
			}
		}
		if err := nic.Address(name, prefix); err != nil {
			return nil, err
		}
		if err := nic.Up(name); err != nil {
			return nil, err
		}
		devices = append(devices, name)
	}
	for _, name := range devices {
		if err := waitCarrier(name); err != nil {
			return nil, err
		}
	}
	for _, n := range setup.Neighbours {
		address, err := netip.ParseAddr(n.Address)
		if err != nil {
			return nil, err
		}
		mac, err := net.ParseMAC(n.MAC)
		if err != nil {
			return nil, err
		}
		if err := nic.Neighbour(devices[n.Link], address, [6]byte(mac)); err != nil {
			return nil, err
		}
	}
	for _, r := range setup.Routes {
		to, err := netip.ParsePrefix(r.To)
		if err != nil {
			return nil, err
		}
		via, err := netip.ParseAddr(r.Via)
		if err != nil {
			return nil, err
		}
		if err := nic.Route(to, via); err != nil {
			return nil, err
		}
	}
	return devices, nil
}

// byMAC waits for the device: some drivers probe after their module is loaded.
func byMAC(mac string) (string, error) {
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		interfaces, err := net.Interfaces()
		if err != nil {
			return "", err
		}
		for _, i := range interfaces {
			if i.HardwareAddr.String() == mac {
				return i.Name, nil
			}
		}
		if time.Now().After(deadline) {
			return "", fmt.Errorf("no device with MAC %s after 20 s", mac)
		}
	}
}

func waitCarrier(name string) error {
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		text, err := os.ReadFile(filepath.Join("/sys/class/net", name, "carrier"))
		if err == nil && string(text) == "1\n" {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s has no carrier after 20 s", name)
		}
	}
}

// start runs the program under test beside PID 1; a test that needs it fails
// by its own deadline, with this line on the console.
func start(args []string) error {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("program under test: %w", err)
	}
	go func() { log.Printf("%s ended: %v", args[0], cmd.Wait()) }()
	return nil
}
