package alerts

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/prometheus/common/model"
	"go.yaml.in/yaml/v2"
)

// Rules is a rule file of Prometheus, and the spec of a PrometheusRule.
type Rules struct {
	Groups []Group `yaml:"groups"`
}

// Group is evaluated in order, at one time.
type Group struct {
	Name  string `yaml:"name"`
	Rules []Rule `yaml:"rules"`
}

// Rule is a recording or an alert.
type Rule struct {
	Record      string            `yaml:"record,omitempty"`
	Alert       string            `yaml:"alert,omitempty"`
	Expr        string            `yaml:"expr"`
	For         model.Duration    `yaml:"for,omitempty"`
	Labels      map[string]string `yaml:"labels,omitempty"`
	Annotations *Annotations      `yaml:"annotations,omitempty"`
}

// Annotations are for the person who gets the alert.
type Annotations struct {
	Summary     string `yaml:"summary"`
	Description string `yaml:"description"`
	RunbookURL  string `yaml:"runbook_url"`
}

// prometheusRule is monitoring.coreos.com/v1 of the Prometheus operator.
type prometheusRule struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string `yaml:"kind"`
	Metadata   Object `yaml:"metadata"`
	Spec       Rules  `yaml:"spec"`
}

// Build fills the table in with a configuration that has been checked.
func Build(c *Config) Rules {
	rules := make([]Rule, len(table))
	for i, e := range table {
		a := c.Alerts[e.alert]
		fill := func(s string) string {
			return strings.TrimPrefix(os.Expand(s, func(name string) string { return c.value(name, a) }), "\n")
		}
		rules[i] = Rule{Record: fill(e.record), Alert: e.alert, Expr: fill(e.expr)}
		if e.alert != "" {
			rules[i].For = a.For
			rules[i].Labels = map[string]string{"severity": a.Severity}
			rules[i].Annotations = &Annotations{
				Summary:     e.summary,
				Description: e.description,
				RunbookURL:  c.RunbookBase + "#" + strings.ToLower(e.alert),
			}
		}
	}
	return Rules{Groups: []Group{{Name: "netsteer", Rules: rules}}}
}

// value gives what stands for ${name} in the table.
func (c *Config) value(name string, a Alert) string {
	switch name {
	case "selector":
		return c.Selector
	case "instance":
		return strings.Join(c.InstanceLabels, ", ")
	case "window":
		return c.Window.String()
	case "threshold":
		return strconv.FormatFloat(*a.Threshold, 'g', -1, 64)
	}
	panic("the table has ${" + name + "}, which is none of its names")
}

const header = "# Made by `go run ./alerts/gen`: change alerts/config.yaml or alerts/table.go instead.\n"

// An annotation stays one line, and grep finds it.
func init() { yaml.FutureLineWrap() }

// Files gives the content of each file to write, by name.
func Files(c *Config) (map[string][]byte, error) {
	rules := Build(c)
	files := map[string][]byte{}
	for name, document := range map[string]any{
		"netsteer.rules.yaml": rules,
		"netsteer.prometheusrule.yaml": prometheusRule{
			APIVersion: "monitoring.coreos.com/v1",
			Kind:       "PrometheusRule",
			Metadata:   c.PrometheusRule,
			Spec:       rules,
		},
	} {
		content, err := yaml.Marshal(document)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		files[name] = bytes.Join([][]byte{[]byte(header), content}, nil)
	}
	return files, nil
}
