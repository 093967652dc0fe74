package cli

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// columnsOf lays out text whose lines have cells parted by tabs, as a terminal
// of a width shows it: neighbouring lines with tabs are a table, other lines are
// prose. Of a table those columns are left out, the first of drop first, without
// which the rest fits; the last column wraps.
func columnsOf(text string, width int, drop []string) string {
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
		for i, part := range wrapped(line[indent:], min(width, widestProse)-indent-2) {
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
		for i, part := range wrapped(row[last], max(width-before, leastLast)) {
			if i > 0 {
				line = strings.Repeat(" ", before)
			}
			out.WriteString(strings.TrimRight(line+part, " ") + "\n")
		}
	}
}

// wrapped is a text in lines of at most width columns, broken at blanks; a word that
// is wider has a line of its own.
func wrapped(text string, width int) []string {
	var lines []string
	line, used := "", 0
	for i, word := range words(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case used+1+n > width:
			lines = append(lines, line)
			line, used = "", 0
		default:
			line += " "
			used++
		}
		line += word
		used += n
	}
	return append(lines, line)
}
