package yamldoc

import (
	"fmt"

	"github.com/goccy/go-yaml/token"
)

// nesting counts the levels of a document as its tokens come.
type nesting struct {
	most int // mappings and lists inside each other
	name int // bytes of a name before a colon

	flow    int   // brackets and braces that are open
	columns []int // columns of the open mappings and lists in block style
}

// problem takes the next token. It says what is too deep or too long there,
// empty if nothing is.
func (n *nesting) problem(t *token.Token) string {
	begins := (*token.Token)(nil)
	switch t.Type {
	case token.MappingStartType, token.SequenceStartType:
		n.flow++
	case token.MappingEndType, token.SequenceEndType:
		n.flow--
	case token.SequenceEntryType:
		begins = t
	case token.MappingValueType:
		begins = t.Prev
		if begins != nil && len(begins.Value) > n.name {
			return fmt.Sprintf("a name of %d bytes, want at most %d", len(begins.Value), n.name)
		}
	}
	if begins != nil && n.flow <= 0 {
		column := begins.Position.Column
		for len(n.columns) > 0 && n.columns[len(n.columns)-1] >= column {
			n.columns = n.columns[:len(n.columns)-1]
		}
		n.columns = append(n.columns, column)
	}
	if n.flow+len(n.columns) > n.most {
		return tooDeep(n.most)
	}
	return ""
}

// tooDeep is the problem of a document with more levels than most.
func tooDeep(most int) string {
	return fmt.Sprintf("nested deeper than %d levels, want less", most)
}
