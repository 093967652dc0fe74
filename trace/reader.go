package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"

	"blis/input/textio"
	"blis/vtime"
)

// Reader reads a trace record by record. It is strict: every key of a record
// must be there, and no other; values must be of their type and in its range;
// the first record, and no other, is a header of this Schema; time does not go
// back.
type Reader struct {
	name  string
	form  Form
	lines *bufio.Reader
	pack  *msgpack.Decoder
	line  []byte
	count int64 // records
	last  vtime.Time
	err   error
}

// longestLine is the size in bytes of a line of a trace that is refused: some
// 500,000 instances in a snapshot.
const longestLine = 1 << 26

// NewReader returns a Reader of a trace of that form. name is the name of the
// file, for errors.
func NewReader(from io.Reader, form Form, name string) *Reader {
	r := &Reader{name: name, form: form, lines: bufio.NewReaderSize(from, 1<<16)}
	if form == MessagePack {
		r.pack = msgpack.NewDecoder(r.lines)
	}
	return r
}

// Open returns a Reader of a trace of either form; the first byte of the trace decides
// which. A trace may be packed with gzip; JSON Lines may be what textio.Open reads. from is
// read once and from its start, so it may be a pipe. name is the name of the file,
// for errors.
func Open(from io.Reader, name string) (*Reader, error) {
	text := bufio.NewReaderSize(from, 1<<16)
	if head, _ := text.Peek(2); string(head) == "\x1f\x8b" {
		unpacked, err := textio.Gunzip(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, shortGzip(err))
		}
		text = bufio.NewReaderSize(unpacked, 1<<16)
	}
	if head, _ := text.Peek(1); len(head) > 0 && (msgpcode.IsFixedMap(head[0]) || head[0] == msgpcode.Map16 || head[0] == msgpcode.Map32) {
		return NewReader(text, MessagePack, name), nil
	}
	text, err := textio.Open(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return NewReader(text, JSONLines, name), nil
}

// Next is the next record, io.EOF after the last. Other errors name file, line
// (of msgpack: record) and field, and come again when it is called again.
// Records are not used again.
func (r *Reader) Next() (Record, error) {
	if r.err != nil {
		return nil, r.err
	}
	record, err := r.read()
	if err == nil {
		r.count++
		err = r.check(record)
	} else if err == io.EOF && r.count > 0 {
		r.err = err
		return nil, err
	} else {
		r.count++ // the one that is bad
		if err == io.EOF {
			err = errors.New("the file is empty, want a header")
		}
	}
	if err != nil {
		r.err = r.located(err)
		return nil, r.err
	}
	return record, nil
}

// located puts an error at the last record.
func (r *Reader) located(err error) error {
	unit := "line"
	if r.form == MessagePack {
		unit = "record"
	}
	return fmt.Errorf("%s: %s %d: %w", r.name, unit, r.count, err)
}

func (r *Reader) read() (Record, error) {
	if r.form == MessagePack {
		return unpack(r.pack)
	}
	line, err := r.readLine()
	if err != nil {
		return nil, err
	}
	if record, ok := parseQuickly(line); ok {
		return record, nil
	}
	return parse(line)
}

// readLine is the next line without its end.
func (r *Reader) readLine() ([]byte, error) {
	r.line = r.line[:0]
	for {
		part, err := r.lines.ReadSlice('\n')
		r.line = append(r.line, part...)
		switch {
		case len(r.line) > longestLine:
			return nil, fmt.Errorf("longer than %d bytes", longestLine)
		case err == bufio.ErrBufferFull:
		case err == io.EOF && len(r.line) > 0, err == nil:
			return bytes.TrimRight(r.line, "\r\n"), nil
		default:
			return nil, shortGzip(err)
		}
	}
}

// shortGzip words the end of a file within gzip data.
func shortGzip(err error) error {
	if err == io.ErrUnexpectedEOF {
		return errors.New("the gzip data end too early: want the whole file")
	}
	return err
}

// check returns an error if a record contradicts the ones before it.
func (r *Reader) check(record Record) error {
	h, isHeader := record.(*Header)
	switch {
	case isHeader && r.count > 1:
		return errors.New("a second header")
	case !isHeader && r.count == 1:
		return fmt.Errorf("the first record is of type %s, want a header", record.Kind())
	case isHeader && h.Schema != Schema:
		return &fieldError{"schema", fmt.Errorf("it is %q, want %s", h.Schema, Schema)}
	case isHeader:
		if l, err := ParseLevel(h.Level); err != nil || l == None {
			return &fieldError{"level", fmt.Errorf("it is %q, want decisions or detailed", h.Level)}
		}
		return nil
	}
	at := record.when()
	if at < r.last {
		return &fieldError{"at_us", fmt.Errorf("%d comes after %d: time goes back", at, r.last)}
	}
	r.last = at
	return nil
}
