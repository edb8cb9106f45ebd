// Package promtool holds the tests that ask Prometheus's own tool about what
// netsteer exports. It has no code for the product.
package promtool
