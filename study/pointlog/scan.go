package pointlog

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
)

// place is where a line stands.
type place struct {
	offset int64  // in bytes
	length uint32 // without the newline
	line   uint32 // from 1
}

// ending is what a scan found at the end of a file.
type ending struct {
	whole int64  // bytes of lines that have a newline
	lines uint32 // their number
	torn  int64  // bytes that follow: a last line that was not written whole
}

// scan calls each with every line that has a newline.
func scan(r io.Reader, name string, each func(at place, line []byte) error) (ending, error) {
	lines := bufio.NewReaderSize(r, MaxLine)
	for at := (place{line: 1}); ; at.line++ {
		line, err := lines.ReadSlice('\n')
		if err == io.EOF {
			return ending{at.offset, at.line - 1, int64(len(line))}, nil
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			return scanLong(lines, name, at)
		}
		if err != nil {
			return ending{}, err
		}
		at.length = uint32(len(line) - 1)
		if err := each(at, line[:at.length]); err != nil {
			return ending{}, fmt.Errorf("%s:%d: %w", name, at.line, err)
		}
		at.offset += int64(len(line))
	}
}

// scanLong is the end of a scan at a line that fills the buffer: an error, unless
// it has no newline.
func scanLong(lines *bufio.Reader, name string, at place) (ending, error) {
	torn := int64(MaxLine)
	for {
		part, err := lines.ReadSlice('\n')
		torn += int64(len(part))
		switch {
		case err == io.EOF:
			return ending{at.offset, at.line - 1, torn}, nil
		case err == nil:
			return ending{}, fmt.Errorf("%s:%d: a line of %d bytes, want at most %d", name, at.line, torn, MaxLine)
		case !errors.Is(err, bufio.ErrBufferFull):
			return ending{}, err
		}
	}
}

// Rows reads the rows of a file in their order, whichever of them count. A last
// line without newline is left out. An error, with file and line, ends it.
func Rows(path string) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		f, err := os.Open(path)
		if err != nil {
			yield(Row{}, err)
			return
		}
		defer f.Close()
		d := new(decoder)
		stop := errors.New("stop")
		_, err = scan(f, path, func(_ place, line []byte) error {
			var r Row
			if err := d.parse(line, &r); err != nil {
				return err
			}
			if !yield(r, nil) {
				return stop
			}
			return nil
		})
		if err != nil && !errors.Is(err, stop) {
			yield(Row{}, err)
		}
	}
}
