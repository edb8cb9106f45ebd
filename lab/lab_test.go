//go:build lab

package lab_test

import (
	"testing"

	"github.com/netsteer/netsteer/lab"
)

func TestBootTmp(t *testing.T) {
	for _, k := range []string{"6.12", "6.1", "6.18"} {
		t.Run(k, func(t *testing.T) {
			r := lab.Boot(t, lab.Steering(k))
			s, err := r.ReadFile("/proc/interrupts")
			t.Log(r.Devices, err, "\n"+s)
			s, err = r.ReadFile("/proc/net/dev")
			t.Log(s, err)
			t.Log(r.Uptime())
			n, err := r.Send(1, lab.Flows{Count: 512, Seed: 1, Rate: 5000, Packets: 20000})
			t.Log(n, err)
			s, err = r.ReadFile("/proc/interrupts")
			t.Log(r.Devices, err, "\n"+s)
			s, err = r.ReadFile("/proc/net/dev")
			t.Log(s, err)
			s, err = r.ReadFile("/proc/net/snmp")
			t.Log(s, err)
			t.Log(r.WriteFile("/proc/irq/0/smp_affinity", "1"))
		})
	}
}
