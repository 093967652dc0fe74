package spec

import (
	"fmt"
	"strconv"
	"strings"

	"blis/suggest"
)

// Error is a fault in a specification.
type Error struct {
	File    string
	Line    int    // 0 when it has none
	Field   string // path of the fault, like clients[1].arrival.cv; empty when it is the file's
	Problem string // what is wrong and what would be right
}

// Error is one line: file, line, field and what is wrong with it.
func (e *Error) Error() string {
	text := oneLine(e.File)
	if e.Line > 0 {
		text += ":" + strconv.Itoa(e.Line)
	}
	if e.Field != "" {
		text += ": " + oneLine(e.Field)
	}
	return text + ": " + oneLine(e.Problem)
}

// oneLine escapes what would not print on one line.
func oneLine(text string) string {
	clean := func(r rune) bool { return strconv.IsPrint(r) }
	if strings.IndexFunc(text, func(r rune) bool { return !clean(r) }) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if clean(r) {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRune(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

// place is where something stands in a specification.
type place struct {
	line  int
	field string
}

// within is the place of a field below p, which stands on the line given.
func (p place) within(name string, line int) place {
	if p.field == "" {
		return place{line, name}
	}
	return place{line, p.field + "." + name}
}

// item is the place of item i of the list at p.
func (p place) item(i, line int) place { return place{line, fmt.Sprintf("%s[%d]", p.field, i)} }

// faults keeps the first fault of a specification. What is read after it is
// not used, so that readers need no error of their own.
type faults struct {
	file  string
	first *Error
}

// fail takes note of a fault, unless there is one already.
func (f *faults) fail(at place, format string, args ...any) {
	if f.first == nil {
		f.first = &Error{File: f.file, Line: at.line, Field: at.field, Problem: fmt.Sprintf(format, args...)}
	}
}

// ok reports whether there is no fault so far.
func (f *faults) ok() bool { return f.first == nil }

// err is the first fault as an error, nil when there is none.
func (f *faults) err() error {
	if f.first == nil {
		return nil
	}
	return f.first
}

// unknown is what to say of a name that is none of those there are.
func unknown(what, name string, names []string) string {
	return fmt.Sprintf("unknown %s %q%s (there are: %s)", what, clip(name), suggest.Hint(name, names), strings.Join(names, ", "))
}

// clip shortens what a user wrote to what fits into an error.
func clip(text string) string {
	const most = 80
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
