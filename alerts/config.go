package alerts

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"go.yaml.in/yaml/v2"
)

// Config is what differs from site to site.
type Config struct {
	// Selector are the label matchers of netsteer's targets, without braces.
	Selector string `yaml:"selector"`
	// InstanceLabels tell two targets apart, on top of Selector.
	InstanceLabels []string `yaml:"instance_labels"`
	// Window of every rate: at least four scrape intervals.
	Window model.Duration `yaml:"window"`
	// RunbookBase and "#" and the alert's name in lower case are its runbook_url.
	RunbookBase string           `yaml:"runbook_base"`
	Alerts      map[string]Alert `yaml:"alerts"` // by alert, each of the table
	// PrometheusRule is the object for the Prometheus operator.
	PrometheusRule Object `yaml:"prometheus_rule"`
}

// Alert is what of one alert can be set.
type Alert struct {
	// Threshold is a ratio above 0 and below 1; nil for an alert that has none.
	Threshold *float64       `yaml:"threshold,omitempty"`
	For       model.Duration `yaml:"for"`
	Severity  string         `yaml:"severity"`
}

// Object names a Kubernetes object.
type Object struct {
	Name      string            `yaml:"name"`
	Namespace string            `yaml:"namespace,omitempty"`
	Labels    map[string]string `yaml:"labels,omitempty"`
}

var (
	matchers  = regexp.MustCompile(`^[a-zA-Z_]\w*(=|!=|=~|!~)"([^"\\]|\\.)*"(,[a-zA-Z_]\w*(=|!=|=~|!~)"([^"\\]|\\.)*")*$`)
	labelName = regexp.MustCompile(`^[a-zA-Z_]\w*$`)
)

// severities in the order in which they may wake somebody.
var severities = []string{"info", "warning", "critical"}

// ReadConfig reads and checks a configuration. An error is one line that names
// the file, the key and what is wrong.
func ReadConfig(path string) (*Config, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c := &Config{}
	if err := yaml.UnmarshalStrict(content, c); err != nil {
		return nil, fmt.Errorf("%s: %s", path, strings.Join(strings.Fields(err.Error()), " "))
	}
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

func (c *Config) check() error {
	if !matchers.MatchString(c.Selector) {
		return fmt.Errorf(`selector %q: want label matchers without braces or blanks, as job="netsteer"`, c.Selector)
	}
	if len(c.InstanceLabels) == 0 {
		return errors.New("instance_labels: want at least one, usually [job, instance]")
	}
	for _, l := range c.InstanceLabels {
		if !labelName.MatchString(l) {
			return fmt.Errorf("instance_labels: %q is no label name", l)
		}
	}
	if c.Window <= 0 {
		return fmt.Errorf("window %s: want more than 0, as 5m", c.Window)
	}
	if u, err := url.Parse(c.RunbookBase); err != nil || u.Host == "" || u.Fragment != "" {
		return fmt.Errorf("runbook_base %q: want a URL without fragment", c.RunbookBase)
	}
	if c.PrometheusRule.Name == "" {
		return errors.New("prometheus_rule.name: want the object's name")
	}
	return c.checkAlerts()
}

func (c *Config) checkAlerts() error {
	var names []string
	for _, e := range table {
		if e.alert == "" {
			continue
		}
		names = append(names, e.alert)
		a, ok := c.Alerts[e.alert]
		if !ok {
			return fmt.Errorf("alerts.%s is missing: each alert needs its for and severity", e.alert)
		}
		if err := a.check(strings.Contains(e.expr, "${threshold}")); err != nil {
			return fmt.Errorf("alerts.%s.%w", e.alert, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Alerts)) {
		if !slices.Contains(names, name) {
			return fmt.Errorf("alerts.%s: no such alert; there are %s", name, strings.Join(names, ", "))
		}
	}
	return nil
}

func (a Alert) check(hasThreshold bool) error {
	switch {
	case hasThreshold && a.Threshold == nil:
		return errors.New("threshold is missing: want a ratio between 0 and 1, as 0.85")
	case hasThreshold && !(*a.Threshold > 0 && *a.Threshold < 1):
		return fmt.Errorf("threshold %v: want a ratio between 0 and 1, as 0.85", *a.Threshold)
	case !hasThreshold && a.Threshold != nil:
		return errors.New("threshold: this alert has none")
	case !slices.Contains(severities, a.Severity):
		return fmt.Errorf("severity %q: want %s", a.Severity, strings.Join(severities, ", "))
	case a.For <= 0:
		return fmt.Errorf("for %s: want more than 0, as 10m", a.For)
	}
	return nil
}

// Scale divides every window and wait by n, for a test that cannot wait. An
// error says which became too short to be written.
func (c *Config) Scale(n float64) error {
	if !(n > 0) {
		return fmt.Errorf("scale %v: want more than 0", n)
	}
	divide := func(what string, d *model.Duration) error {
		// Prometheus writes durations in milliseconds at best.
		short := time.Duration(float64(*d) / n).Round(time.Millisecond)
		if short <= 0 {
			return fmt.Errorf("scale %v: nothing is left of %s %s", n, what, *d)
		}
		*d = model.Duration(short)
		return nil
	}
	if err := divide("window", &c.Window); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(c.Alerts)) {
		a := c.Alerts[name]
		if err := divide("alerts."+name+".for", &a.For); err != nil {
			return err
		}
		c.Alerts[name] = a
	}
	return nil
}
