package main

import (
	"testing"

	"github.com/alecthomas/kingpin/v2"
)

// TestCollectorFlags proves that a collector named by a flag is as the flag
// says, and any other as its default, or off with --collector.disable-defaults.
func TestCollectorFlags(t *testing.T) {
	tests := []struct {
		args                  []string
		queue, cpu, irqMatrix bool
	}{
		{args: nil, queue: true, cpu: true, irqMatrix: false},
		{args: []string{"--collector.irq-matrix"}, queue: true, cpu: true, irqMatrix: true},
		{args: []string{"--no-collector.cpu"}, queue: true, cpu: false, irqMatrix: false},
		{args: []string{"--collector.disable-defaults", "--collector.queue"}, queue: true, cpu: false, irqMatrix: false},
		{args: []string{"--collector.queue", "--no-collector.disable-defaults"}, queue: true, cpu: true, irqMatrix: false},
	}
	for _, tt := range tests {
		app := kingpin.New("test", "")
		flags := addCollectorFlags(app.Command("x", ""))
		if _, err := app.Parse(append([]string{"x"}, tt.args...)); err != nil {
			t.Fatal(err)
		}
		on := flags.enabled()
		if on["queue"] != tt.queue || on["cpu"] != tt.cpu || on["irq-matrix"] != tt.irqMatrix {
			t.Errorf("%v: queue %v, cpu %v, irq-matrix %v", tt.args, on["queue"], on["cpu"], on["irq-matrix"])
		}
	}
}
