package measured

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"

	"blis/input/textio"
)

// readFile hands a file to a reader that names it by its path.
func readFile[T any](path string, read func(name string, r io.Reader) (T, error)) (T, error) {
	f, err := os.Open(path)
	if err != nil {
		var none T
		return none, err
	}
	defer f.Close()
	return read(path, f)
}

// plain is the text of r, see textio.Open.
func plain(name string, r io.Reader) (*bufio.Reader, error) {
	text, err := textio.Open(r)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, gzip.ErrHeader) {
		return nil, broken(name, 0, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return text, nil
}

// broken wraps an error of reading, as opposed to one of content.
func broken(name string, line int, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s: after line %d: the data end too early: want the whole file", name, line)
	}
	return fmt.Errorf("%s: after line %d: %w", name, line, err)
}

// bad is the error of one value.
func bad(name string, line int, field, value, want string, args ...any) error {
	return fmt.Errorf("%s:%d: %s: %s: want %s", name, line, field, quote(value), fmt.Sprintf(want, args...))
}

// quote prints a value from a file, the beginning of a long one.
func quote(value string) string { return textio.Quote(value) }
