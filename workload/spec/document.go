package spec

import (
	"bytes"
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

// Limits of a file. The YAML parser takes about 100 bytes of memory for each
// byte of its input, and time that grows faster than its input with nesting and
// with the length of names.
const (
	maxText  = 32 << 20 // bytes
	maxDepth = 24       // mappings and lists inside each other
	maxName  = 128      // bytes of a name before a colon
	maxNodes = 1 << 23  // values, those that aliases repeat counted again
)

type kind uint8

const (
	null kind = iota
	boolean
	number
	text
	list
	mapping
)

// node is a value of the document. Aliases share the nodes of their anchors:
// nodes are never changed.
type node struct {
	kind    kind
	line    int
	text    string // a scalar as it was written, without quotes
	items   []*node
	members []member
	size    int // nodes below and with it, those that aliases repeat counted again
}

// member is a name of a mapping with its value.
type member struct {
	name  string
	line  int
	value *node
}

// describe names a value in an error.
func (n *node) describe() string {
	switch n.kind {
	case null:
		return "null"
	case mapping:
		return "a mapping"
	case list:
		return "a list"
	case text:
		return strconv.Quote(clip(n.text))
	}
	return clip(n.text)
}

// document turns YAML into nodes.
type document struct {
	*faults
	anchors map[string]*node
}

// readDocument reads YAML text of one mapping, nil when it is empty.
func readDocument(f *faults, content []byte) *node {
	d := document{faults: f, anchors: map[string]*node{}}
	if len(content) > maxText {
		d.fail(place{}, "has %d bytes, want at most %d", len(content), maxText)
		return nil
	}
	content = bytes.ReplaceAll(bytes.TrimPrefix(content, []byte("\ufeff")), []byte("\r\n"), []byte("\n"))
	d.checkCharacters(content)
	if line, found := tooMany(content); found {
		d.fail(place{line: line}, "has more than %d values with its aliases written out, want less", maxNodes)
	}
	docs := d.parse(string(content))
	for i, doc := range docs {
		if i > 0 && doc.Body != nil {
			d.fail(place{line: lineOf(doc.Body.GetToken())}, "a second document, want one")
		}
	}
	if !d.ok() || len(docs) == 0 || docs[0].Body == nil {
		return nil
	}
	n := d.convert(docs[0].Body, place{}, 0)
	if d.ok() && n.kind != mapping && n.kind != null {
		d.fail(place{line: n.line}, "%s is not allowed, want fields like aggregate_rate: 10", n.describe())
	}
	return n
}

// checkCharacters refuses what is not text.
func (d *document) checkCharacters(content []byte) {
	line := 1
	for rest := content; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		switch {
		case r == utf8.RuneError && size == 1:
			d.fail(place{line: line}, "byte 0x%02x is not UTF-8, want text in UTF-8", rest[0])
			return
		case r == '\n':
			line++
		case unicode.IsControl(r) && r != '\t':
			d.fail(place{line: line}, "control character %U, want text without", r)
			return
		}
		rest = rest[size:]
	}
}

// parse runs the YAML parser, which has panicked on odd input: that must not
// turn a user's file into a crash.
func (d *document) parse(content string) (docs []*ast.DocumentNode) {
	defer func() {
		if recover() != nil {
			docs = nil
			d.fail(place{}, "not valid YAML")
		}
	}()
	if !d.ok() {
		return nil
	}
	tokens := lexer.Tokenize(content)
	d.checkTokens(tokens)
	if !d.ok() {
		return nil
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey()) // convert says better what is given twice
	if err != nil {
		var positioned yaml.Error
		if !errors.As(err, &positioned) {
			d.fail(place{}, "not valid YAML")
			return nil
		}
		problem, _, _ := strings.Cut(positioned.GetMessage(), "\n")
		d.fail(place{line: lineOf(positioned.GetToken())}, "not valid YAML: %s", problem)
		return nil
	}
	return file.Docs
}

// refused are tokens of YAML that a specification does without, with what to
// write.
var refused = map[token.Type]string{
	token.TagType:        "tags are not supported, write the value alone",
	token.MappingKeyType: "names after ? are not supported, write name: value",
	token.DirectiveType:  "directives are not supported, leave the line out",
}

// checkTokens refuses what is not supported, and what is nested so deeply, or
// under such names, that the parser must not see it.
func (d *document) checkTokens(tokens token.Tokens) {
	depth := nesting.Counter{Most: maxDepth, Name: maxName}
	for _, t := range tokens {
		at := place{line: lineOf(t)}
		problem, found := refused[t.Type]
		if !found {
			problem = depth.Problem(t)
		}
		if problem != "" {
			d.fail(at, "%s", problem)
			return
		}
	}
}

// convert turns a node of the parser that is depth levels deep into a value.
func (d *document) convert(in ast.Node, at place, depth int) *node {
	if in == nil {
		return &node{line: at.line, size: 1}
	}
	line := lineOf(in.GetToken())
	scalar := func(k kind, content string) *node { return &node{kind: k, line: line, text: content, size: 1} }
	switch n := in.(type) {
	case *ast.MappingNode:
		return d.convertMembers(line, n.Values, at, depth)
	case *ast.MappingValueNode:
		return d.convertMembers(line, []*ast.MappingValueNode{n}, at, depth)
	case *ast.SequenceNode:
		return d.convertList(n, at, depth)
	case *ast.AnchorNode:
		v := d.convert(n.Value, at, depth)
		if n.Name != nil {
			d.anchors[n.Name.GetToken().Value] = v
		}
		return v
	case *ast.AliasNode:
		return d.alias(n, line, at)
	case *ast.NullNode:
		return scalar(null, "null")
	case *ast.BoolNode:
		return scalar(boolean, strconv.FormatBool(n.Value))
	case *ast.LiteralNode:
		return scalar(text, n.Value.Value)
	case *ast.StringNode:
		if n.Token.Type == token.StringType && isNumeral(n.Value) {
			return scalar(number, n.Value) // 1e5 is a number in YAML 1.2, but for the parser
		}
		return scalar(text, strings.ToValidUTF8(n.Value, "\ufffd"))
	case *ast.IntegerNode:
		return scalar(number, fmt.Sprint(n.Value))
	case *ast.FloatNode:
		return scalar(number, strconv.FormatFloat(n.Value, 'g', -1, 64))
	case *ast.InfinityNode, *ast.NanNode:
		return scalar(number, in.GetToken().Value)
	}
	at.line = line
	d.fail(at, "not supported, want a plain value, a list or a mapping")
	return scalar(null, "null")
}

// alias is the value of an anchor above.
func (d *document) alias(n *ast.AliasNode, line int, at place) *node {
	name := ""
	if n.Value != nil {
		name = n.Value.GetToken().Value
	}
	v := d.anchors[name]
	if v == nil {
		at.line = line
		d.fail(at, "unknown alias *%s, want the name of an anchor above", clip(name))
		return &node{line: line, size: 1}
	}
	return v
}

func (d *document) convertList(n *ast.SequenceNode, at place, depth int) *node {
	v := &node{kind: list, line: lineOf(n.GetToken()), size: 1}
	if d.tooDeep(v.line, at, depth) {
		return v
	}
	for i, item := range n.Values {
		v.items = append(v.items, d.convert(item, at.item(i, v.line), depth+1))
		d.count(v, v.items[i], at)
		if !d.ok() {
			break
		}
	}
	return v
}

func (d *document) convertMembers(line int, pairs []*ast.MappingValueNode, at place, depth int) *node {
	v := &node{kind: mapping, line: line, size: 1}
	if d.tooDeep(line, at, depth) {
		return v
	}
	var merged []member
	given := make(map[string]int, len(pairs))
	for _, pair := range pairs {
		key := pair.Key.GetToken()
		here := at.within(key.Value, lineOf(key))
		if _, isMerge := pair.Key.(*ast.MergeKeyNode); isMerge {
			merged = append(merged, d.merged(d.convert(pair.Value, here, depth+1), here)...)
			continue
		}
		switch first, again := given[key.Value]; {
		case again:
			d.fail(here, "is given twice, first on line %d, want it once", first)
		case pair.Start.Type != token.MappingValueType:
			d.fail(here, "has no value, want name: value")
		}
		given[key.Value] = here.line
		m := member{key.Value, here.line, d.convert(pair.Value, here, depth+1)}
		d.count(v, m.value, at)
		if !d.ok() {
			return v
		}
		v.members = append(v.members, m)
	}
	for _, m := range merged {
		if _, own := given[m.name]; !own { // the first of several counts
			given[m.name] = m.line
			v.members = append(v.members, m)
			d.count(v, m.value, at)
		}
	}
	return v
}

// merged are the members that a merge key brings in, of one mapping or of several.
func (d *document) merged(v *node, at place) []member {
	switch {
	case !d.ok():
	case v.kind == mapping:
		return v.members
	case v.kind == list:
		var all []member
		for i, item := range v.items {
			if item.kind != mapping {
				d.fail(at.item(i, item.line), "%s is not allowed, want the alias of a mapping", item.describe())
			}
			all = append(all, item.members...)
		}
		return all
	default:
		d.fail(at, "%s is not allowed, want the alias of a mapping", v.describe())
	}
	return nil
}

// count adds the size of a part. Aliases of aliases can make a short file
// stand for more than any memory holds; that ends here.
func (d *document) count(v, part *node, at place) {
	v.size += part.size
	if v.size > maxNodes {
		d.fail(place{v.line, at.field}, "has more than %d values with its aliases written out, want less", maxNodes)
	}
}

// tooDeep knows better than the tokens: a list right below its name, and a
// name in a list, are deeper than what they stand in.
func (d *document) tooDeep(line int, at place, depth int) bool {
	if depth >= maxDepth {
		d.fail(place{line, at.field}, "nested deeper than %d levels, want less", maxDepth)
	}
	return depth >= maxDepth
}

// isNumeral reports whether text is a decimal number.
func isNumeral(s string) bool {
	if s == "" || !strings.ContainsRune("-.0123456789", rune(s[0])) || strings.ContainsAny(s, "xX_pPnN") {
		return false
	}
	_, err := strconv.ParseFloat(s, 64)
	return err == nil || errors.Is(err, strconv.ErrRange)
}

func lineOf(t *token.Token) int {
	if t == nil || t.Position == nil {
		return 0
	}
	return t.Position.Line
}
