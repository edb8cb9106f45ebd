package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// table is text in columns, as wide as their widest cell. text/tabwriter can't
// align one column to the right and another to the left.
type table struct {
	heads []string // "<" in front: to the left, ">": to the right
	rows  [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// write leaves out columns without a cell.
func (t *table) write(out io.Writer, indent string) {
	width := make([]int, len(t.heads))
	for c := range t.heads {
		for _, row := range t.rows {
			width[c] = max(width[c], utf8.RuneCountInString(row[c]))
		}
		if width[c] > 0 {
			width[c] = max(width[c], len(t.heads[c])-1)
		}
	}
	heads := make([]string, len(t.heads))
	for c, head := range t.heads {
		heads[c] = head[1:]
	}
	for _, row := range append([][]string{heads}, t.rows...) {
		var line strings.Builder
		for c, cell := range row {
			if width[c] == 0 {
				continue
			}
			blanks := strings.Repeat(" ", width[c]-utf8.RuneCountInString(cell))
			if t.heads[c][0] == '>' {
				line.WriteString(blanks + cell + "  ")
			} else {
				line.WriteString(cell + blanks + "  ")
			}
		}
		fmt.Fprintln(out, strings.TrimRight(indent+line.String(), " "))
	}
}
