package plaintext

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// LabelWidth is the column in which the text of a labelled line begins.
const LabelWidth = 11

// Narrowest is the width of lines on any terminal at least, and in files,
// columns.
const Narrowest = 80

// WidestProse is the width of lines of prose at most, columns, however wide the
// terminal is.
const WidestProse = 100

// Style is how text looks.
type Style struct {
	Width  int  // of a line, columns; below Narrowest: Narrowest
	Colour bool // with the escape sequences of terminals
}

// Writer writes lines that begin with a label and wrap behind it. Errors are
// those of the writer below; lines do not report them.
type Writer struct {
	io.Writer
	Style
}

// NewWriter writes to w in a style.
func NewWriter(w io.Writer, s Style) Writer {
	s.Width = max(s.Width, Narrowest)
	return Writer{w, s}
}

// Line writes a line, wrapped at blanks.
func (t *Writer) Line(label, text string) {
	head := label
	if t.Colour {
		head = "\x1b[1m" + label + "\x1b[0m"
		if label == "warning" {
			head = "\x1b[1;33m" + label + "\x1b[0m"
		}
	}
	head += strings.Repeat(" ", max(1, LabelWidth-utf8.RuneCountInString(label)))
	for _, part := range Wrap(text, t.Width-LabelWidth) {
		fmt.Fprintf(t, "%s%s\n", head, part)
		head = strings.Repeat(" ", LabelWidth)
	}
}

// Gap writes an empty line.
func (t *Writer) Gap() { io.WriteString(t, "\n") }

// Wrap breaks a text at blanks into lines of at most width columns. A longer
// word has a line of its own.
func Wrap(text string, width int) []string { return wrap(text, width, width) }

// WrapIndented is Wrap for a line that begins with blanks: what does not fit goes
// on two columns further in.
func WrapIndented(line string, width int) []string {
	rest := strings.TrimLeft(line, " ")
	indent := line[:len(line)-len(rest)]
	parts := wrap(rest, width-len(indent), width-len(indent)-2)
	for i := range parts {
		parts[i] = indent + parts[i]
		if i == 0 {
			indent += "  "
		}
	}
	return parts
}

// wrap breaks a text whose first line may have another width than the rest.
func wrap(text string, first, rest int) []string {
	var lines []string
	line, used, width := "", 0, first
	for i, word := range words(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case used+1+n > width:
			lines = append(lines, line)
			line, used, width = "", 0, rest
		default:
			line += " "
			used++
		}
		line += word
		used += n
	}
	return append(lines, line)
}

// words are the parts of a text between which a line may end: a percent sign
// stays with its number.
func words(text string) []string {
	var list []string
	for i, word := range strings.Split(text, " ") {
		if i > 0 && strings.HasPrefix(word, "%") {
			list[len(list)-1] += " " + word
			continue
		}
		list = append(list, word)
	}
	return list
}
