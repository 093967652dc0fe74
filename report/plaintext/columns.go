package plaintext

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Columns lays out text whose lines have cells separated by tabs for a terminal
// of a width: neighbouring lines with tabs are a table, other lines are prose.
// The last column of a table wraps. Where a table is too wide, columns are left
// out by the names in their first line, the first of drop first.
func Columns(text string, width int, drop ...string) string {
	var out strings.Builder
	var rows [][]string
	flush := func() {
		if rows != nil {
			writeTable(&out, rows, width, drop)
		}
		rows = nil
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.Contains(line, "\t") {
			rows = append(rows, strings.Split(line, "\t"))
			continue
		}
		flush()
		indent := len(line) - len(strings.TrimLeft(line, " "))
		for i, part := range Wrap(line[indent:], min(width, WidestProse)-indent-2) {
			if i > 0 && indent > 0 {
				part = "  " + part
			}
			out.WriteString(strings.TrimRight(strings.Repeat(" ", indent)+part, " ") + "\n")
		}
	}
	flush()
	return out.String()
}

// leastLast is how wide the last column of a table is at least, if it has so
// much to say.
const leastLast = 26

// writeTable writes rows; those that have fewer cells have empty ones at the end.
func writeTable(out *strings.Builder, rows [][]string, width int, drop []string) {
	const gap = 2
	columns := 0
	for _, row := range rows {
		columns = max(columns, len(row))
	}
	widths := make([]int, columns)
	for i, row := range rows {
		row = append(row, make([]string, columns-len(row))...)
		rows[i] = row
		for c, cell := range row {
			widths[c] = max(widths[c], utf8.RuneCountInString(cell))
		}
	}
	var shown []int
	for c := range widths {
		shown = append(shown, c)
	}
	needs := func() (n int) { // of all but the last
		for _, c := range shown[:len(shown)-1] {
			n += widths[c] + gap
		}
		return n
	}
	for _, name := range drop {
		if needs()+min(leastLast, widths[shown[len(shown)-1]]) <= width {
			break
		}
		shown = slices.DeleteFunc(shown, func(c int) bool { return rows[0][c] == name })
	}
	before, last := needs(), shown[len(shown)-1]
	for _, row := range rows {
		line := ""
		for _, c := range shown[:len(shown)-1] {
			line += row[c] + strings.Repeat(" ", widths[c]+gap-utf8.RuneCountInString(row[c]))
		}
		for i, part := range Wrap(row[last], max(width-before, leastLast)) {
			if i > 0 {
				line = strings.Repeat(" ", before)
			}
			out.WriteString(strings.TrimRight(line+part, " ") + "\n")
		}
	}
}
