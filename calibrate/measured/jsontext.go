package measured

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// jsonText reads JSON token by token and knows the line.
type jsonText struct {
	name  string
	dec   *json.Decoder
	lines lineCounter
}

func openJSON(name string, r io.Reader) (*jsonText, error) {
	text, err := plain(name, r)
	if err != nil {
		return nil, err
	}
	j := &jsonText{name: name, lines: lineCounter{r: text}}
	j.dec = json.NewDecoder(&j.lines)
	j.dec.UseNumber()
	return j, nil
}

// line is where the last token ended.
func (j *jsonText) line() int { return j.lines.at(j.dec.InputOffset()) }

// token is the next token; io.EOF only where a text may end.
func (j *jsonText) token() (json.Token, error) {
	token, err := j.dec.Token()
	if err != nil && err != io.EOF {
		return nil, j.unreadable(err)
	}
	return token, err
}

// inner is the next token within a value.
func (j *jsonText) inner() (json.Token, error) {
	token, err := j.token()
	if err == io.EOF {
		return nil, broken(j.name, j.line(), io.ErrUnexpectedEOF)
	}
	return token, err
}

// unreadable is an error of the JSON or of the text below it.
func (j *jsonText) unreadable(err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("%s:%d: no JSON: %w", j.name, j.line(), err)
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return broken(j.name, j.line(), err)
}

// list calls each before every element of the list that comes next. Null is an
// empty list.
func (j *jsonText) list(field string, each func() error) error {
	token, err := j.inner()
	if err != nil || token == nil {
		return err
	}
	if token != json.Delim('[') {
		return bad(j.name, j.line(), field, fmt.Sprint(token), "a list")
	}
	for j.dec.More() {
		if err := each(); err != nil {
			return err
		}
	}
	_, err = j.inner()
	return err
}

// object calls each after every key of the object that comes next. Null is an
// empty object.
func (j *jsonText) object(field string, each func(key string) error) error {
	token, err := j.inner()
	if err != nil || token == nil {
		return err
	}
	if token != json.Delim('{') {
		return bad(j.name, j.line(), field, fmt.Sprint(token), "an object")
	}
	return j.members(each)
}

// members is object behind the brace.
func (j *jsonText) members(each func(key string) error) error {
	for j.dec.More() {
		token, err := j.inner()
		if err != nil {
			return err
		}
		key, ok := token.(string)
		if !ok { // the decoder has seen to it
			return bad(j.name, j.line(), "key", fmt.Sprint(token), "a string")
		}
		if err := each(key); err != nil {
			return err
		}
	}
	_, err := j.inner()
	return err
}

// value is the next value as it stands there, and the line where it begins.
func (j *jsonText) value() (json.RawMessage, int, error) {
	var raw json.RawMessage
	if err := j.dec.Decode(&raw); err != nil {
		return nil, 0, j.unreadable(err)
	}
	return raw, j.lines.at(j.dec.InputOffset() - int64(len(raw))), nil
}

// leaf is a value at a path, of a list or object its first token.
type leaf struct {
	token json.Token // nil: null
	line  int
	there bool
}

// maxDepth of nested values: no file of measurements is as deep.
const maxDepth = 64

// leaves reads the next object of the text and finds the values at the paths
// wanted, "kv_cache.block_size". Of a path given twice the last counts, as usual
// in JSON. It reports io.EOF at the end of the text.
func (j *jsonText) leaves(wanted []string) ([]leaf, error) {
	token, err := j.token()
	if err != nil {
		return nil, err
	}
	if token != json.Delim('{') {
		return nil, bad(j.name, j.line(), "row", fmt.Sprint(token), "a JSON object")
	}
	found := make([]leaf, len(wanted))
	return found, j.members(func(key string) error { return j.collect(found, wanted, []string{key}) })
}

// collect finds leaves in the value that comes next, which is at path. Within
// lists there are none.
func (j *jsonText) collect(found []leaf, wanted, path []string) error {
	if len(path) > maxDepth {
		return fmt.Errorf("%s:%d: more than %d nested values: want a description of a run", j.name, j.line(), maxDepth)
	}
	token, err := j.inner()
	if err != nil {
		return err
	}
	if i := slices.Index(wanted, strings.Join(path, ".")); i >= 0 {
		found[i] = leaf{token: token, line: j.line(), there: true}
	}
	switch token {
	case json.Delim('{'):
		return j.members(func(key string) error { return j.collect(found, wanted, append(path, key)) })
	case json.Delim('['):
		return j.pass()
	}
	return nil
}

// pass reads on to the end of a list that was begun.
func (j *jsonText) pass() error {
	for open := 1; open > 0; {
		token, err := j.inner()
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('['), json.Delim('{'):
			open++
		case json.Delim(']'), json.Delim('}'):
			open--
		}
	}
	return nil
}

// lineCounter counts the lines that go through it.
type lineCounter struct {
	r      *bufio.Reader
	read   int64
	ends   []int64 // offsets of the line ends beyond passed
	passed int     // line ends before what was asked for last
}

// Read implements io.Reader.
func (c *lineCounter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	for at := 0; ; {
		i := bytes.IndexByte(p[at:n], '\n')
		if i < 0 {
			break
		}
		c.ends = append(c.ends, c.read+int64(at+i))
		at += i + 1
	}
	c.read += int64(n)
	return n, err
}

// at is the line, from 1, of an offset that is not before the last one asked
// for.
func (c *lineCounter) at(offset int64) int {
	i := 0
	for i < len(c.ends) && c.ends[i] < offset {
		i++
	}
	c.ends = c.ends[i:]
	c.passed += i
	return c.passed + 1
}
