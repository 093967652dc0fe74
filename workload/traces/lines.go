package traces

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// maxLine bounds one line, so that a file that is no text ends in an error
// and not in the memory.
const maxLine = 64 << 20

// lines reads a text, plain or gzip, line by line.
type lines struct {
	name   string
	number int // of the line that next returned last, from 1
	r      *bufio.Reader
	long   []byte // a line longer than the reader's buffer
}

// openLines recognises gzip by its first two bytes and skips a byte order
// mark. Errors name the text by name.
func openLines(name string, r io.Reader) (*lines, error) {
	l := &lines{name: name, r: bufio.NewReaderSize(r, 1<<16)}
	if magic, _ := l.r.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		unzipped, err := gzip.NewReader(l.r)
		if err != nil {
			return nil, l.broken(err)
		}
		l.r = bufio.NewReaderSize(unzipped, 1<<16)
	}
	if mark, _ := l.r.Peek(3); string(mark) == "\xef\xbb\xbf" {
		l.r.Discard(3)
	}
	return l, nil
}

// next returns the next line that is not blank, without its end, valid until
// the following call; io.EOF after the last.
func (l *lines) next() ([]byte, error) {
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
		return fmt.Errorf("%s: after line %d: the gzip data end too early; want the whole file", l.name, l.number)
	}
	return fmt.Errorf("%s: after line %d: %w", l.name, l.number, err)
}

// bad is the error of one value in the current line.
func (l *lines) bad(column string, value []byte, want string, args ...any) error {
	return fmt.Errorf("%s:%d: %s: %s: want %s", l.name, l.number, column, quote(value), fmt.Sprintf(want, args...))
}

// quote prints a value from a file, the beginning of a long one.
func quote(value []byte) string {
	const most = 60
	if len(value) > most {
		return fmt.Sprintf("%q…", value[:most])
	}
	return fmt.Sprintf("%q", value)
}
