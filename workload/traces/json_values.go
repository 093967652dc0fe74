package traces

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// asValues makes next return JSON values where a text of JSON objects has not one
// on each line: a list of them, or objects over several lines, as json.dump and jq
// write them. A text whose first line ends as an object does is left to be read
// by lines, which is faster.
func (l *lines) asValues() {
	start, _ := l.r.Peek(l.r.Size())
	text := strings.TrimLeft(string(start), " \t\r\n")
	first, _, more := strings.Cut(text, "\n")
	first = strings.TrimRight(first, " \t\r")
	l.values = strings.HasPrefix(text, "[") || more && !strings.HasSuffix(first, "}")
}

// nextValue returns the next JSON object, or what stands in its place, valid
// until the following call, and io.EOF after the last. Its line is the one in
// which it begins.
func (l *lines) nextValue() ([]byte, error) {
	for {
		c, err := l.skipBlanks()
		switch {
		case err == io.EOF && l.within:
			return nil, fmt.Errorf("%s: after line %d: the list has no end: want the whole file", l.name, l.ends+1)
		case err != nil:
			return nil, err
		}
		l.number = l.ends + 1
		switch {
		case c == '[' && !l.within:
			l.within = true
		case c == ']' && l.within:
			l.within = false
			if _, err := l.skipBlanks(); !errors.Is(err, io.EOF) {
				if err == nil {
					err = fmt.Errorf("%s:%d: more behind the list of requests: want one list", l.name, l.ends+1)
				}
				return nil, err
			}
			return nil, io.EOF
		case c == ',':
		default:
			return l.value(c)
		}
	}
}

// skipBlanks returns the next byte that is no white space.
func (l *lines) skipBlanks() (byte, error) {
	for {
		c, err := l.r.ReadByte()
		switch {
		case err == io.EOF:
			return 0, io.EOF
		case err != nil:
			return 0, l.broken(err)
		case c == '\n':
			l.ends++
		case c != ' ' && c != '\t' && c != '\r':
			return c, nil
		}
	}
}

// value reads a value up to its end; whether it is JSON is for others to tell.
func (l *lines) value(c byte) ([]byte, error) {
	l.long = l.long[:0]
	for depth, quoted, escaped := 0, false, false; ; {
		l.long = append(l.long, c)
		switch {
		case c == '\n':
			l.ends++
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{', c == '[':
			depth++
		case c == '}', c == ']':
			depth--
		}
		if len(l.long) > maxLine {
			return nil, fmt.Errorf("%s:%d: want values of at most %d MiB", l.name, l.number, maxLine>>20)
		}
		if depth <= 0 && !quoted {
			if next, err := l.r.Peek(1); err != nil || c == '}' || strings.IndexByte(",[]{} \t\r\n", next[0]) >= 0 {
				return l.long, nil
			}
		}
		var err error
		if c, err = l.r.ReadByte(); err != nil {
			if err == io.EOF {
				return l.long, nil // cut off: no JSON
			}
			return nil, l.broken(err)
		}
	}
}
