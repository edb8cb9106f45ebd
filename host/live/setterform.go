package live

import (
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/netsteer/netsteer/cpuset"
	"github.com/netsteer/netsteer/host"
)

// form is the text of a file: parse gives the canonical Value, render what to
// write.
type form interface {
	parse(text string) (host.Value, error)
	render(v host.Value, width int) (string, error)
}

// maskForm is a mask file's (rps_cpus, xps_cpus); 0 is the empty set.
type maskForm struct{}

func (maskForm) parse(text string) (host.Value, error) {
	set, err := cpuset.ParseMask(text)
	return host.Value(set.String()), err
}

// render writes exactly as many words as nr_cpu_ids has: a kernel refuses more,
// even zeros (bitmap_parse, lib/bitmap-str.c, Linux 7.2).
func (maskForm) render(v host.Value, width int) (string, error) {
	set, err := cpuset.ParseList(string(v))
	if err != nil {
		return "", err
	}
	if width > 0 && set.Last() >= width {
		return "", fmt.Errorf("CPU %d is beyond the last possible CPU %d: %w", set.Last(), width-1, unix.EOVERFLOW)
	}
	return set.Mask(width) + "\n", nil
}

// listForm is smp_affinity_list's.
type listForm struct{}

func (listForm) parse(text string) (host.Value, error) {
	set, err := cpuset.ParseList(text)
	return host.Value(set.String()), err
}

func (listForm) render(v host.Value, _ int) (string, error) {
	set, err := cpuset.ParseList(string(v))
	if err == nil && set.IsEmpty() {
		err = fmt.Errorf("an interrupt needs a CPU: %w", unix.EINVAL)
	}
	return set.String() + "\n", err
}

// numberForm is a decimal file's. The kernel shows and takes negative backlogs.
type numberForm struct{}

func (numberForm) parse(text string) (host.Value, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	return host.Value(strconv.FormatInt(n, 10)), err
}

func (f numberForm) render(v host.Value, _ int) (string, error) {
	v, err := f.parse(string(v))
	return string(v) + "\n", err
}
