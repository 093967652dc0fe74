package cli

import (
	"bytes"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// bundleText is the bundle under policies in a configuration file, cut out of
// the file's text: with as many lines before it, and as many columns, so that
// what is wrong in it has its place in the file. next is the setting after it,
// nil if it is the last.
func bundleText(text []byte, value ast.Node, next *ast.MappingValueNode) string {
	lines := strings.Split(string(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))), "\n")
	from, to := extent(value, next, len(lines))
	if from == nil || from.Line > len(lines) { // no mapping: reading it will say so
		return strings.Repeat("\n", max(0, value.GetToken().Position.Line-1)) + value.String()
	}
	var b strings.Builder
	b.WriteString(strings.Repeat("\n", from.Line-1))
	for n := from.Line; n <= min(to.Line, len(lines)); n++ {
		line := []rune(lines[n-1])
		if n == to.Line && to.Column > 0 {
			line = line[:min(to.Column, len(line))]
		}
		if n == from.Line {
			before := min(from.Column-1, len(line))
			b.WriteString(strings.Repeat(" ", before))
			line = line[before:]
		}
		b.WriteString(string(line))
		b.WriteByte('\n')
	}
	return b.String()
}

// extent is where a mapping begins and ends: in braces with its last column,
// else with the line before the next setting, whole (column 0).
func extent(value ast.Node, next *ast.MappingValueNode, lines int) (from, to *token.Position) {
	var first *token.Token
	switch n := value.(type) {
	case *ast.MappingNode:
		if n.IsFlowStyle && n.Start != nil && n.End != nil {
			return n.Start.Position, n.End.Position
		}
		if len(n.Values) == 0 {
			return nil, nil
		}
		first = n.Values[0].Key.GetToken()
	case *ast.MappingValueNode:
		first = n.Key.GetToken()
	default:
		return nil, nil
	}
	last := lines
	if next != nil {
		last = next.Key.GetToken().Position.Line - 1
	}
	return first.Position, &token.Position{Line: last}
}
