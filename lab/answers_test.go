//go:build lab || lablong

package lab_test

import (
	"encoding/json"
	"fmt"

	"github.com/netsteer/netsteer/lab"
)

// The answers as a client reads them, not by the product's own types.

type transactionBody struct {
	State, Actor string
	Changes      []changeBody
}

type changeBody struct {
	Kind, Device, Direction, Target, Current, Proposed string
	Queue                                              int
}

type adviceBody struct {
	Devices []deviceBody
	Changes []changeBody
}

type deviceBody struct {
	Device, Cause string
	Skew          struct {
		RX struct {
			Evidence         string  `json:"cause_evidence"`
			PacketsPerSecond float64 `json:"packets_per_second"`
		}
	}
}

func advice(r *lab.Running) (a adviceBody, err error) {
	text, err := r.Get("/advice")
	if err != nil {
		return a, err
	}
	return a, json.Unmarshal(text, &a)
}

func (a adviceBody) device(name string) deviceBody {
	for _, d := range a.Devices {
		if d.Device == name {
			return d
		}
	}
	return deviceBody{}
}

// affinities are the changes of irq_affinity, a line each, in their order.
func (a adviceBody) affinities() (lines []string) {
	for _, c := range a.Changes {
		if c.Kind == "irq_affinity" {
			lines = append(lines, fmt.Sprintf("%s %s-%d %s: %s to %s", c.Device, c.Direction, c.Queue, c.Target, c.Current, c.Proposed))
		}
	}
	return lines
}
