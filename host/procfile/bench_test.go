package procfile

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// BenchmarkInterrupts sets the parsers beside a plain copy of the same bytes.
func BenchmarkInterrupts(b *testing.B) {
	for _, shape := range []struct{ cpus, irqs int }{{8, 64}, {256, 2000}, {512, 4000}} {
		for kind, generate := range map[string]func(int, int, uint64) []byte{"sparse": generateInterrupts, "dense": generateDense} {
			text := generate(shape.cpus, shape.irqs, 1)
			run := func(name string, f func() error) {
				b.Run(fmt.Sprintf("%dx%d/%s/%s", shape.cpus, shape.irqs, kind, name), func(b *testing.B) {
					if err := f(); err != nil {
						b.Fatal(err)
					}
					b.SetBytes(int64(len(text)))
					b.ReportAllocs()
					for b.Loop() {
						if err := f(); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
			dst := make([]byte, len(text))
			run("memcpy", func() error { copy(dst, text); return nil })
			var table Interrupts
			run("fast", func() error { return table.Parse(text) })
			run("scalar", func() error { return table.ParseScalar(text) })
		}
	}
}

// reread is what a scraper does: a kept descriptor, one buffer.
func reread(b *testing.B, f *os.File, buf []byte) []byte {
	n, err := f.ReadAt(buf, 0)
	if n == 0 || n == len(buf) {
		b.Fatal(n, err)
	}
	return buf[:n]
}

// BenchmarkProcfs sets softirqs and softnet_stat of 512 CPUs beside procfs, which
// reads the file itself: "read+fast" does so too.
func BenchmarkProcfs(b *testing.B) {
	const cpus = 512
	files := map[string][]byte{"softirqs": generateSoftirqs(cpus), "net/softnet_stat": generateSoftnet(cpus)}
	fs := procfsOf(b, files)
	var softirqs Softirqs
	var rows []SoftnetRow
	for _, c := range []struct {
		name         string
		fast, scalar func([]byte) error
		procfs       func() error
	}{
		{
			"softirqs", softirqs.Parse, softirqs.ParseScalar,
			func() error { _, err := fs.Softirqs(); return err },
		},
		{
			"net/softnet_stat",
			func(text []byte) (err error) { rows, err = ParseSoftnet(rows[:0], text); return err },
			func(text []byte) (err error) { rows, err = ParseSoftnetScalar(rows[:0], text); return err },
			func() error { _, err := fs.NetSoftnetStat(); return err },
		},
	} {
		text := files[c.name]
		path := filepath.Join(b.TempDir(), "file")
		if err := os.WriteFile(path, text, 0o644); err != nil {
			b.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		buf := make([]byte, len(text)+1)
		for _, way := range []struct {
			name string
			run  func() error
		}{
			{"fast", func() error { return c.fast(text) }},
			{"read+fast", func() error { return c.fast(reread(b, f, buf)) }},
			{"scalar", func() error { return c.scalar(text) }},
			{"procfs", c.procfs},
		} {
			b.Run(filepath.Base(c.name)+"/"+way.name, func(b *testing.B) {
				if err := way.run(); err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				for b.Loop() {
					if err := way.run(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkRatio is the figure that holds on a machine shared with others: both
// sides take turns, so noise meets them alike, and their medians are divided.
func BenchmarkRatio(b *testing.B) {
	sparse := generateInterrupts(256, 2000, 1)
	dst := make([]byte, len(sparse))
	var table Interrupts
	files := map[string][]byte{"softirqs": generateSoftirqs(512), "net/softnet_stat": generateSoftnet(512)}
	fs := procfsOf(b, files)
	var softirqs Softirqs
	var rows []SoftnetRow
	for _, c := range []struct {
		name, unit string
		ours       func() error
		theirs     func() error
		inverse    bool
	}{
		{
			"interrupts256x2000", "memcpys",
			func() error { return table.Parse(sparse) },
			func() error { copy(dst, sparse); return nil }, false,
		},
		{
			"softirqs512", "times-faster-than-procfs",
			func() error { return softirqs.Parse(files["softirqs"]) },
			func() error { _, err := fs.Softirqs(); return err }, true,
		},
		{
			"softnet512", "times-faster-than-procfs",
			func() (err error) { rows, err = ParseSoftnet(rows[:0], files["net/softnet_stat"]); return err },
			func() error { _, err := fs.NetSoftnetStat(); return err }, true,
		},
	} {
		b.Run(c.name, func(b *testing.B) {
			var ours, theirs []time.Duration
			take := func(f func() error) time.Duration {
				start := time.Now()
				if err := f(); err != nil {
					b.Fatal(err)
				}
				return time.Since(start)
			}
			for b.Loop() {
				ours, theirs = append(ours, take(c.ours)), append(theirs, take(c.theirs))
			}
			slices.Sort(ours)
			slices.Sort(theirs)
			ratio := float64(ours[len(ours)/2]) / float64(theirs[len(theirs)/2])
			if c.inverse {
				ratio = 1 / ratio
			}
			b.ReportMetric(ratio, c.unit)
			b.ReportMetric(float64(ours[len(ours)/2].Nanoseconds()), "ours-ns")
		})
	}
}
