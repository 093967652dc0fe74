package servegen

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"blis/input/textio"
)

// maxFile bounds a file, unpacked: the largest published one has 250 kB.
const maxFile = 16 << 20

// unpack reads a text, plain or gzip, which it recognises by its first two
// bytes, and cuts a byte order mark off. Errors name it by name.
func unpack(name string, r io.Reader) ([]byte, error) {
	text, err := readAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	packed := bytes.HasPrefix(text, []byte{0x1f, 0x8b})
	if !packed && strings.HasSuffix(name, ".gz") {
		return nil, fmt.Errorf("%s: want gzip data, as its name says", name)
	}
	if packed {
		unzip, err := textio.Gunzip(bufio.NewReader(bytes.NewReader(text)))
		if err == nil {
			text, err = readAll(unzip)
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, fmt.Errorf("%s: the gzip data ends too early: want the whole file", name)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), nil
}

func readAll(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err == nil && len(text) > maxFile {
		return nil, fmt.Errorf("want at most %d MiB, unpacked", maxFile>>20)
	}
	return text, err
}

// quote prints a value from a file, the beginning of a long one.
func quote(value string) string {
	const most = 40
	if len(value) > most {
		return fmt.Sprintf("%q…", value[:most])
	}
	return fmt.Sprintf("%q", value)
}

// maxStart bounds the times of files, in s: 31 years, far inside virtual time.
const maxStart = 1_000_000_000

// seconds parses the start of a window: plain digits, up to maxStart.
func seconds(text string) (int64, bool) {
	n, ok := whole(text)
	return n, ok && n <= maxStart
}

// whole parses plain digits, at most ten of them.
func whole(text string) (int64, bool) {
	if len(text) == 0 || len(text) > 10 {
		return 0, false
	}
	n := int64(0)
	for i := range len(text) {
		d := text[i] - '0'
		if d > 9 {
			return 0, false
		}
		n = 10*n + int64(d)
	}
	return n, true
}

// number parses a finite decimal number from 0, as Python prints one.
func number(text string) (float64, bool) {
	for i := range len(text) {
		switch c := text[i]; {
		case c >= '0' && c <= '9', c == '.', c == 'e', c == 'E', c == '+', c == '-':
		default:
			return 0, false // not NaN, Inf, hexadecimal or underscores, which strconv takes
		}
	}
	x, err := strconv.ParseFloat(text, 64)
	return x, err == nil && x >= 0
}
