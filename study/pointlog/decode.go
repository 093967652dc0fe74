package pointlog

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// Parse reads a line without its newline. It is strict: unknown and repeated
// fields are errors, and so is a row that AppendJSON would refuse. Errors name the
// column in bytes, from 1.
func Parse(line []byte) (Row, error) {
	var r Row
	err := new(decoder).parse(line, &r)
	return r, err
}

// decoder reads lines. It keeps the names that it met, since they are the same in
// every line.
type decoder struct {
	text  []byte
	at    int // text before it is read
	names map[string]string
	known distinctNames

	// plain: the line is what AppendJSON writes of the row, byte for byte, and has no stack.
	// It is known after a parse without an error.
	plain bool
	shown []byte // a number as it would be written
}

// maxNames bounds decoder.names. Files have a few dozen.
const maxNames = 1 << 12

// parse overwrites a row.
func (d *decoder) parse(line []byte, r *Row) error {
	d.text, d.at, d.plain = line, 0, true
	*r = Row{Axes: r.Axes[:0], Measures: r.Measures[:0]}
	seen := fieldSet(0)
	err := d.object(func(name []byte) error {
		f, ok := fieldOf(name)
		if !ok {
			return fmt.Errorf("unknown field %q", name)
		}
		if seen&f != 0 {
			return fmt.Errorf("field %q occurs twice", name)
		}
		d.plain = d.plain && seen < f // in their order
		seen |= f
		return d.field(f, r)
	})
	if err == nil {
		d.space()
		if d.at < len(d.text) {
			err = fmt.Errorf("text after the object")
		}
	}
	if err != nil {
		return fmt.Errorf("column %d: %w", d.at+1, err)
	}
	if missing := required &^ seen; missing != 0 {
		return fmt.Errorf("no field %q", missing.first())
	}
	d.plain = d.plain && seen&fieldWallS != 0 && seen&fieldStack == 0 && !r.hasEmpty(seen)
	return r.check(&d.known)
}

// hasEmpty reports whether a field stands there that is left out when it is empty, and is.
func (r *Row) hasEmpty(seen fieldSet) bool {
	return seen&fieldCause != 0 && r.Cause == "" || seen&fieldError != 0 && r.Error == "" || seen&fieldDigest != 0 && r.Digest == "" ||
		seen&fieldLatencyModel != 0 && r.LatencyModel == "" || seen&fieldCoefficientSet != 0 && r.CoefficientSet == "" ||
		seen&fieldReasons != 0 && len(r.Reasons) == 0
}

// field reads the value of one field.
func (d *decoder) field(f fieldSet, r *Row) (err error) {
	var status, cause string
	var version int64
	switch f {
	case fieldSchema:
		var schema string
		if schema, err = d.string(); err == nil && schema != Schema {
			err = fmt.Errorf("schema is %q, want %q", schema, Schema)
		}
	case fieldKey:
		r.Key, err = d.key()
	case fieldIndex:
		r.Index, err = d.integer()
	case fieldAxes:
		r.Axes, err = d.axes(r.Axes)
	case fieldSeed:
		r.Seed, err = d.unsigned()
	case fieldWorkloadSeed:
		r.WorkloadSeed = new(uint64)
		*r.WorkloadSeed, err = d.unsigned()
	case fieldStatus:
		status, err = d.name()
		r.Status = Status(status)
	case fieldCause:
		cause, err = d.name()
		r.Cause = Cause(cause)
	case fieldError:
		r.Error, err = d.string()
	case fieldStack:
		r.Stack, err = d.string()
	case fieldDigest:
		r.Digest, err = d.string()
	case fieldVersion:
		version, err = d.integer()
		if r.Version = int(version); err == nil && int64(r.Version) != version {
			err = fmt.Errorf("version %d is too large", version)
		}
	case fieldLatencyModel:
		r.LatencyModel, err = d.name()
	case fieldCoefficientSet:
		r.CoefficientSet, err = d.name()
	case fieldMeasures:
		r.Measures, err = d.measures(r.Measures)
	case fieldReasons:
		r.Reasons, err = d.reasons()
	case fieldWallS:
		r.WallS, err = d.float()
	}
	return err
}

func (d *decoder) axes(list []Coordinate) ([]Coordinate, error) {
	err := d.object(func(name []byte) error {
		axis := d.intern(name)
		value, err := d.scalar()
		list = append(list, Coordinate{axis, bytes.Clone(value)})
		return err
	})
	return list, err
}

func (d *decoder) measures(list []Measured) ([]Measured, error) {
	values := make([]float64, 0, len(d.known.measures)) // all of a row in one piece
	err := d.object(func(name []byte) error {
		m := Measured{Name: d.intern(name)}
		d.space()
		if bytes.HasPrefix(d.text[d.at:], []byte("null")) {
			d.at += len("null")
			list = append(list, m)
			return nil
		}
		x, err := d.float()
		if len(values) == cap(values) {
			values = make([]float64, 0, 16)
		}
		values = append(values, x)
		m.Value = &values[len(values)-1]
		list = append(list, m)
		return err
	})
	return list, err
}

func (d *decoder) reasons() (map[string]string, error) {
	m := map[string]string{}
	last := ""
	err := d.object(func(name []byte) error {
		measure := d.intern(name)
		d.plain = d.plain && (len(m) == 0 || last < measure)
		last = measure
		if _, twice := m[measure]; twice {
			return fmt.Errorf("reason for %q occurs twice", measure)
		}
		text, err := d.string()
		m[measure] = text
		return err
	})
	return m, err
}

func (d *decoder) key() (Key, error) {
	var k Key
	text, err := d.quoted()
	if err != nil {
		return k, err
	}
	if len(text) == 2*len(k) {
		if _, err := hex.Decode(k[:], text); err == nil && !bytes.ContainsAny(text, "ABCDEF") {
			return k, nil
		}
	}
	return ParseKey(string(text))
}

func (d *decoder) integer() (int64, error) {
	number, err := d.number()
	if err != nil {
		return 0, err
	}
	d.plain = d.plain && (number[0] != '-' || number[1] != '0')
	n, err := strconv.ParseInt(string(number), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%.40q is not a 64-bit integer", number)
	}
	return n, nil
}

func (d *decoder) unsigned() (uint64, error) {
	number, err := d.number()
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(string(number), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%.40q is not an unsigned 64-bit integer", number)
	}
	return n, nil
}

func (d *decoder) float() (float64, error) {
	number, err := d.number()
	if err != nil {
		return 0, err
	}
	x, err := strconv.ParseFloat(string(number), 64)
	if err != nil {
		return 0, fmt.Errorf("%.40q is not a 64-bit float", number)
	}
	if d.plain && !shortest(number) {
		d.shown = appendFloat(d.shown[:0], x)
		d.plain = bytes.Equal(d.shown, number)
	}
	return x, nil
}

// shortest reports whether a number is certainly written as appendFloat writes it: with at
// most 15 digits, no exponent and no zero at its end. Any such decimal is another float, so
// that none has a shorter one.
func shortest(number []byte) bool {
	point := bytes.IndexByte(number, '.')
	if point < 0 || len(number) > 16 || number[0] == '-' || number[len(number)-1] == '0' {
		return false
	}
	return (number[0] != '0' || len(number) < 8) && bytes.IndexByte(number, 'e') < 0 && bytes.IndexByte(number, 'E') < 0
}

// name reads a string of which there are few in a file.
func (d *decoder) name() (string, error) {
	text, err := d.quoted()
	return d.intern(text), err
}

func (d *decoder) string() (string, error) {
	text, err := d.quoted()
	return string(text), err
}

func (d *decoder) intern(text []byte) string {
	if s, ok := d.names[string(text)]; ok {
		return s
	}
	s := string(text)
	if d.names == nil {
		d.names = map[string]string{}
	}
	if len(d.names) < maxNames {
		d.names[s] = s
	}
	return s
}

// scalar reports whether text is a JSON string, number, true or false and no more.
func scalar(text json.RawMessage) bool {
	d := decoder{text: text}
	value, err := d.scalar()
	return err == nil && len(value) == len(text) && utf8.Valid(text)
}
