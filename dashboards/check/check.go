// Package check reads the committed dashboard as Grafana would, and asks a
// Prometheus for what its panels show.
package check

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// Expression is one query of a panel.
type Expression struct {
	Row, Panel string
	// Expr still holds Grafana's variables, see Fill.
	Expr   string
	Legend string
	// Fault is what must be wrong, or set, for the query to have a result; empty
	// if a healthy host with traffic has one.
	Fault string
}

// fault is how a description marks a panel that a healthy host leaves empty.
const fault = "\n\nNeeds a fault: "

// dashboard is the part of Grafana's JSON that is used here.
type dashboard struct {
	Panels []struct {
		Type, Title, Description string
		Targets                  []struct{ Expr, LegendFormat string }
	}
	Templating struct {
		List []struct{ Name, Type, Query string }
	}
}

func read(path string) (*dashboard, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	d := &dashboard{}
	if err := json.Unmarshal(content, d); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return d, nil
}

// Expressions gives every query of the dashboard in the file, in its order.
func Expressions(path string) ([]Expression, error) {
	d, err := read(path)
	if err != nil {
		return nil, err
	}
	var out []Expression
	row := ""
	for _, p := range d.Panels {
		if p.Type == "row" {
			row = p.Title
		}
		_, needs, _ := strings.Cut(p.Description, fault)
		for _, t := range p.Targets {
			out = append(out, Expression{Row: row, Panel: p.Title, Expr: t.Expr, Legend: t.LegendFormat, Fault: needs})
		}
	}
	return out, nil
}

// Variables gives the queries of the dashboard's variables by name.
func Variables(path string) (map[string]string, error) {
	d, err := read(path)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, v := range d.Templating.List {
		if v.Type == "query" {
			out[v.Name] = v.Query
		}
	}
	return out, nil
}

// Choice is what a person chooses on the dashboard, and Grafana for them.
type Choice struct {
	Job, Instance string
	// Device is a regular expression.
	Device string
	// RateInterval stands for $__rate_interval: four scrape intervals.
	RateInterval time.Duration
}

// Fill puts a choice in for the variables.
func (c Choice) Fill(expr string) string {
	return strings.NewReplacer(
		"$__rate_interval", fmt.Sprintf("%dms", c.RateInterval.Milliseconds()),
		"$job", c.Job,
		"$instance", c.Instance,
		"$device", c.Device,
	).Replace(expr)
}

// client gives up long before a test does.
var client = http.Client{Timeout: 10 * time.Second}

// Count asks the Prometheus at base, as http://127.0.0.1:9090, how many series
// the expression has now.
func Count(base, expr string) (int, error) {
	resp, err := client.Get(base + "/api/v1/query?query=" + url.QueryEscape(expr))
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	var answer struct {
		Status, Error string
		Data          struct{ Result []json.RawMessage }
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return 0, fmt.Errorf("%s: %s: %w", base, resp.Status, err)
	}
	if answer.Status != "success" {
		return 0, fmt.Errorf("%s: %s: %s", expr, resp.Status, answer.Error)
	}
	return len(answer.Data.Result), nil
}
