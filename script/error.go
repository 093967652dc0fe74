package script

import (
	"fmt"
	"strconv"
	"strings"
)

// ErrorKind says what sort of thing a program did wrong.
type ErrorKind string

// Kinds of errors.
const (
	SyntaxError ErrorKind = "syntax"    // the text is no program, or names what there is not: found before the run
	StepsError  ErrorKind = "steps"     // it took too many steps
	TypeError   ErrorKind = "type"      // a value of the wrong type, or an answer that is none
	ValueError  ErrorKind = "value"     // an index out of range, or a number that is not finite
	StateError  ErrorKind = "state"     // it remembers too much, or what cannot be remembered
	PanicError  ErrorKind = "panic"     // the interpreter failed
	Exception   ErrorKind = "exception" // anything else, fail(…) too
)

// Error is a fault of a program: the one who wrote it is to be told. It is an error of
// setup.Resolve or of a run, within another error.
type Error struct {
	File         string // as the parameter file names it, or its default
	Line, Column int    // from 1; 0: not known
	Kind         ErrorKind
	Function     string // in which it happened; empty: outside of any
	Message      string // one line
	Printed      string // what the program had printed in the run, a line for each print
}

// Error is one line: file, line, column, function and message.
func (e *Error) Error() string {
	text := oneLine(e.File)
	if e.Line > 0 {
		text += ":" + strconv.Itoa(e.Line)
		if e.Column > 0 {
			text += ":" + strconv.Itoa(e.Column)
		}
	}
	if e.Function != "" {
		text += ": " + clip(e.Function, mostName)
	}
	return text + ": " + e.Message
}

// PolicyFault implements policy.Fault.
func (e *Error) PolicyFault() {}

// Longest texts in a message, in bytes.
const (
	mostName    = 60
	mostMessage = 400
)

// clip shortens a text.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// oneLine returns a text that prints as one line.
func oneLine(text string) string {
	if quoted := strconv.Quote(text); quoted != `"`+text+`"` {
		return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
	}
	return text
}

// mistake is an error that a function of this package returns to the interpreter,
// which adds its place.
type mistake struct {
	kind ErrorKind
	text string
}

// Error implements error.
func (m *mistake) Error() string { return m.text }

func typeMistake(format string, args ...any) error {
	return &mistake{TypeError, fmt.Sprintf(format, args...)}
}

func valueMistake(format string, args ...any) error {
	return &mistake{ValueError, fmt.Sprintf(format, args...)}
}
