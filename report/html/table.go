package html

import (
	"fmt"
	"strings"
)

// table is a table being written. Cells are HTML that is safe already.
type table struct {
	b       *strings.Builder
	classes []string // of the columns: n holds numbers, which end on the right, t sentences
	plain   *plainTable
}

// table begins a table. A column whose heading begins with "#" holds numbers, one that
// begins with "~" sentences.
func (s *sheet) table(caption string, heads ...string) *table {
	t := &table{b: s.body}
	t.plain = s.plainTable(caption)
	label := `aria-label="table"`
	if caption != "" { // beside the part that scrolls, so that all of it can be read
		id := fmt.Sprintf("%s-t%d", s.id, s.captions)
		s.captions++
		label = `aria-labelledby="` + id + `"`
		fmt.Fprintf(t.b, `<p class="caption" id="%s">%s</p>`, id, caption)
	}
	fmt.Fprintf(t.b, `<div class="scroll" tabindex="0" role="group" %s><table>`, label)
	t.b.WriteString("<thead><tr>")
	for _, h := range heads {
		of := ""
		switch {
		case strings.HasPrefix(h, "#"):
			of, h = "n", h[1:]
		case strings.HasPrefix(h, "~"):
			of, h = "t", h[1:]
		}
		t.classes = append(t.classes, of)
		t.plain.heads = append(t.plain.heads, plainText(h))
		t.plain.numbers = append(t.plain.numbers, of == "n")
		fmt.Fprintf(t.b, `<th scope="col"%s>%s</th>`, class(of), h)
	}
	t.b.WriteString("</tr></thead><tbody>")
	return t
}

func class(c string) string {
	if c == "" {
		return ""
	}
	return ` class="` + c + `"`
}

// row adds a row; its first cell is its heading.
func (t *table) row(cells ...string) { t.marked("", cells...) }

// marked adds a row with attributes of its own. Cells beyond the columns are left out.
func (t *table) marked(attributes string, cells ...string) {
	fmt.Fprintf(t.b, "<tr%s>", attributes)
	cells = cells[:min(len(cells), len(t.classes))]
	t.plain.row(cells)
	for i, c := range cells {
		if i == 0 {
			fmt.Fprintf(t.b, `<th scope="row"%s>%s</th>`, class(t.classes[0]), c)
		} else {
			fmt.Fprintf(t.b, "<td%s>%s</td>", class(t.classes[i]), c)
		}
	}
	t.b.WriteString("</tr>\n")
}

// end ends the table.
func (t *table) end() { t.b.WriteString("</tbody></table></div>\n") }

// facts is a table of two columns without heads, of what is there.
type facts struct {
	s     *sheet
	begun bool
	plain *plainTable
}

// add adds a fact unless its value is empty or missing.
func (f *facts) add(label, value string) {
	if value == "" || value == missing {
		return
	}
	if !f.begun {
		f.s.body.WriteString(`<dl class="facts">`)
		f.begun = true
		f.plain = f.s.plainTable("")
		f.plain.heads, f.plain.numbers = []string{"", "Value"}, []bool{false, false}
	}
	f.plain.row([]string{label, value})
	f.s.printf("<div><dt>%s</dt><dd>%s</dd></div>", label, value)
}

func (f *facts) end() {
	if f.begun {
		f.s.body.WriteString("</dl>\n")
	}
}
