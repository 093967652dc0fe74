package html

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// kind is what a value is.
type kind uint8

const (
	null kind = iota
	boolean
	number
	text
	list    // of values
	numbers // a list of numbers and nulls, at least one
	object
)

// value is a JSON value. The zero value is null, which is also what a missing key gives.
type value struct {
	kind    kind
	number  float64 // of a number; 1 of true
	text    string  // of a text; the literal of a number
	keys    []string
	members []value   // of an object, in the order of keys; of a list
	numbers []float64 // NaN for null
	raw     []byte    // of an object or a list: its text
}

// get is a member of an object, of a member of it, and so on; null where there is none.
func (v value) get(path ...string) value {
	for _, name := range path {
		v = v.member(name)
	}
	return v
}

func (v value) member(name string) value {
	for i, k := range v.keys {
		if k == name {
			return v.members[i]
		}
	}
	return value{}
}

// has reports whether the value is there and not null.
func (v value) has() bool { return v.kind != null }

// float is a number, NaN for all else.
func (v value) float() float64 {
	if v.kind == number {
		return v.number
	}
	return math.NaN()
}

// isTrue reports whether the value is true.
func (v value) isTrue() bool { return v.kind == boolean && v.number == 1 }

// floats are the numbers of a list, NaN for nulls and for what is no number.
func (v value) floats() []float64 {
	if v.kind == numbers {
		return v.numbers
	}
	all := make([]float64, len(v.members))
	for i, m := range v.members {
		all[i] = m.float()
	}
	return all
}

// items are the values of a list.
func (v value) items() []value {
	if v.kind == list {
		return v.members
	}
	all := make([]value, len(v.numbers))
	for i, x := range v.numbers {
		if !math.IsNaN(x) {
			all[i] = value{kind: number, number: x, text: strconv.FormatFloat(x, 'g', -1, 64)}
		}
	}
	return all
}

// words is a text as it is, a number or a truth value as it is written, and "" for null.
func (v value) words() string {
	switch v.kind {
	case text, number:
		return v.text
	case boolean:
		return strconv.FormatBool(v.isTrue())
	case object, list, numbers:
		return string(v.raw)
	}
	return ""
}

// literal is a value as JSON.
func literal(v value) string {
	switch v.kind {
	case text:
		return quoted(v.text)
	case null:
		return "null"
	case object, list, numbers:
		var b bytes.Buffer
		if json.Compact(&b, v.raw) != nil { // which cannot be: it was parsed
			return ""
		}
		return b.String()
	}
	return v.words()
}

// quoted is a text as JSON, with <, > and & as they are.
func quoted(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil { // which cannot be for a text
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}
