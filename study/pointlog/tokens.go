package pointlog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/bits"
	"unicode/utf8"
)

// fieldSet is a set of fields of a line.
type fieldSet uint32

// The fields, in their order in a line.
const (
	fieldSchema fieldSet = 1 << iota
	fieldKey
	fieldIndex
	fieldAxes
	fieldSeed
	fieldWorkloadSeed
	fieldStatus
	fieldCause
	fieldError
	fieldStack
	fieldDigest
	fieldVersion
	fieldLatencyModel
	fieldCoefficientSet
	fieldMeasures
	fieldReasons
	fieldWallS

	required = fieldSchema | fieldKey | fieldIndex | fieldAxes | fieldSeed | fieldStatus | fieldVersion | fieldMeasures
)

var fieldNames = [...]string{"schema", "key", "index", "axes", "seed", "workload_seed", "status", "cause", "error", "stack",
	"digest", "version", "latency_model", "coefficient_set", "measures", "reasons", "wall_s"}

func fieldOf(name []byte) (fieldSet, bool) {
	for i, n := range fieldNames {
		if n == string(name) {
			return 1 << i, true
		}
	}
	return 0, false
}

// first is the name of the first field of a set that is not empty.
func (f fieldSet) first() string { return fieldNames[bits.TrailingZeros32(uint32(f))] }

// object reads an object and calls member with each name, to read the value.
func (d *decoder) object(member func(name []byte) error) error {
	if !d.take('{') {
		return fmt.Errorf("want {")
	}
	if d.take('}') {
		return nil
	}
	for {
		name, err := d.quoted()
		if err != nil {
			return err
		}
		if !d.take(':') {
			return fmt.Errorf("want a colon after the name")
		}
		if err := member(name); err != nil {
			return err
		}
		if d.take('}') {
			return nil
		}
		if !d.take(',') {
			return fmt.Errorf("want , or }")
		}
	}
}

func (d *decoder) space() {
	for d.at < len(d.text) && (d.text[d.at] == ' ' || d.text[d.at] == '\t' || d.text[d.at] == '\r') {
		d.at++
		d.plain = false
	}
}

// take reads a character if it is the next one.
func (d *decoder) take(c byte) bool {
	d.space()
	if d.at < len(d.text) && d.text[d.at] == c {
		d.at++
		return true
	}
	return false
}

// quoted reads a string. The result is valid until the line changes.
func (d *decoder) quoted() ([]byte, error) {
	if !d.take('"') {
		return nil, fmt.Errorf("want a string")
	}
	escaped := false
	for i := d.at; i < len(d.text); i++ {
		switch c := d.text[i]; {
		case c == '"':
			raw := d.text[d.at:i]
			if !utf8.Valid(raw) {
				return nil, fmt.Errorf("a string that is not UTF-8")
			}
			if escaped {
				d.plain = false // there are many ways
				var s string
				if err := json.Unmarshal(d.text[d.at-1:i+1], &s); err != nil {
					return nil, fmt.Errorf("a string with a bad escape")
				}
				raw = []byte(s)
			}
			d.at = i + 1
			return raw, nil
		case c == '\\':
			escaped = true
			i++
		case c < ' ':
			return nil, fmt.Errorf("a string with a control character")
		}
	}
	return nil, fmt.Errorf("a string without an end")
}

// number reads a number in the grammar of JSON.
func (d *decoder) number() ([]byte, error) {
	d.space()
	begin := d.at
	d.skip("-")
	leading := d.at
	if n := d.digits(); n == 0 || n > 1 && d.text[leading] == '0' {
		return nil, fmt.Errorf("want a number")
	}
	if d.skip(".") && d.digits() == 0 {
		return nil, fmt.Errorf("want a digit after the point")
	}
	if d.skip("eE") {
		d.skip("+-")
		if d.digits() == 0 {
			return nil, fmt.Errorf("want a digit in the exponent")
		}
	}
	return d.text[begin:d.at], nil
}

// skip reads the next character if it is one of set.
func (d *decoder) skip(set string) bool {
	if d.at < len(d.text) && bytes.IndexByte([]byte(set), d.text[d.at]) >= 0 {
		d.at++
		return true
	}
	return false
}

// digits reads digits and returns how many.
func (d *decoder) digits() int {
	begin := d.at
	for d.at < len(d.text) && '0' <= d.text[d.at] && d.text[d.at] <= '9' {
		d.at++
	}
	return d.at - begin
}

// scalar reads a string, a number, true or false and returns its text.
func (d *decoder) scalar() ([]byte, error) {
	d.space()
	begin := d.at
	var err error
	switch rest := d.text[d.at:]; {
	case bytes.HasPrefix(rest, []byte("true")):
		d.at += len("true")
	case bytes.HasPrefix(rest, []byte("false")):
		d.at += len("false")
	case bytes.HasPrefix(rest, []byte(`"`)):
		_, err = d.quoted()
	default:
		_, err = d.number()
	}
	return d.text[begin:d.at], err
}
