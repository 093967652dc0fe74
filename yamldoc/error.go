package yamldoc

import (
	"fmt"
	"strconv"
	"strings"

	"blis/suggest"
)

// Error is a fault in a file.
type Error struct {
	File    string
	Line    int    // 0: not known
	Column  int    // 0: not given; see Options.Columns
	Field   string // path of the fault, like clients[1].arrival.cv; empty: the whole file
	Problem string // what is wrong and what would be right
}

// Error is one line: file, line, field and what is wrong with it.
func (e *Error) Error() string {
	text := OneLine(e.File)
	if e.Line > 0 {
		text += ":" + strconv.Itoa(e.Line)
	}
	if e.Column > 0 {
		text += ":" + strconv.Itoa(e.Column)
	}
	if e.Field != "" {
		text += ": " + OneLine(e.Field)
	}
	return text + ": " + OneLine(e.Problem)
}

// Place is where a value stands in a file.
type Place struct {
	Line   int
	Field  string // path, like clients[1].arrival.cv; empty: the document
	Column int    // 0: not known
}

// Within is the place of a field of the mapping at p; the field stands on line.
func (p Place) Within(name string, line int) Place {
	if p.Field == "" {
		return Place{Line: line, Field: name}
	}
	return Place{Line: line, Field: p.Field + "." + name}
}

// Item is the place of item i of the list at p; the item stands on line.
func (p Place) Item(i, line int) Place {
	return Place{Line: line, Field: fmt.Sprintf("%s[%d]", p.Field, i)}
}

// Fault is an error at p in file.
func (p Place) Fault(file, format string, args ...any) *Error {
	return &Error{File: file, Line: p.Line, Column: p.Column, Field: p.Field, Problem: fmt.Sprintf(format, args...)}
}

// Unknown says that name is in no list of names. what says what the names are
// of: "field".
func Unknown(what, name string, names []string) string {
	return fmt.Sprintf("unknown %s %q%s (there are: %s)", what, Clip(name), suggest.Hint(name, names), strings.Join(names, ", "))
}

// OneLine escapes characters that would not print on one line.
func OneLine(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return !strconv.IsPrint(r) }) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if strconv.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRune(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

// Clip shortens text of a user for an error, to 80 bytes.
func Clip(text string) string {
	const most = 80
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
