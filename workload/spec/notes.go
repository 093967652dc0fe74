package spec

import (
	"fmt"
	"slices"
	"strings"

	"blis/yamldoc"
)

// Notes are what a user should know of how a specification was understood,
// one line each: what is accepted but not modelled, what was filled in.
type Notes []string

// maxNotes is how many different notes there are at most: thousands of clients
// must not fill the screen.
const maxNotes = 40

// noteList gathers notes. Those that say the same of a field at several clients
// are one, with the place of the first.
type noteList struct {
	notes []note
	left  int // notes beyond maxNotes
}

type note struct {
	Error
	more int // other places of which it says the same
}

func (l *noteList) add(name string, at place, format string, args ...any) {
	n := note{Error: Error{File: name, Line: at.Line, Field: at.Field, Problem: fmt.Sprintf(format, args...)}}
	for i := range l.notes {
		if k := &l.notes[i]; k.Problem == n.Problem && lastOf(k.Field) == lastOf(n.Field) {
			k.more++
			return
		}
	}
	if len(l.notes) == maxNotes {
		l.left++
		return
	}
	l.notes = append(l.notes, n)
}

// lastOf is the name of a field without its path.
func lastOf(field string) string { return field[strings.LastIndexByte(field, '.')+1:] }

// copy is a list of its own, to which more can be added.
func (l *noteList) copy() noteList { return noteList{slices.Clone(l.notes), l.left} }

// lines are the notes as a user reads them.
func (l *noteList) lines() Notes {
	var lines Notes
	for i := range l.notes {
		n := l.notes[i].Error
		if more := l.notes[i].more; more > 0 {
			n.Field += fmt.Sprintf(" (and %d more)", more)
		}
		lines = append(lines, n.Error())
	}
	if l.left > 0 {
		lines = append(lines, fmt.Sprintf("%d more notes like these", l.left))
	}
	return lines
}

// Error is a fault in a specification.
type Error = yamldoc.Error

// place is where something stands in a specification.
type place = yamldoc.Place

// faults keeps the first fault of a specification. What is read after it is
// not used, so that readers need no error of their own.
type faults struct {
	file  string
	first *Error
	named []string // paths in the document, as they are written
}

// fail takes note of a fault, unless there is one already.
func (f *faults) fail(at place, format string, args ...any) {
	if f.first == nil {
		f.first = at.Fault(f.file, format, args...)
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
