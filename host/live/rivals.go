package live

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/netsteer/netsteer/host"
)

// rivals are the programs that stay running and write smp_affinity or rps_cpus:
// comm of the process (15 bytes at most), whether it writes only at the start of
// a profile, and how its bans are read. Programs that
// write once and end (perftune.py, set_irq_affinity, google_set_multiqueue) are
// not here: what they wrote is seen in the files.
var rivals = []struct {
	name string
	comm []string
	once bool
	bans func(r *host.Rival, args []string)
}{
	{name: "irqbalance", comm: []string{"irqbalance"}, bans: irqbalanceBans},
	// Python: the kernel's name of it is the script's.
	{name: "tuned", comm: []string{"tuned"}, once: true},
	{name: "katalyst-agent", comm: []string{"katalyst-agent"}},
	{name: "irqd", comm: []string{"irqd"}},
}

// Rivals returns a reader of all programs known to write the same files, running
// or not. Its error wraps fs.ErrPermission where the host's processes cannot be
// seen: then nothing is known, which is not that none runs.
func Rivals(procfs string) func() ([]host.Rival, error) {
	return func() ([]host.Rival, error) { return readRivals(procfs) }
}

func readRivals(procfs string) ([]host.Rival, error) {
	// PID 2 is kthreadd on every host. hidepid hides it, and in another PID
	// namespace (a container's own /proc) there is none: then irqbalance could
	// run unseen as well.
	if comm(procfs, "2") != "kthreadd" {
		return nil, fmt.Errorf("%s: processes of the host cannot be seen (hidepid, or another PID namespace): %w", procfs, fs.ErrPermission)
	}
	dir, err := os.Open(procfs)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	known := make([]host.Rival, len(rivals))
	byComm := map[string]int{}
	for i, r := range rivals {
		known[i].Name, known[i].Once = r.name, r.once
		for _, name := range r.comm {
			byComm[name] = i
		}
	}
	for _, pid := range names {
		if _, err := strconv.ParseUint(pid, 10, 32); err != nil {
			continue
		}
		i, ok := byComm[comm(procfs, pid)]
		if !ok {
			continue
		}
		known[i].Active = true
		if bans := rivals[i].bans; bans != nil {
			bans(&known[i], cmdline(procfs, pid))
		}
	}
	return known, nil
}

// comm is a process's name, "" if it has ended.
func comm(procfs, pid string) string {
	text, err := os.ReadFile(filepath.Join(procfs, pid, "comm"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

func cmdline(procfs, pid string) []string {
	text, err := os.ReadFile(filepath.Join(procfs, pid, "cmdline"))
	if err != nil || len(text) == 0 {
		return nil
	}
	return strings.Split(string(bytes.TrimSuffix(text, []byte{0})), "\x00")
}

// irqbalanceBans reads what irqbalance leaves alone: --banirq and --banmod, each
// repeated (irqbalance.c, 1.9.5). Bans from its environment, its policy script
// and its socket are not seen.
func irqbalanceBans(r *host.Rival, args []string) {
	for _, value := range values(args, "--banirq", "-i") {
		if irq, err := strconv.Atoi(value); err == nil && irq >= 0 {
			r.BannedIRQs = append(r.BannedIRQs, irq)
		}
	}
	r.BannedModules = append(r.BannedModules, values(args, "--banmod", "-m")...)
}

// values are the values of a repeated option: "--long=value", "--long value",
// "-svalue" and "-s value".
func values(args []string, long, short string) (all []string) {
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == long || arg == short:
			if i++; i < len(args) {
				all = append(all, args[i])
			}
		case strings.HasPrefix(arg, long+"="):
			all = append(all, arg[len(long)+1:])
		case strings.HasPrefix(arg, short) && !strings.HasPrefix(arg, "--"):
			all = append(all, arg[len(short):])
		}
	}
	return all
}
