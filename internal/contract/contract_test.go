package contract

import (
	"slices"
	"testing"
)

func TestFaults(t *testing.T) {
	m := Metrics{"netsteer_a_total": {"device", "cpu"}, "netsteer_b": {"node"}}
	tests := []struct {
		name, expr string
		want       []string
	}{
		{"all there", `sum by (cpu) (rate(netsteer_a_total{job="x",device=~"e.*"}[5m]))`, nil},
		{"a join", `netsteer_a_total * on (instance, cpu) group_left (node) netsteer_b{node!=""}`, nil},
		{"no such metric", `netsteer_c`, []string{"netsteer_c is not exported"}},
		{"a label of another metric", `netsteer_a_total{node="0"} + netsteer_b`, []string{"netsteer_a_total has no label node"}},
		{"a clause with a label of none", `sum by (queue) (netsteer_a_total)`, []string{"no metric here has the label queue"}},
		{"a brace in a string", `netsteer_a_total{cpu="}",queue="1"}`, []string{"netsteer_a_total has no label queue"}},
		{"an equals sign in a string", `netsteer_a_total{cpu="queue=\"1\""}`, nil},
		{"a recording", `max without (device) (instance_cpu:netsteer_x:rate5m) > 0.5`, nil},
		{"not ours", `up{job="netsteer"} + process_cpu_seconds_total{anything="1"}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := m.Faults(tt.expr); !slices.Equal(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestReadKnowsTheContract(t *testing.T) {
	m := Read(t)
	if want := []string{"device", "direction", "queue", "irq", "cpu", "mapping"}; !slices.Equal(m["netsteer_queue_irq_info"], want) {
		t.Errorf("netsteer_queue_irq_info has %q, want %q", m["netsteer_queue_irq_info"], want)
	}
	if labels, ok := m["netsteer_allowed_cpus"]; !ok || len(labels) != 0 {
		t.Errorf("netsteer_allowed_cpus: %v, %q; want it, without labels", ok, labels)
	}
}
