package traces

import (
	"fmt"
	"slices"
	"strings"

	"blis/suggest"
	"blis/workload"
)

// noting is a reader that has something to say once all rows are read.
type noting interface {
	notes() []string
}

// Notes says what of the file was not used or is unlikely to be meant, one line
// each. It names columns, rows and classes.
func (t *Trace) Notes() []string { return t.notes }

func (t *Trace) note(text string, args ...any) { t.notes = append(t.notes, fmt.Sprintf(text, args...)) }

// noteFile notes what was left out of a file, and what its reader has to say.
func (t *Trace) noteFile(text *lines, reader any) {
	if len(text.unused) > 0 {
		t.note("not used of %s: %s", text.name, strings.Join(text.unused, ", "))
	}
	for _, name := range text.ignore {
		if !slices.Contains(text.unused, quote([]byte(name))) {
			t.note("trace-ignore-columns: %s has no column %q", text.name, name)
		}
	}
	if text.separator != ',' {
		t.note("the fields of %s are separated by %s", text.name, map[byte]string{'\t': "tabs", ';': "semicolons", '|': "bars"}[text.separator])
	}
	if r, ok := reader.(noting); ok {
		for _, text := range r.notes() {
			t.note("%s", text)
		}
	}
	t.noteClasses(text.name)
}

// noteClasses notes classes that are not among those that policies know. They may
// be the user's own; a misspelt one has no target and a default priority.
func (t *Trace) noteClasses(name string) {
	names := &t.labels.Classes
	counts := make([]int, names.Len())
	if !t.table.has.labels {
		return
	}
	for i := range t.table.tags {
		counts[t.table.tags[i].Class]++
	}
	const most = 10 // names in one note
	var list []string
	strange := 0
	for i, n := range counts {
		class := names.Name(workload.Label(i))
		if n == 0 || slices.Contains(workload.Classes(), class) || slices.Contains(t.options.Classes, class) {
			continue
		}
		strange += n
		if len(list) == most {
			list = append(list, "…")
		}
		if len(list) > most {
			continue
		}
		text := fmt.Sprintf("%q (%d)", class, n)
		if near := suggest.Nearest(class, workload.Classes()); near != "" {
			text = fmt.Sprintf("%q (%d; near: %s)", class, n, near)
		}
		list = append(list, text)
	}
	if strange > 0 {
		t.note("%d of %d requests of %s are of classes that are not among %s: %s",
			strange, len(t.table.tags), name, strings.Join(workload.Classes(), ", "), strings.Join(list, ", "))
	}
}
