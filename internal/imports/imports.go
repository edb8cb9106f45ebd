// Package imports keeps the house's imports one way. It has no code for the
// product: its test reads the module with `go list` and fails on an arrow that
// the table does not have.
package imports
