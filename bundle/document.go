package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"blis/yamldoc"
)

// Limits of a file. Within them the worst input costs a fraction of a second.
const (
	maxText  = 64 << 10 // bytes
	maxDepth = 32       // mappings and lists inside each other
	maxName  = 128      // bytes of a name before a colon

	// maxJSON is maxText for the output of MarshalJSON, which is longer by quotes
	// and escapes.
	maxJSON = 8 * maxText
)

// member is an entry of a mapping. Its value is nil, a bool, a json.Number, a string,
// a []any of such values, or a []member.
type member struct {
	name  string
	line  int
	value any
}

// readDocument reads YAML text of one mapping, nil for an empty text. Names are
// unique. YAML beyond mappings, lists and plain values is refused.
func readDocument(text []byte, limit int) ([]member, *Error) {
	root, err := yamldoc.Read("", text, yamldoc.Options{Bytes: limit, Depth: maxDepth, Name: maxName})
	var fault *yamldoc.Error
	switch {
	case errors.As(err, &fault):
		return nil, &Error{Line: fault.Line, Field: fault.Field, Problem: fault.Problem}
	case root == nil || root.Kind == yamldoc.Null:
		return nil, nil
	case root.Kind != yamldoc.Mapping:
		return nil, &Error{Line: root.Line, Problem: describe(plainValue(root)) + " is not allowed, want sections like routing: {type: least-loaded}"}
	}
	return membersOf(root), nil
}

// plainValue returns the value of a member.
func plainValue(n *yamldoc.Node) any {
	switch n.Kind {
	case yamldoc.Bool:
		return n.Text == "true"
	case yamldoc.Number:
		return json.Number(n.Text)
	case yamldoc.String:
		return n.Text
	case yamldoc.List:
		list := make([]any, len(n.Items))
		for i, item := range n.Items {
			list[i] = plainValue(item)
		}
		return list
	case yamldoc.Mapping:
		return membersOf(n)
	}
	return nil
}

func membersOf(n *yamldoc.Node) []member {
	list := make([]member, len(n.Members))
	for i, m := range n.Members {
		list[i] = member{m.Name, m.Line, plainValue(m.Value)}
	}
	return list
}

// within puts a name in front of the path of a fault.
func (e *Error) within(name string) *Error {
	switch {
	case e.Field == "":
		e.Field = name
	case strings.HasPrefix(e.Field, "["):
		e.Field = name + e.Field
	default:
		e.Field = name + "." + e.Field
	}
	return e
}

// isNumeral reports whether text is a number in JSON.
func isNumeral(text string) bool {
	return text != "" && (text[0] == '-' || '0' <= text[0] && text[0] <= '9') && strings.TrimSpace(text) == text && json.Valid([]byte(text))
}

// describe returns a value in words, for errors.
func describe(x any) string {
	switch x := x.(type) {
	case nil:
		return "null"
	case []member:
		return "a mapping"
	case []any:
		return "a list"
	case string:
		return fmt.Sprintf("the string %q", x)
	}
	return fmt.Sprintf("%v", x)
}
