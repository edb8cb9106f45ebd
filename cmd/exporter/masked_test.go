package main

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/netsteer/netsteer/internal/testenv"
)

// TestMaskedInterrupts hides /proc/interrupts in a mount namespace, as container
// runtimes do, and proves that the commands say so and go on with the rest.
func TestMaskedInterrupts(t *testing.T) {
	testenv.Root(t)
	unshare := testenv.Tool(t, "unshare")
	masked := func(command string) string {
		cmd := exec.Command(unshare, "--mount", "sh", "-c", "mount --bind /dev/null /proc/interrupts && exec "+command)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil || stderr.Len() > 0 {
			t.Fatalf("%s: %v: %s", command, err, stderr.String())
		}
		return string(out)
	}

	if out := masked("netsteer inspect"); !strings.Contains(out, "\n  interrupts: masked (") {
		t.Errorf("inspect does not say that interrupts are masked:\n%s", out)
	}
	if out := masked("netsteer inspect --format=json"); strings.Contains(out, `"interrupts":[`) ||
		!strings.Contains(out, `"source":"interrupts","reason":"masked"`) {
		t.Errorf("the snapshot has rows, or does not say why not:\n%.2000s", out)
	}
	out := masked("netsteer metrics --window=1s")
	for _, want := range []string{
		`netsteer_source_degraded{device="",reason="masked",source="interrupts"} 1`,
		`netsteer_softnet_processed_total{cpu="0"} `,
		`netsteer_cpu_softirqs_total{cpu="0",type="NET_RX"} `,
	} {
		if !strings.Contains(out, "\n"+want) {
			t.Errorf("metrics have no %s", want)
		}
	}
}
