package yamldoc

import (
	"fmt"
	"reflect"
	"strings"
)

// Decode stores a node in the value that into points to. file and at, of which the
// line is the line of the node, are for errors. A struct takes a mapping, each field the name in its tag:
//
//	Memory float64 `yaml:"memory_gib"`
//
// Unknown names are errors, names that are not given and null leave the field as
// it is. A field may be a *Node, which takes any value; a string takes numbers
// too, as they are written. Errors are *Error.
func Decode(file string, at Place, n *Node, into any) error {
	d := decoder{file: file}
	if n != nil {
		at.Line = n.Line
	}
	d.value(n, at, reflect.ValueOf(into).Elem())
	if d.fault != nil {
		return d.fault
	}
	return nil
}

// decoder keeps the first fault.
type decoder struct {
	file  string
	fault *Error
}

func (d *decoder) fail(at Place, format string, args ...any) {
	if d.fault == nil {
		d.fault = at.Fault(d.file, format, args...)
	}
}

var nodeType = reflect.TypeFor[*Node]()

// value stores n in v.
func (d *decoder) value(n *Node, at Place, v reflect.Value) {
	switch {
	case d.fault != nil || n == nil || n.Kind == Null:
	case v.Type() == nodeType:
		v.Set(reflect.ValueOf(n))
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.value(n, at, v.Elem())
	case v.Kind() == reflect.Struct:
		d.mapping(n, at, v)
	case v.Kind() == reflect.Slice || v.Kind() == reflect.Array:
		d.list(n, at, v)
	default:
		d.scalar(n, at, v)
	}
}

func (d *decoder) scalar(n *Node, at Place, v reflect.Value) {
	want := ""
	switch v.Kind() {
	case reflect.String:
		if v.SetString(n.Text); n.Kind != String && n.Kind != Number {
			want = "text"
		}
	case reflect.Bool:
		if v.SetBool(n.Text == "true"); n.Kind != Bool {
			want = "true or false"
		}
	case reflect.Int, reflect.Int64:
		x, ok := n.Whole()
		if v.SetInt(x); !ok {
			want = "a whole number"
		}
	case reflect.Float64:
		x, ok := n.Float()
		if v.SetFloat(x); !ok {
			want = "a number"
		}
	default:
		panic(fmt.Sprintf("yamldoc: no value of type %v", v.Type()))
	}
	if want != "" {
		d.fail(at, "%s is not allowed, want %s", n.Describe(), want)
	}
}

func (d *decoder) list(n *Node, at Place, v reflect.Value) {
	switch {
	case n.Kind != List:
		d.fail(at, "%s is not allowed, want a list", n.Describe())
		return
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), len(n.Items), len(n.Items)))
	case len(n.Items) != v.Len():
		d.fail(at, "has %d values, want %d", len(n.Items), v.Len())
		return
	}
	for i, item := range n.Items {
		d.value(item, at.Item(i, item.Line), v.Index(i))
	}
}

func (d *decoder) mapping(n *Node, at Place, v reflect.Value) {
	fields := map[string]reflect.Value{}
	names := fieldsOf(v, fields, nil)
	if n.Kind != Mapping {
		d.fail(at, "%s is not allowed, want a mapping of %s", n.Describe(), strings.Join(names, ", "))
		return
	}
	for _, m := range n.Members {
		here := at.Within(m.Name, m.Line)
		field, known := fields[m.Name]
		if !known {
			d.fail(here, "%s", Unknown("field", m.Name, names))
			return
		}
		d.value(m.Value, here, field)
	}
}

// fieldsOf collects the fields of a struct by name, those of embedded structs
// too, and appends the names to names. A tag "-" leaves a field out.
func fieldsOf(v reflect.Value, fields map[string]reflect.Value, names []string) []string {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name := field.Tag.Get("yaml")
		switch {
		case name == "-":
		case field.Anonymous:
			names = fieldsOf(v.Field(i), fields, names)
		case name == "":
			panic(fmt.Sprintf("yamldoc: field %s of %v has no name", field.Name, v.Type()))
		default:
			fields[name], names = v.Field(i), append(names, name)
		}
	}
	return names
}
