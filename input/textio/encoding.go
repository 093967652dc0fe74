package textio

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// decode is the text as UTF-8 if its beginning shows that it is UTF-16, else nil.
// Without a byte order mark it is UTF-16 if every other of its first bytes is
// zero, which no UTF-8 text has.
func decode(text *bufio.Reader, head []byte) io.Reader {
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe\x00\x00")), bytes.HasPrefix(head, []byte("\x00\x00\xfe\xff")):
		return nil // UTF-32, which no tool writes: binary data
	case bytes.HasPrefix(head, []byte("\xff\xfe")):
		text.Discard(2)
		return &fromUTF16{r: text, order: binary.LittleEndian}
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		text.Discard(2)
		return &fromUTF16{r: text, order: binary.BigEndian}
	case len(head) >= 4 && head[0] != 0 && head[1] == 0 && head[2] != 0 && head[3] == 0:
		return &fromUTF16{r: text, order: binary.LittleEndian}
	case len(head) >= 4 && head[0] == 0 && head[1] != 0 && head[2] == 0 && head[3] != 0:
		return &fromUTF16{r: text, order: binary.BigEndian}
	}
	return nil
}

// fromUTF16 reads UTF-16 as UTF-8. Halves of pairs that stand alone become
// U+FFFD, as everywhere.
type fromUTF16 struct {
	r     *bufio.Reader
	order binary.ByteOrder
	buf   []byte // holds what was decoded
	out   []byte // the part of buf that was not yet read
	err   error  // kept: a peek at the text does not return it
}

// Read implements io.Reader.
func (d *fromUTF16) Read(p []byte) (int, error) {
	if len(d.out) == 0 && d.err == nil {
		d.err = d.fill()
	}
	if len(d.out) == 0 {
		return 0, d.err
	}
	n := copy(p, d.out)
	d.out = d.out[n:]
	return n, nil
}

// fill decodes at least one character, and more as long as they are buffered.
func (d *fromUTF16) fill() error {
	d.buf, d.out = d.buf[:0], nil
	for len(d.buf) == 0 || len(d.buf) < sniffed && d.r.Buffered() >= 2 {
		c, err := d.unit()
		if err != nil {
			return err
		}
		char := rune(c)
		if utf16.IsSurrogate(char) {
			char = utf8.RuneError
			if next, err := d.r.Peek(2); err == nil {
				if char = utf16.DecodeRune(rune(c), rune(d.order.Uint16(next))); char != utf8.RuneError {
					d.r.Discard(2)
				}
			}
		}
		d.buf = utf8.AppendRune(d.buf, char)
	}
	d.out = d.buf
	return nil
}

// unit is the next 16 bits. Half of one at the end is a text that was cut off.
func (d *fromUTF16) unit() (uint16, error) {
	var b [2]byte
	if _, err := io.ReadFull(d.r, b[:]); err != nil {
		return 0, err
	}
	return d.order.Uint16(b[:]), nil
}

// endsInCR reports whether the lines of a beginning end in CR alone, as in files of
// old spreadsheets.
func endsInCR(head []byte) bool {
	at := bytes.IndexByte(head, '\r')
	return at >= 0 && at < len(head)-1 && bytes.IndexByte(head, '\n') < 0
}

// lineEnds reads every CR as LF.
type lineEnds struct{ r io.Reader }

// Read implements io.Reader.
func (l *lineEnds) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	for i, c := range p[:n] {
		if c == '\r' {
			p[i] = '\n'
		}
	}
	return n, err
}
