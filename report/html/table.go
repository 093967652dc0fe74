package html

import (
	"fmt"
	"strings"
)

// table is a table being written. Cells are HTML that is safe already.
type table struct {
	b       *strings.Builder
	numbers []bool // which columns hold numbers, and end on the right
	plain   *plainTable
}

// table begins a table. A column whose heading begins with "#" holds numbers.
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
		h, isNumber := strings.CutPrefix(h, "#")
		t.numbers = append(t.numbers, isNumber)
		t.plain.heads = append(t.plain.heads, plainText(h))
		t.plain.numbers = t.numbers
		fmt.Fprintf(t.b, `<th scope="col"%s>%s</th>`, class("n", isNumber), h)
	}
	t.b.WriteString("</tr></thead><tbody>")
	return t
}

func class(c string, has bool) string {
	if !has {
		return ""
	}
	return ` class="` + c + `"`
}

// row adds a row; its first cell is its heading.
func (t *table) row(cells ...string) { t.marked("", cells...) }

// marked adds a row with attributes of its own.
func (t *table) marked(attributes string, cells ...string) {
	fmt.Fprintf(t.b, "<tr%s>", attributes)
	t.plain.row(cells)
	for i, c := range cells {
		if i == 0 {
			fmt.Fprintf(t.b, `<th scope="row"%s>%s</th>`, class("n", t.numbers[0]), c)
		} else {
			fmt.Fprintf(t.b, "<td%s>%s</td>", class("n", i < len(t.numbers) && t.numbers[i]), c)
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
