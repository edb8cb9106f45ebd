package main

import (
	"strings"
	"testing"
)

// TestTable proves the alignment, and that an empty column is left out with its
// head.
func TestTable(t *testing.T) {
	table := table{heads: []string{">QUEUE", "<MASK", "<NOTE", ">N"}}
	table.add("0", "0-3", "", "7")
	table.add("rx 10", "é", "", "12345")
	var out strings.Builder
	table.write(&out, "  ")
	want := "" +
		"  QUEUE  MASK      N\n" +
		"      0  0-3       7\n" +
		"  rx 10  é     12345\n"
	if out.String() != want {
		t.Errorf("got:\n%swant:\n%s", out.String(), want)
	}
}
