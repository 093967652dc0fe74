package lookahead

import "math"

// Decoder reads the fields of one message in the order in which they were
// written. After the first error every read returns zero; see Err. It takes any
// bytes and never panics.
type Decoder struct {
	buf  []byte
	pos  int   // of the next field
	left int   // fields not read
	err  error // the first one
}

// Left returns the number of fields not read yet.
func (d *Decoder) Left() int { return d.left }

// Err returns the first error: a field of another type than the one asked for, a
// field out of range, or a read past the last field. The kernel checks it after
// each message, so processes need not.
func (d *Decoder) Err() error { return d.err }

// Int reads an integer that fits int64.
func (d *Decoder) Int() int64 {
	word, f := d.read()
	if f > negative || f == unsigned && word > math.MaxInt64 {
		return int64(d.fail(f, errRange))
	}
	return int64(word)
}

// Uint reads an integer that is not negative.
func (d *Decoder) Uint() uint64 {
	word, f := d.read()
	if f != unsigned {
		return d.fail(f, errRange)
	}
	return word
}

// Float reads a float.
func (d *Decoder) Float() float64 {
	word, f := d.read()
	if f != floating {
		d.fail(f, errForm)
		return 0
	}
	return math.Float64frombits(word)
}

// Bytes reads a byte string. It aliases the frame and is valid during
// Process.Receive.
func (d *Decoder) Bytes() []byte {
	word, f := d.read()
	if f != octets {
		d.fail(f, errForm)
		return nil
	}
	start := d.pos
	d.pos += int(word)
	return d.buf[start:d.pos:d.pos]
}

// read reads the next field. Of a byte string it reads the length; d.pos is at
// the first byte then.
func (d *Decoder) read() (word uint64, f form) {
	if d.left == 0 || d.err != nil {
		return 0, exhausted
	}
	d.left--
	word, f, d.pos = readScalar(d.buf, d.pos)
	return word, f
}

// fail keeps the error of a field whose form f is not the one asked for. The
// error of an integer is integer. It returns zero.
func (d *Decoder) fail(f form, integer error) uint64 {
	switch {
	case d.err != nil:
	case f <= negative:
		d.err = integer
	default:
		d.err = f.err()
	}
	return 0
}
