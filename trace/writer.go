package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/vmihailenco/msgpack/v5"
)

// Form is how the records of a trace stand in a file.
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
// allocation. What it is given it writes in pieces of some records each; Flush
// writes what is left.
type Writer struct {
	to    io.Writer
	form  Form
	buf   []byte
	bytes bytes.Buffer // of msgpack
	pack  *msgpack.Encoder
	taken int64
	err   error // the first
}

// pieceSize is from how many bytes on a Writer writes what it has.
const pieceSize = 1 << 18

// NewWriter returns a Writer of that form.
func NewWriter(to io.Writer, form Form) *Writer {
	w := &Writer{to: to, form: form, buf: make([]byte, 0, pieceSize+1<<12)}
	if form == MessagePack {
		w.pack = msgpack.NewEncoder(&w.bytes)
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
	if !allFinite(r) {
		w.err = fmt.Errorf("trace: record %d, %s: a number in it is not finite", w.taken, r.Kind())
		return w.err
	}
	if w.form == MessagePack {
		w.bytes.Reset()
		if w.err = encode(w.pack, r); w.err != nil {
			return w.err
		}
		w.buf = append(w.buf, w.bytes.Bytes()...)
	} else {
		w.buf = append(AppendJSON(w.buf, r), '\n')
	}
	if len(w.buf) >= pieceSize {
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
	n, err := w.to.Write(w.buf)
	if err == nil && n < len(w.buf) {
		err = io.ErrShortWrite
	}
	w.buf, w.err = w.buf[:0], err
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

// allFinite reports whether all floats of a record are.
func allFinite(r Record) bool {
	switch r := r.(type) {
	case *Priority:
		return finite(r.Priority)
	case *Anomaly:
		return finite(r.Severity)
	case *Routing:
		if !finite(r.Priority) {
			return false
		}
		for _, p := range [...]*float64{r.Score, r.Best, r.Regret} {
			if p != nil && !finite(*p) {
				return false
			}
		}
		for i := range r.Candidates {
			if !finite(r.Candidates[i].Score) {
				return false
			}
			for _, s := range r.Candidates[i].Breakdown {
				if !finite(s.Share) {
					return false
				}
			}
		}
	}
	return true
}
