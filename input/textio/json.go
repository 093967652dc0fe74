package textio

import (
	"bufio"
	"fmt"
	"io"
)

// maxDepth of nested values: no file of measurements is as deep.
const maxDepth = 200

// JSON reads a text of JSON values, one after the other, as a stream: what is
// not asked for is passed over and never held. A caller takes each value with
// one of the methods Object, List, Number, Text, Truth, Null or Skip.
//
// NaN, Infinity and -Infinity are taken for numbers, as Python writes them.
type JSON struct {
	name  string
	r     *bufio.Reader
	line  int // of the next byte, from 1
	depth int
	text  []byte // of the last key, string or number
}

// NewJSON reads from r, a text that Open returned; name is for errors.
func NewJSON(name string, r *bufio.Reader) *JSON { return &JSON{name: name, r: r, line: 1} }

// Line is where the value that comes next begins, once it was looked at, or the
// last one ended.
func (j *JSON) Line() int { return j.line }

// Bad is the error of a value: file, line, field, what it is, what would be right.
func (j *JSON) Bad(field, value, want string, args ...any) error {
	return fmt.Errorf("%s:%d: %s: %s: want %s", j.name, j.line, field, Quote(value), fmt.Sprintf(want, args...))
}

// Quote prints a value from a file, the beginning of a long one.
func Quote(value string) string {
	const most = 60
	if len(value) > most {
		return fmt.Sprintf("%q…", value[:most])
	}
	return fmt.Sprintf("%q", value)
}

// wrong is the error of a text that is no JSON.
func (j *JSON) wrong(what string, args ...any) error {
	return fmt.Errorf("%s:%d: no JSON: %s", j.name, j.line, fmt.Sprintf(what, args...))
}

// broken is an error of reading.
func (j *JSON) broken(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("%s: after line %d: the data end too early: want the whole file", j.name, j.line)
	}
	return fmt.Errorf("%s: after line %d: %w", j.name, j.line, err)
}

// next is the next byte that is no white space, which stays to be read.
func (j *JSON) next() (byte, error) {
	for {
		c, err := j.r.ReadByte()
		if err != nil {
			return 0, err
		}
		switch c {
		case '\n':
			j.line++
		case ' ', '\t', '\r':
		default:
			return c, j.r.UnreadByte()
		}
	}
}

// Next tells the kind of the value that comes next by its first byte, such as
// '{', '[' or '"'; io.EOF at the end of the text, where no value is open. Between
// values that are within no other may be commas.
func (j *JSON) Next() (byte, error) {
	for {
		c, err := j.next()
		switch {
		case err == io.EOF && j.depth == 0:
			return 0, io.EOF
		case err != nil:
			return 0, j.broken(err)
		case c != ',' || j.depth > 0:
			return c, nil
		}
		j.r.Discard(1)
	}
}

// inner is next within a value, where the text must not end.
func (j *JSON) inner() (byte, error) {
	c, err := j.next()
	if err != nil {
		return 0, j.broken(err)
	}
	return c, nil
}

// expect reads one byte of punctuation.
func (j *JSON) expect(want byte, where string) error {
	c, err := j.inner()
	if err != nil {
		return err
	}
	if c != want {
		return j.wrong("%q %s: want %q", c, where, want)
	}
	j.r.Discard(1)
	return nil
}

// Object calls each with every key of the object that comes next; each takes the
// value, and must not hold the key. Null is an empty object.
func (j *JSON) Object(field string, each func(key []byte) error) error {
	return j.nested('{', '}', field, "an object", func(int) error {
		if c, err := j.inner(); err != nil {
			return err
		} else if c != '"' {
			return j.wrong("%q in place of a key: want a string", c)
		}
		key, err := j.quoted()
		if err != nil {
			return err
		}
		if err := j.expect(':', "behind a key"); err != nil {
			return err
		}
		return each(key)
	})
}

// List calls each before every element of the list that comes next, with its
// place from 0; each takes the element. Null is an empty list.
func (j *JSON) List(field string, each func(i int) error) error {
	return j.nested('[', ']', field, "a list", each)
}

// nested reads an object or a list.
func (j *JSON) nested(open, end byte, field, what string, each func(i int) error) error {
	c, err := j.inner()
	if err != nil {
		return err
	}
	if c != open {
		if null, err := j.Null(); null || err != nil {
			return err
		}
		return j.Bad(field, j.kind(c), "%s", what)
	}
	if j.depth == maxDepth {
		return j.wrong("more than %d values within each other", maxDepth)
	}
	j.depth++
	defer func() { j.depth-- }()
	j.r.Discard(1)
	for i := 0; ; i++ {
		if c, err = j.inner(); err != nil {
			return err
		}
		if c == end && i == 0 {
			break
		}
		if err := each(i); err != nil {
			return err
		}
		if c, err = j.inner(); err != nil {
			return err
		}
		if c == end {
			break
		}
		if c != ',' {
			return j.wrong("%q behind a value: want ',' or %q", c, end)
		}
		j.r.Discard(1)
	}
	j.r.Discard(1)
	return nil
}

// kind names a value by its first byte, for errors.
func (j *JSON) kind(c byte) string {
	switch c {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	}
	rest, _ := j.r.Peek(20)
	n := 0
	for n < len(rest) && plainByte(rest[n]) {
		n++
	}
	return string(rest[:n])
}

// Skip passes over the value that comes next, whatever it is.
func (j *JSON) Skip() error {
	c, err := j.inner()
	if err != nil {
		return err
	}
	switch c {
	case '{':
		return j.Object("", func([]byte) error { return j.Skip() })
	case '[':
		return j.List("", func(int) error { return j.Skip() })
	case '"':
		return j.pass()
	}
	_, err = j.literal()
	return err
}
