package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"blis/input/nesting"
)

// Limits of a file. The time and memory of the YAML parser grow faster than its
// input, with nesting and with the lengths of the names above a value. Within these
// limits the worst input costs a fraction of a second.
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
	if len(text) > limit {
		return nil, &Error{Problem: fmt.Sprintf("has %d bytes, want at most %d", len(text), limit)}
	}
	text = bytes.ReplaceAll(bytes.TrimPrefix(text, []byte("\ufeff")), []byte("\r\n"), []byte("\n"))
	if fault := checkCharacters(text); fault != nil {
		return nil, fault
	}
	docs, fault := parseYAML(string(text))
	if fault != nil {
		return nil, fault
	}
	for i, d := range docs {
		if i > 0 && d.Body != nil {
			return nil, &Error{Line: lineOf(d.Body.GetToken()), Problem: "a second document, want one"}
		}
	}
	if len(docs) == 0 || docs[0].Body == nil {
		return nil, nil
	}
	body := docs[0].Body
	content, fault := convert(body, 0)
	if fault != nil {
		return nil, fault
	}
	members, isMapping := content.([]member)
	if !isMapping && content != nil {
		return nil, &Error{Line: lineOf(body.GetToken()), Problem: describe(content) + " is not allowed, want sections like routing: {type: least-loaded}"}
	}
	return members, nil
}

// checkCharacters refuses bytes that are not text.
func checkCharacters(text []byte) *Error {
	line := 1
	for rest := text; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		switch {
		case r == utf8.RuneError && size == 1:
			return &Error{Line: line, Problem: fmt.Sprintf("byte 0x%02x is not UTF-8, want text in UTF-8", rest[0])}
		case r == '\n':
			line++
		case unicode.IsControl(r) && r != '\t':
			return &Error{Line: line, Problem: fmt.Sprintf("control character %U, want text without, or \"\\x%02x\" in quotes", r, r)}
		}
		rest = rest[size:]
	}
	return nil
}

// parseYAML runs the YAML parser. The parser has panicked on odd input, so a panic is
// an error in the file.
func parseYAML(text string) (docs []*ast.DocumentNode, fault *Error) {
	defer func() {
		if recover() != nil {
			docs, fault = nil, &Error{Problem: "not valid YAML"}
		}
	}()
	tokens := lexer.Tokenize(text)
	if fault := checkTokens(tokens); fault != nil {
		return nil, fault
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey()) // convert has the better error for a name given twice
	if err != nil {
		var positioned yaml.Error
		if !errors.As(err, &positioned) {
			return nil, &Error{Problem: "not valid YAML"}
		}
		problem, _, _ := strings.Cut(positioned.GetMessage(), "\n")
		return nil, &Error{Line: lineOf(positioned.GetToken()), Problem: "not valid YAML: " + problem}
	}
	return file.Docs, nil
}

// refused maps tokens of YAML that are not supported to what to write instead.
var refused = map[token.Type]string{
	token.AnchorType:     "anchors are not supported, write the value where it is needed",
	token.AliasType:      "aliases are not supported, write the value out",
	token.MergeKeyType:   "merge keys are not supported, write the fields out",
	token.TagType:        "tags are not supported, write the value alone",
	token.MappingKeyType: "names after ? are not supported, write name: value",
	token.DirectiveType:  "directives are not supported, leave the line out",
}

// checkTokens refuses tokens that are not supported, and nesting and names above the
// limits, before the parser sees them.
func checkTokens(tokens token.Tokens) *Error {
	depth := nesting.Counter{Most: maxDepth, Name: maxName}
	for _, t := range tokens {
		if problem, found := refused[t.Type]; found {
			return &Error{Line: lineOf(t), Problem: problem}
		}
		if problem := depth.Problem(t); problem != "" {
			return &Error{Line: lineOf(t), Problem: problem}
		}
	}
	return nil
}

var tooDeep = nesting.TooDeep(maxDepth)

// convert turns a node of the parser that is depth levels deep into a value.
// The Field of a fault is relative to the node.
func convert(node ast.Node, depth int) (any, *Error) {
	switch n := node.(type) {
	case *ast.MappingNode:
		return convertMembers(n, n.Values, depth)
	case *ast.MappingValueNode:
		return convertMembers(n, []*ast.MappingValueNode{n}, depth)
	case *ast.SequenceNode:
		return convertList(n, depth)
	case *ast.NullNode:
		return nil, nil
	case *ast.BoolNode:
		return n.Value, nil
	case *ast.LiteralNode:
		return n.Value.Value, nil
	case *ast.StringNode:
		return convertString(n)
	case *ast.IntegerNode:
		return numeral(n.Token.Value, fmt.Sprint(n.Value)), nil
	case *ast.FloatNode:
		return numeral(n.Token.Value, strconv.FormatFloat(n.Value, 'g', -1, 64)), nil
	case *ast.InfinityNode, *ast.NanNode:
		return json.Number(node.GetToken().Value), nil
	}
	return nil, &Error{Line: lineOf(node.GetToken()), Problem: "not supported, want a plain value, a list or a mapping"}
}

// checkDepth refuses nesting that the tokens do not show: a list right below its
// name, and a name in a list, are one level deeper.
func checkDepth(node ast.Node, depth int) *Error {
	if depth < maxDepth {
		return nil
	}
	return &Error{Line: lineOf(node.GetToken()), Problem: tooDeep}
}

func convertList(n *ast.SequenceNode, depth int) (any, *Error) {
	if fault := checkDepth(n, depth); fault != nil {
		return nil, fault
	}
	list := make([]any, len(n.Values))
	for i, item := range n.Values {
		v, fault := convert(item, depth+1)
		if fault != nil {
			return nil, fault.within("[" + strconv.Itoa(i) + "]")
		}
		list[i] = v
	}
	return list, nil
}

// convertString reads 1e5 as a number, as YAML 1.2 and JSON do. The parser does not.
func convertString(n *ast.StringNode) (any, *Error) {
	if n.Token.Type == token.StringType && isNumeral(n.Value) {
		return json.Number(n.Value), nil
	}
	if !utf8.ValidString(n.Value) {
		return nil, &Error{Line: lineOf(n.Token), Problem: "an escape that stands for no character, want text in UTF-8"}
	}
	return n.Value, nil
}

func convertMembers(parent ast.Node, nodes []*ast.MappingValueNode, depth int) (any, *Error) {
	if fault := checkDepth(parent, depth); fault != nil {
		return nil, fault
	}
	members := make([]member, 0, len(nodes))
	lines := make(map[string]int, len(nodes))
	for _, n := range nodes {
		key, line := n.Key.GetToken(), lineOf(n.Key.GetToken())
		name := key.Value
		switch first, again := lines[name]; {
		case again:
			return nil, &Error{Line: line, Field: name, Problem: fmt.Sprintf("is given twice, first on line %d, want it once", first)}
		case n.Start.Type != token.MappingValueType:
			return nil, &Error{Line: line, Field: name, Problem: "has no value, want name: value"}
		case !utf8.ValidString(name):
			return nil, &Error{Line: line, Problem: "a name that is not UTF-8, want text in UTF-8"}
		}
		lines[name] = line
		v, fault := convert(n.Value, depth+1)
		if fault != nil {
			return nil, fault.within(name)
		}
		members = append(members, member{name, line, v})
	}
	return members, nil
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

// numeral returns a number as the user wrote it if that is valid JSON, else plain.
func numeral(text, plain string) json.Number {
	if isNumeral(text) {
		return json.Number(text)
	}
	return json.Number(plain)
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

func lineOf(t *token.Token) int {
	if t == nil || t.Position == nil {
		return 0
	}
	return t.Position.Line
}
