package yamldoc

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Options are the limits of a document. All must be above 0, but for Values.
type Options struct {
	Bytes int // of the text
	Depth int // mappings and lists inside each other
	Name  int // bytes of a name before a colon

	// Values is the limit of a document with its aliases written out. 0: anchors,
	// aliases and merge keys are errors.
	Values int

	// Columns makes errors say the column too, which is 1 where none is known.
	Columns bool
}

// Read reads the text of one document. It returns nil for a text without one:
// empty, or comments only. Errors are *Error; they call the file file.
func Read(file string, text []byte, o Options) (*Node, error) {
	r := reader{file: file, options: o}
	root := r.read(text)
	if r.fault != nil {
		return nil, r.fault
	}
	return root, nil
}

// reader reads one document. It keeps the first fault; what it reads after that
// is not used.
type reader struct {
	file    string
	options Options
	fault   *Error
	anchors map[string]*Node
	path    []step // to the value that is being converted
}

// fail takes note of a fault, unless there is one already.
func (r *reader) fail(at Place, format string, args ...any) {
	switch {
	case !r.options.Columns:
		at.Column = 0
	case at.Line > 0:
		at.Column = max(at.Column, 1)
	}
	if r.fault == nil {
		r.fault = at.Fault(r.file, format, args...)
	}
}

func (r *reader) read(text []byte) *Node {
	if len(text) > r.options.Bytes {
		r.fail(Place{}, "has %d bytes, want at most %d", len(text), r.options.Bytes)
		return nil
	}
	text = bytes.ReplaceAll(bytes.TrimPrefix(text, []byte("\ufeff")), []byte("\r\n"), []byte("\n"))
	r.checkCharacters(text)
	if r.options.Values > 0 {
		if line := tooMany(text, r.options.Values); line > 0 {
			r.fail(Place{Line: line}, tooManyValues, r.options.Values)
		}
	}
	docs := r.parse(string(text))
	for i, doc := range docs {
		if i > 0 && doc.Body != nil {
			r.fail(placeOf(doc.Body.GetToken()), "a second document, want one")
		}
	}
	if r.fault != nil || len(docs) == 0 || docs[0].Body == nil {
		return nil
	}
	if _, isComment := docs[0].Body.(*ast.CommentGroupNode); isComment {
		return nil
	}
	return r.convert(docs[0].Body, 0)
}

// checkCharacters refuses bytes that are not text.
func (r *reader) checkCharacters(text []byte) {
	line := 1
	for rest := text; len(rest) > 0; {
		c, size := utf8.DecodeRune(rest)
		switch {
		case c == utf8.RuneError && size == 1:
			r.fail(Place{Line: line}, "byte 0x%02x is not UTF-8, want text in UTF-8", rest[0])
			return
		case c == '\n':
			line++
		case unicode.IsControl(c) && c != '\t':
			r.fail(Place{Line: line}, "control character %U, want text without, or \"\\x%02x\" in quotes", c, c)
			return
		}
		rest = rest[size:]
	}
}

// parse runs the parser on a text that is within the limits. The parser has
// panicked on odd input, so a panic is an error in the file.
func (r *reader) parse(text string) (docs []*ast.DocumentNode) {
	defer func() {
		if recover() != nil {
			docs = nil
			r.fail(Place{}, "not valid YAML")
		}
	}()
	if r.fault != nil {
		return nil
	}
	tokens := lexer.Tokenize(text)
	if r.checkTokens(tokens); r.fault != nil {
		return nil
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey()) // convert has the better error for a name given twice
	if err == nil {
		return file.Docs
	}
	var positioned yaml.Error
	if !errors.As(err, &positioned) {
		r.fail(Place{}, "not valid YAML")
		return nil
	}
	problem, _, _ := strings.Cut(positioned.GetMessage(), "\n")
	r.fail(placeOf(positioned.GetToken()), "not valid YAML: %s", problem)
	return nil
}

// Tokens of YAML that are not supported, and what to write instead.
var (
	refused = map[token.Type]string{
		token.TagType:        "tags are not supported, write the value alone",
		token.MappingKeyType: "names after ? are not supported, write name: value",
		token.DirectiveType:  "directives are not supported, leave the line out",
	}
	refusedAliases = map[token.Type]string{
		token.AnchorType:   "anchors are not supported, write the value where it is needed",
		token.AliasType:    "aliases are not supported, write the value out",
		token.MergeKeyType: "merge keys are not supported, write the fields out",
	}
)

// checkTokens refuses tokens that are not supported, and nesting and names above
// the limits.
func (r *reader) checkTokens(tokens token.Tokens) {
	n := nesting{most: r.options.Depth, name: r.options.Name}
	for _, t := range tokens {
		problem := refused[t.Type]
		if problem == "" && r.options.Values == 0 {
			problem = refusedAliases[t.Type]
		}
		if problem == "" {
			problem = n.problem(t)
		}
		if problem != "" {
			r.fail(placeOf(t), "%s", problem)
			return
		}
	}
}

func lineOf(t *token.Token) int { return placeOf(t).Line }

// placeOf is where a token stands, without a field.
func placeOf(t *token.Token) Place {
	if t == nil || t.Position == nil {
		return Place{}
	}
	return Place{Line: t.Position.Line, Column: t.Position.Column}
}

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
