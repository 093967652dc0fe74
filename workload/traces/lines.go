package traces

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"blis/input/textio"
)

// maxLine bounds one line, so that a file that is no text ends in an error
// and not in the memory.
const maxLine = 64 << 20

// lines reads a text line by line, or JSON value by value.
type lines struct {
	name   string
	number int // of the line that next returned last, from 1
	r      *bufio.Reader
	long   []byte // a line longer than the reader's buffer

	separator byte     // between the fields of a row
	ignore    []string // columns that the user wants left out
	unused    []string // columns that were left out, quoted

	values bool // next returns JSON values, see json_values.go
	within bool // a list of them, of which the bracket was read
	ends   int  // line ends that were read within values
}

// openLines opens the text of r, see textio.Open. Errors name it by name.
func openLines(name string, r io.Reader) (*lines, error) {
	l := &lines{name: name, separator: ','}
	var err error
	switch l.r, err = textio.Open(r); {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, gzip.ErrHeader):
		return nil, l.broken(err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return l, nil
}

// next returns the next line that is not blank, without its end, valid until
// the following call; io.EOF after the last.
func (l *lines) next() ([]byte, error) {
	if l.values {
		return l.nextValue()
	}
	for {
		line, err := l.read()
		if err != nil {
			return nil, err
		}
		l.number++
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if len(trim(line)) > 0 {
			return line, nil
		}
	}
}

func (l *lines) read() ([]byte, error) {
	line, err := l.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		l.long = append(l.long[:0], line...)
		for errors.Is(err, bufio.ErrBufferFull) {
			if len(l.long) > maxLine {
				return nil, fmt.Errorf("%s:%d: want lines of at most %d MiB", l.name, l.number+1, maxLine>>20)
			}
			line, err = l.r.ReadSlice('\n')
			l.long = append(l.long, line...)
		}
		line = l.long
	}
	if err == io.EOF && len(line) > 0 {
		return line, nil // the last line may lack its end
	}
	if err != nil && err != io.EOF {
		return nil, l.broken(err)
	}
	return line, err
}

// broken wraps an error of reading, as opposed to one of content.
func (l *lines) broken(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s: after line %d: the gzip data ends too early: want the whole file", l.name, l.number)
	}
	return fmt.Errorf("%s: after line %d: %w", l.name, l.number, err)
}

// bad is the error of one value in the current line.
func (l *lines) bad(column string, value []byte, want string, args ...any) error {
	return fmt.Errorf("%s:%d: %s: %s: want %s", l.name, l.number, column, quote(value), fmt.Sprintf(want, args...))
}

// quote prints a value from a file, the beginning of a long one.
func quote(value []byte) string { return textio.Quote(string(value[:min(len(value), 64)])) }
