// Package alerts makes Prometheus rules for what netsteer exports, as a plain
// rule file and as a PrometheusRule for the Prometheus operator, both from one
// table and a configuration. `go run ./alerts/gen` writes them.
package alerts
