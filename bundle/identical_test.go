package bundle

import (
	"reflect"
	"testing"

	"blis/policy"
	"blis/vtime"
)

// TestIdenticalBundles differ in no field: one that is added to the types has to be compared.
func TestIdenticalBundles(t *testing.T) {
	fresh := func() *Bundle {
		one := vtime.Second
		settings := func() []policy.Setting { return []policy.Setting{{Name: "a", Value: "1"}, {Name: "b", Value: "2"}} }
		b := &Bundle{}
		for _, s := range []*Selection{&b.Admission, &b.Priority, &b.Routing, &b.Scheduler, &b.Autoscale.Selection} {
			*s = Selection{Type: "x", Params: settings()}
		}
		b.Autoscale.Interval, b.Observability.Refresh, b.Observability.KVEventDelay = &one, &one, &one
		return b
	}
	a := fresh()
	a.file, a.lines = "x.yaml", map[string]int{"routing.type": 3}
	if !a.Identical(fresh()) {
		t.Fatal("two bundles with the same fields are said to differ")
	}
	var fields int
	var visit func(v reflect.Value, path string, b *Bundle)
	visit = func(v reflect.Value, path string, b *Bundle) {
		differs := func(change func()) {
			fields++
			old := reflect.New(v.Type()).Elem()
			old.Set(v)
			change()
			if b.Identical(fresh()) || fresh().Identical(b) {
				t.Errorf("%s is not compared", path)
			}
			v.Set(old)
		}
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				if f := v.Type().Field(i); f.IsExported() {
					visit(v.Field(i), path+"."+f.Name, b)
				} else if f.Name != "file" && f.Name != "lines" {
					t.Errorf("%s.%s: say whether it counts", path, f.Name)
				}
			}
		case reflect.Array:
			visit(v.Index(0), path+"[0]", b)
			visit(v.Index(v.Len()-1), path+"[last]", b)
		case reflect.String:
			differs(func() { v.SetString(v.String() + "other") })
		case reflect.Pointer:
			differs(func() { v.Set(reflect.New(v.Type().Elem())) })
			differs(func() { v.SetZero() })
		case reflect.Slice:
			if v.Len() > 0 {
				differs(func() { v.Set(v.Slice(0, 1)) })
				visit(v.Index(1), path+"[1]", b)
				return
			}
			differs(func() { v.Set(reflect.MakeSlice(v.Type(), 1, 1)) })
		default:
			t.Errorf("%s: a kind of field that this test does not know: %v", path, v.Kind())
		}
	}
	b := fresh()
	visit(reflect.ValueOf(b).Elem(), "bundle", b)
	if fields < 40 {
		t.Errorf("only %d fields were changed", fields)
	}
}
