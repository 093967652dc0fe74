package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"strings"

	"github.com/vmihailenco/msgpack/v5"
)

// Form is the form of the records of a trace in a file.
type Form uint8

// Forms.
const (
	JSONLines   Form = iota // a JSON object per line
	MessagePack             // a msgpack map per record, one after the other
)

// FormOf is the form of the file of that name: JSON Lines of one that ends in
// .jsonl, msgpack of .msgpack. Any other name is an error.
func FormOf(name string) (Form, error) {
	switch strings.ToLower(path.Ext(name)) {
	case ".jsonl":
		return JSONLines, nil
	case ".msgpack":
		return MessagePack, nil
	}
	return 0, fmt.Errorf("%s: want a name that ends in .jsonl or .msgpack", name)
}

// Writer is a Consumer that writes a trace. JSON Lines are made without
// allocation. It writes pieces of many records; Flush writes what is left.
type Writer struct {
	to    io.Writer
	buf   bytes.Buffer
	pack  *msgpack.Encoder // into buf; nil: JSON Lines
	taken int64
	err   error // the first
}

// pieceSize is the size in bytes from which on a Writer writes what it has.
const pieceSize = 1 << 18

// NewWriter returns a Writer of that form.
func NewWriter(to io.Writer, form Form) *Writer {
	w := &Writer{to: to}
	w.buf.Grow(pieceSize + 1<<12)
	if form == MessagePack {
		w.pack = msgpack.NewEncoder(&w.buf)
		w.pack.UseCompactInts(true)
	}
	return w
}

// Consume implements Consumer. After an error it writes nothing more, and returns
// that error again. A number that is not finite is an error, which names the
// record.
func (w *Writer) Consume(r Record) error {
	if w.err != nil {
		return w.err
	}
	w.taken++
	switch {
	case !r.finite():
		w.err = fmt.Errorf("trace: record %d, %s: a number in it is not finite", w.taken, r.Kind())
	case w.pack != nil:
		w.err = encode(w.pack, r)
	default:
		w.buf.Write(append(r.appendJSON(w.buf.AvailableBuffer()), '\n'))
	}
	if w.err == nil && w.buf.Len() >= pieceSize {
		w.write()
	}
	return w.err
}

// Flush writes what was taken and is not written yet.
func (w *Writer) Flush() error {
	if w.err == nil {
		w.write()
	}
	return w.err
}

func (w *Writer) write() {
	n, err := w.to.Write(w.buf.Bytes())
	if err == nil && n < w.buf.Len() {
		err = io.ErrShortWrite
	}
	w.buf.Reset()
	w.err = err
}

// Tee is a Consumer that gives each record to all of those given, in their
// order. An error of one does not keep it from the others.
func Tee(consumers ...Consumer) Consumer { return tee(consumers) }

type tee []Consumer

func (t tee) Consume(r Record) error {
	var errs []error
	for _, c := range t {
		if err := c.Consume(r); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

func finitePointer(x *float64) bool { return x == nil || finite(*x) }

// allFinite reports whether all floats of a list are finite.
func allFinite[T any, P interface {
	*T
	finite() bool
}](list []T) bool {
	for i := range list {
		if !P(&list[i]).finite() {
			return false
		}
	}
	return true
}
