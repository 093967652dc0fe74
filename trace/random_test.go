package trace

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"blis/vtime"
)

// randomly makes records with every field at random. With wild strings they
// hold everything that has to be escaped.
type randomly struct {
	*rand.Rand
	wild bool
}

func newRandomly(t testing.TB, seed uint64, wild bool) randomly {
	t.Logf("seed %d", seed)
	return randomly{rand.New(rand.NewPCG(seed, 0)), wild}
}

// record is a random one of the kind.
func (d randomly) record(kind string) Record {
	r, err := blank(kind)
	if err != nil {
		panic(err)
	}
	v := reflect.ValueOf(r).Elem()
	d.fill(v)
	v.Field(0).SetString(kind)
	return r
}

func (d randomly) fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i, f := range fieldsOf(v.Type()) {
			if d.fill(v.Field(i)); f.omits(v.Field(i)) {
				v.Field(i).SetZero() // as it is read back
			}
		}
	case reflect.Pointer:
		if d.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			d.fill(v.Elem())
		}
	case reflect.Slice:
		if n := d.IntN(5); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n-1, n-1))
			for i := range n - 1 {
				d.fill(v.Index(i))
			}
		}
	case reflect.String:
		v.SetString(d.text())
	case reflect.Bool:
		v.SetBool(d.IntN(2) == 0)
	case reflect.Float64:
		v.SetFloat(d.float())
	case reflect.Uint64:
		v.SetUint(d.Uint64() >> d.IntN(64))
	default:
		n := int64(d.Uint64()) >> d.IntN(64)
		v.SetInt(n << (64 - v.Type().Bits()) >> (64 - v.Type().Bits()))
	}
}

func (d randomly) text() string {
	pieces := []string{"a", "standard", "tenant-7", " ", "µs", "日本", "😀"}
	if d.wild {
		pieces = append(pieces, "\"", "\\", "\n", "\t", "\r", "\b", "\f", "\x00", "\x1f", "\x7f", "<&>", "\u2028", "\u2029", "\xff", "\xe2\x80", "\ufffd", "/")
	}
	var b strings.Builder
	for range d.IntN(5) {
		b.WriteString(pieces[d.IntN(len(pieces))])
	}
	return b.String()
}

func (d randomly) float() float64 {
	special := []float64{0, math.Copysign(0, -1), 1, -1, 100, 0.5, 1e-6, 9.99e-7, 1e-7, 1e-10, 1.5e-100, 1e20, 1e21, 1.25e22, 1 << 53, 1<<53 + 2, -1 << 53, math.MaxFloat64, math.SmallestNonzeroFloat64, 2.0 / 3}
	switch d.IntN(4) {
	case 0:
		return special[d.IntN(len(special))]
	case 1:
		return float64(d.IntN(2000) - 1000)
	case 2:
		return d.NormFloat64()
	}
	for {
		if f := math.Float64frombits(d.Uint64()); finite(f) {
			return f
		}
	}
}

// plain is v with durations as whole numbers, in types that encoding/json knows
// nothing special of: the twin of AppendJSON.
func plain(v reflect.Value) reflect.Value {
	p := reflect.New(plainType(v.Type())).Elem()
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			p.Field(i).Set(plain(v.Field(i)))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			p.Set(reflect.New(p.Type().Elem()))
			p.Elem().Set(plain(v.Elem()))
		}
	case reflect.Slice:
		if !v.IsNil() {
			p.Set(reflect.MakeSlice(p.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				p.Index(i).Set(plain(v.Index(i)))
			}
		}
	default:
		p.Set(v.Convert(p.Type()))
	}
	return p
}

func plainType(t reflect.Type) reflect.Type {
	switch {
	case t == reflect.TypeFor[vtime.Duration]() || t == reflect.TypeFor[vtime.Time]():
		return reflect.TypeFor[int64]()
	case t.Kind() == reflect.Pointer:
		return reflect.PointerTo(plainType(t.Elem()))
	case t.Kind() == reflect.Slice:
		return reflect.SliceOf(plainType(t.Elem()))
	case t.Kind() == reflect.Struct:
		var fields []reflect.StructField
		for i := range t.NumField() {
			f := t.Field(i)
			fields = append(fields, reflect.StructField{Name: f.Name, Type: plainType(f.Type), Tag: f.Tag})
		}
		return reflect.StructOf(fields)
	}
	return t
}

// printed is a record as encoding/json prints it.
func printed(t *testing.T, r Record) string {
	t.Helper()
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(plain(reflect.ValueOf(r).Elem()).Interface()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
