// Package e2e tests the built binary on the machine it is built on, the way its
// users meet it: over HTTP, by promtool and Prometheus, from a shell.
// `make e2e` builds the binary and runs this.
package e2e
