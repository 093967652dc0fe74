package textio

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io"
)

// ErrBehindGzip is the error of a file with something after its gzip data.
var ErrBehindGzip = errors.New("something else follows the gzip data: want the gzip file alone")

// Gunzip is the content of gzip data. What follows them must be gzip data too,
// or zeros, as tapes leave them: an error of the second one would say that the
// data end too early, where they end too late.
func Gunzip(packed *bufio.Reader) (io.Reader, error) {
	unzipped, err := gzip.NewReader(packed)
	if err != nil {
		return nil, err
	}
	unzipped.Multistream(false)
	return &members{packed, unzipped}, nil
}

// members are pieces of gzip data one after the other.
type members struct {
	packed   *bufio.Reader
	unzipped *gzip.Reader
}

func (m *members) Read(p []byte) (int, error) {
	n, err := m.unzipped.Read(p)
	if err != io.EOF {
		return n, err
	}
	if err := m.next(); err != nil {
		return n, err
	}
	return n, nil
}

// next goes on to the next piece; io.EOF behind the last.
func (m *members) next() error {
	for {
		head, err := m.packed.Peek(2)
		switch {
		case len(head) == 0:
			return err
		case head[0] == 0:
			m.packed.Discard(1)
			continue
		case len(head) == 2 && head[0] == 0x1f && head[1] == 0x8b:
			if err := m.unzipped.Reset(m.packed); err != nil {
				return err
			}
			m.unzipped.Multistream(false)
			return nil
		}
		return ErrBehindGzip
	}
}
