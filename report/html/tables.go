package html

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"html"
	"io"
	"slices"
	"strconv"
	"strings"
)

// plainTable is a table of a page as text.
type plainTable struct {
	section, caption string
	heads            []string
	numbers          []bool // by column
	rows             [][]string
}

// plainTable begins one in the present section.
func (s *sheet) plainTable(caption string) *plainTable {
	t := &plainTable{caption: plainText(caption)}
	if n := len(s.sections); n > 0 {
		t.section = plainText(s.sections[n-1].title)
	}
	s.plain = append(s.plain, t)
	return t
}

// row adds a row of HTML.
func (t *plainTable) row(cells []string) {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = plainText(c)
	}
	t.rows = append(t.rows, row)
}

// dropEmpty leaves out columns without a heading and a text: those of bars.
func (t *plainTable) dropEmpty() {
	for i := len(t.heads) - 1; i > 0; i-- {
		empty := t.heads[i] == ""
		for _, r := range t.rows {
			empty = empty && (i >= len(r) || r[i] == "")
		}
		if !empty {
			continue
		}
		t.heads, t.numbers = slices.Delete(slices.Clone(t.heads), i, i+1), slices.Delete(slices.Clone(t.numbers), i, i+1)
		for k, r := range t.rows {
			if i < len(r) {
				t.rows[k] = slices.Delete(r, i, i+1)
			}
		}
	}
}

// ungrouped is a number without the thin spaces between its digits; nothing for none.
func ungrouped(s string) string {
	if s == missing {
		return ""
	}
	return strings.NewReplacer("\u202f", "", "\u2009", "", "\u00a0", "").Replace(s)
}

// plainText is HTML of this package as text.
func plainText(cell string) string { return strings.TrimSpace(html.UnescapeString(stripped(cell))) }

// Markdown writes the tables of a page, with its headings. Errors are as of Write.
func Markdown(w io.Writer, docs []Document) error {
	p, err := newPage(docs)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	for i, s := range p.sheets {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString("# " + cell(plainText(s.title)) + "\n")
		if s.verdict != "" {
			b.WriteString("\n" + cell(plainText(s.verdict)) + "\n")
		}
		section := ""
		for _, t := range s.plain {
			t.dropEmpty()
			if t.section != section {
				section = t.section
				b.WriteString("\n## " + cell(section) + "\n")
			}
			t.markdown(b)
		}
	}
	return b.Flush()
}

// markdown writes a table.
func (t *plainTable) markdown(b *bufio.Writer) {
	b.WriteString("\n")
	if t.caption != "" {
		b.WriteString(cell(t.caption) + "\n\n")
	}
	line := func(cells []string) {
		for i := range t.heads {
			text := ""
			if i < len(cells) {
				text = cell(cells[i])
			}
			b.WriteString("| " + text + " ")
		}
		b.WriteString("|\n")
	}
	line(t.heads)
	for i := range t.heads {
		b.WriteString("|---")
		if t.numbers[i] {
			b.WriteString(":")
		}
	}
	b.WriteString("|\n")
	for _, r := range t.rows {
		line(r)
	}
}

// cell is a text that Markdown shows as it is, on one line.
func cell(s string) string {
	return strings.NewReplacer("\\", "\\\\", "|", "\\|", "<", "&lt;", "*", "\\*", "_", "\\_", "`", "\\`", "[", "\\[", "\n", " ").Replace(s)
}

// CSV writes the cells of all tables of a page, a line for each: result, section, table, row, column, value. The row
// is the first cell of the row, the table its caption, or its number in the section. Errors are as of Write.
func CSV(w io.Writer, docs []Document) error {
	p, err := newPage(docs)
	if err != nil {
		return err
	}
	c := csv.NewWriter(w)
	c.Write([]string{"result", "section", "table", "row", "column", "value"})
	for _, s := range p.sheets {
		section, number := "", 0
		for _, t := range s.plain {
			if number++; t.section != section {
				section, number = t.section, 1
			}
			t.dropEmpty()
			for k, r := range t.rows {
				head := r[0]
				if len(t.heads) == 1 { // a list
					head, r = strconv.Itoa(k+1), []string{"", r[0]}
				}
				for i := 1; i < len(r); i++ {
					value := r[i]
					if t.numbers[min(i, len(t.numbers)-1)] {
						value = ungrouped(value)
					}
					c.Write([]string{cmp.Or(s.name, plainText(s.title)), t.section, cmp.Or(t.caption, strconv.Itoa(number)), head, t.heads[min(i, len(t.heads)-1)], value})
				}
			}
		}
	}
	c.Flush()
	return c.Error()
}
