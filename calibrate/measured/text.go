package measured

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"blis/input/textio"
	"blis/vtime"
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

// Bounds of what files may say.
const (
	most32 = math.MaxInt32
	maxTP  = 1024
	latest = 1 << 62 // µs or ns: sums and differences of two fit
)

// decimal parses a finite decimal number from 0 to high. NaN, infinities and
// hexadecimal are none.
func decimal(text string, high float64) (float64, bool) {
	if strings.Trim(text, "0123456789.eE+-") != "" {
		return 0, false
	}
	x, err := strconv.ParseFloat(text, 64)
	return x, err == nil && 0 <= x && x <= high
}

// truth parses a yes or no as tables have it.
func truth(text string) (yes, ok bool) {
	switch strings.ToLower(text) {
	case "1", "true":
		return true, true
	case "0", "false":
		return false, true
	}
	return false, false
}

// micros is a number of nanoseconds, of either sign, in microseconds, half to
// even.
func micros(ns int64) vtime.Duration {
	us, rest := ns/1000, ns%1000
	if rest < 0 {
		us, rest = us-1, rest+1000
	}
	if rest > 500 || rest == 500 && us%2 != 0 {
		us++
	}
	return vtime.Duration(us)
}
