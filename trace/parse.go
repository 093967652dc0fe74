package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"blis/suggest"
)

// kinds of records, by which blank makes them.
var kinds = [...]Record{(*Header)(nil), (*Admission)(nil), (*Priority)(nil), (*Routing)(nil), (*Disaggregation)(nil), (*Scale)(nil), (*Batch)(nil), (*Preemption)(nil), (*Transfer)(nil), (*Failure)(nil), (*Anomaly)(nil), (*Outcome)(nil)}

// blank is an empty record of a type.
func blank(kind string) (Record, error) {
	var names []string
	for _, k := range kinds {
		if k.Kind() == kind {
			return reflect.New(reflect.TypeOf(k).Elem()).Interface().(Record), nil
		}
		names = append(names, k.Kind())
	}
	return nil, &fieldError{"type", fmt.Errorf("there is no type %q%s", kind, suggest.Hint(kind, names))}
}

// fieldError is an error in one field of a record, which may lie deep in it.
type fieldError struct {
	path string
	err  error
}

func (e *fieldError) Error() string { return "field " + e.path + ": " + e.err.Error() }
func (e *fieldError) Unwrap() error { return e.err }

// wrong is an error in a field: what it is and what would be right.
func wrong(field, format string, args ...any) error {
	return &fieldError{field, fmt.Errorf(format, args...)}
}

// inField puts an error into a field, or an element: candidates[2].score.
func inField(name string, err error) error {
	var inner *fieldError
	if !errors.As(err, &inner) {
		return &fieldError{name, err}
	}
	if !strings.HasPrefix(inner.path, "[") {
		name += "."
	}
	return &fieldError{name + inner.path, inner.err}
}

// field is a field of a record in files.
type field struct {
	name     string
	optional bool // a list that is left out when it is empty
}

// newField returns the field with a tag.
func newField(tag string) field {
	name, optional := strings.CutSuffix(tag, ",omitempty")
	return field{name, optional}
}

// omits reports whether the field is left out with the value v.
func (f field) omits(v reflect.Value) bool { return f.optional && v.Len() == 0 }

// fieldsOf lists the fields of a struct of this package in their order.
func fieldsOf(t reflect.Type) []field { return tables[t] }

// tables has them for every struct that files hold.
var tables = func() map[reflect.Type][]field {
	all := map[reflect.Type][]field{}
	var add func(t reflect.Type)
	add = func(t reflect.Type) {
		switch {
		case t.Kind() == reflect.Pointer, t.Kind() == reflect.Slice:
			add(t.Elem())
		case t.Kind() == reflect.Struct && all[t] == nil:
			for i := range t.NumField() {
				all[t] = append(all[t], newField(t.Field(i).Tag.Get("json")))
				add(t.Field(i).Type)
			}
		}
	}
	for _, k := range kinds {
		add(reflect.TypeOf(k))
	}
	return all
}()

// seen checks that each field of a struct comes once.
type seen struct {
	fields []field
	have   []bool
}

func newSeen(t reflect.Type) *seen {
	fields := fieldsOf(t)
	return &seen{fields, make([]bool, len(fields))}
}

// field is the index of the field of that name.
func (s *seen) field(name string) (int, error) {
	var names []string
	for i, f := range s.fields {
		if f.name == name {
			if s.have[i] {
				return 0, &fieldError{name, errors.New("it is given twice")}
			}
			s.have[i] = true
			return i, nil
		}
		names = append(names, f.name)
	}
	return 0, fmt.Errorf("there is no field %q%s", name, suggest.Hint(name, names))
}

// all reports a field that did not come.
func (s *seen) all() error {
	for i, f := range s.fields {
		if !s.have[i] && !f.optional {
			return &fieldError{f.name, errors.New("it is missing")}
		}
	}
	return nil
}

// parse reads the JSON object of one record.
func parse(line []byte) (Record, error) {
	members, err := object(line)
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		if m.key != "type" {
			continue
		}
		var kind string
		if err := json.Unmarshal(m.value, &kind); err != nil || m.value[0] != '"' {
			return nil, &fieldError{"type", errors.New("want a string")}
		}
		r, err := blank(kind)
		if err != nil {
			return nil, err
		}
		return r, setFields(reflect.ValueOf(r).Elem(), members)
	}
	return nil, &fieldError{"type", errors.New("it is missing")}
}

// member is a key of an object with its value.
type member struct {
	key   string
	value json.RawMessage
}

// object splits an object into its members.
func object(text []byte) ([]member, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	open, err := d.Token()
	if err != nil || open != json.Delim('{') {
		return nil, errors.New("want a JSON object")
	}
	var members []member
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, badJSON(err)
		}
		m := member{key: key.(string)}
		if err := d.Decode(&m.value); err != nil {
			return nil, inField(m.key, badJSON(err))
		}
		members = append(members, m)
	}
	if _, err := d.Token(); err != nil {
		return nil, badJSON(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("there is more after the JSON object")
	}
	return members, nil
}

func badJSON(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the line ends within the JSON object")
	}
	return fmt.Errorf("no JSON: %w", err)
}

func setFields(v reflect.Value, members []member) error {
	seen := newSeen(v.Type())
	for _, m := range members {
		i, err := seen.field(m.key)
		if err != nil {
			return err
		}
		if err := set(v.Field(i), m.value); err != nil {
			return inField(m.key, err)
		}
	}
	return seen.all()
}

// set gives a field the value that a JSON text has.
func set(v reflect.Value, text json.RawMessage) error {
	null := string(text) == "null"
	switch v.Kind() {
	case reflect.Pointer:
		if null {
			v.SetZero()
			return nil
		}
		v.Set(reflect.New(v.Type().Elem()))
		return set(v.Elem(), text)
	case reflect.Slice:
		if null {
			v.SetZero()
			return nil
		}
		return setList(v, text)
	case reflect.Struct:
		members, err := object(text)
		if err != nil {
			return err
		}
		return setFields(v, members)
	case reflect.String:
		var s *string
		if err := json.Unmarshal(text, &s); err != nil || s == nil {
			return errors.New("want a string")
		}
		v.SetString(*s)
		return nil
	case reflect.Bool:
		if b := string(text); b != "true" && b != "false" {
			return errors.New("want true or false")
		}
		v.SetBool(text[0] == 't')
		return nil
	}
	return setNumber(v, string(text))
}

func setList(v reflect.Value, text json.RawMessage) error {
	var items []json.RawMessage
	if err := json.Unmarshal(text, &items); err != nil {
		return errors.New("want an array")
	}
	v.Set(reflect.MakeSlice(v.Type(), len(items), len(items)))
	for i, item := range items {
		if err := set(v.Index(i), item); err != nil {
			return inField(fmt.Sprintf("[%d]", i), err)
		}
	}
	return nil
}

// setNumber sets an integer or a float. A text that is JSON and no number
// begins with what none of these begins with.
func setNumber(v reflect.Value, text string) error {
	switch v.Kind() {
	case reflect.Float64:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || !finite(f) {
			return fmt.Errorf("%s is no finite number", short(text))
		}
		v.SetFloat(f)
	case reflect.Uint64:
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return fmt.Errorf("%s is no whole number from 0 to 2⁶⁴ − 1", short(text))
		}
		v.SetUint(n)
	default:
		n, err := strconv.ParseInt(text, 10, v.Type().Bits())
		if err != nil {
			return fmt.Errorf("%s is no whole number of %d bits", short(text), v.Type().Bits())
		}
		v.SetInt(n)
	}
	return nil
}

// short is the beginning of a text, for errors.
func short(text string) string {
	const most = 40
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}
