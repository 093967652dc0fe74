package yamldoc

import (
	"encoding/json"
	"strings"
)

// Format is n as YAML that Read reads again, each value on its line: an error
// about the text names the line of the file that n is from.
func (n *Node) Format() string {
	w := writer{line: 1}
	w.write(n)
	return w.text.String()
}

type writer struct {
	text strings.Builder
	line int
}

// to goes on to a line, unless it is there already or further.
func (w *writer) to(line int) {
	for ; w.line < line; w.line++ {
		w.text.WriteByte('\n')
	}
}

func (w *writer) write(n *Node) {
	w.to(n.Line)
	switch n.Kind {
	case List:
		w.text.WriteByte('[')
		for _, item := range n.Items {
			w.write(item)
			w.text.WriteByte(',')
		}
		w.text.WriteByte(']')
	case Mapping:
		w.text.WriteByte('{')
		for _, m := range n.Members {
			w.to(m.Line)
			w.text.WriteString(quote(m.Name) + ": ")
			w.write(m.Value)
			w.text.WriteByte(',')
		}
		w.text.WriteByte('}')
	case String:
		w.text.WriteString(quote(n.Text))
	case Null:
		w.text.WriteString("null")
	default:
		w.text.WriteString(n.Text)
	}
}

func quote(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic("yamldoc: " + err.Error()) // there is none for a string
	}
	return string(quoted)
}
