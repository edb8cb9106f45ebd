package lab

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/netsteer/netsteer/lab/wire"
)

// NetsteerPath is where a guest has the netsteer binary under test.
const NetsteerPath = "/bin/netsteer"

// cacheDir is fetch.sh's: NETSTEER_CACHE, or ~/.cache/netsteer.
func cacheDir() (string, error) {
	if dir := os.Getenv("NETSTEER_CACHE"); dir != "" {
		return filepath.Join(dir, "lab"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no home directory, set NETSTEER_CACHE: %w", err)
	}
	return filepath.Join(home, ".cache", "netsteer", "lab"), nil
}

// initramfs is the guest's whole file system, in memory: no file is left
// behind when this process is killed. It is not compressed: reading it takes
// less time than an emulated CPU needs to unpack it.
func (g Guest) initramfs(kernelDir string) (*os.File, error) {
	files, err := g.files(kernelDir)
	if err != nil {
		return nil, err
	}
	fd, err := unix.MemfdCreate("initramfs", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("memfd for the initramfs: %w", err)
	}
	f := os.NewFile(uintptr(fd), "initramfs")
	buffered := bufio.NewWriterSize(f, 1<<20)
	a := newArchive(buffered)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		a.file(name, files[name])
	}
	if err := errors.Join(a.close(), buffered.Flush()); err != nil {
		f.Close()
		return nil, fmt.Errorf("initramfs: %w", err)
	}
	return f, nil
}

// files are the contents of the initramfs by path: PID 1, its setup, the
// modules, the program under test, the guest's own.
func (g Guest) files(kernelDir string) (map[string][]byte, error) {
	pid1, err := buildInit()
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{"/init": pid1}
	if len(g.Program) > 0 && g.Program[0] == NetsteerPath {
		if files[NetsteerPath], err = buildNetsteer(); err != nil {
			return nil, err
		}
	}
	names := append([]string(nil), g.Modules...)
	for _, card := range g.NICs {
		names = append(names, driverModules[card.Driver]...)
	}
	modules, err := withDependencies(filepath.Join(kernelDir, "modules"), names)
	if err != nil {
		return nil, err
	}
	setup := g.setup()
	for _, file := range modules {
		inside := "/modules/" + filepath.Base(file)
		if files[inside], err = os.ReadFile(file); err != nil {
			return nil, err
		}
		setup.Modules = append(setup.Modules, inside)
	}
	for inside, local := range g.Files {
		if files[inside], err = os.ReadFile(local); err != nil {
			return nil, err
		}
	}
	files[wire.SetupPath], err = json.Marshal(setup)
	return files, err
}

// setup is the guest as PID 1 is told of it, without the modules.
func (g Guest) setup() wire.Setup {
	s := wire.Setup{Sysctls: g.Sysctls, FilterSteps: g.FilterSteps, Program: g.Program}
	for n, card := range g.NICs {
		s.Links = append(s.Links, wire.Link{MAC: text(mac(n)), Name: card.Name, Address: address(n).String() + "/24", Combined: card.Queues})
		s.Neighbours = append(s.Neighbours, wire.Neighbour{Link: n, Address: sink(n).String(), MAC: text(sinkMAC(n))})
	}
	for _, n := range g.Neighbours {
		s.Neighbours = append(s.Neighbours, wire.Neighbour{Link: n.NIC, Address: n.Address.String(), MAC: text(n.MAC)})
	}
	for _, r := range g.Routes {
		s.Routes = append(s.Routes, wire.Route{To: r.To.String(), Via: sink(r.NIC).String()})
	}
	return s
}

// buildInit and buildNetsteer give the bytes of the binaries, built once per
// process. NETSTEER_BINARY names a netsteer built before.
var (
	buildInit     = sync.OnceValues(func() ([]byte, error) { return build("./lab/init") })
	buildNetsteer = sync.OnceValues(func() ([]byte, error) {
		if path := os.Getenv("NETSTEER_BINARY"); path != "" {
			return os.ReadFile(path)
		}
		return build("./cmd/exporter")
	})
)

// build compiles a command of this module for a guest: static, because there
// is no other file.
func build(pkg string) ([]byte, error) {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return nil, fmt.Errorf("go list -m: %w", err)
	}
	dir, err := os.MkdirTemp("", "lab-build-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "out")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", out, pkg)
	cmd.Dir = strings.TrimSpace(string(root))
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
	if message, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build %s: %w\n%s", pkg, err, message)
	}
	return os.ReadFile(out)
}
