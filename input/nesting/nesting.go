package nesting

import (
	"fmt"

	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// Counter counts the levels of a document as its tokens come. Set Most and Name
// before the first.
type Counter struct {
	Most int // mappings and lists inside each other
	Name int // bytes of a name before a colon

	flow    int   // brackets and braces that are open
	columns []int // where the mappings and lists in block style begin that are open
}

// Problem takes the next token. It returns what is too deep or too long there,
// in words that follow a place; empty if nothing is.
func (c *Counter) Problem(t *token.Token) string {
	begins := (*token.Token)(nil)
	switch t.Type {
	case token.MappingStartType, token.SequenceStartType:
		c.flow++
	case token.MappingEndType, token.SequenceEndType:
		c.flow--
	case token.SequenceEntryType:
		begins = t
	case token.MappingValueType:
		begins = t.Prev
		if begins != nil && len(begins.Value) > c.Name {
			return fmt.Sprintf("a name of %d bytes, want at most %d", len(begins.Value), c.Name)
		}
	}
	if begins != nil && c.flow <= 0 {
		column := begins.Position.Column
		for len(c.columns) > 0 && c.columns[len(c.columns)-1] >= column {
			c.columns = c.columns[:len(c.columns)-1]
		}
		c.columns = append(c.columns, column)
	}
	if c.flow+len(c.columns) > c.Most {
		return TooDeep(c.Most)
	}
	return ""
}

// TooDeep is the problem of a document with more levels than most.
func TooDeep(most int) string {
	return fmt.Sprintf("nested deeper than %d levels, want less", most)
}

// Check is Problem for all tokens of a text, with the line of the first one that
// has a problem.
func Check(text string, c Counter) (line int, problem string) {
	for _, t := range lexer.Tokenize(text) {
		if problem := c.Problem(t); problem != "" {
			if t.Position != nil {
				line = t.Position.Line
			}
			return line, problem
		}
	}
	return 0, ""
}
