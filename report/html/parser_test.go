package html

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
)

// The parser takes what encoding/json takes, and finds the same in it.
func FuzzParserIsThatOfJSON(f *testing.F) {
	for _, s := range []string{`{"a": [1, 2.5e3, null, "x"], "b": {"c": true}}`, `[1, null]`, `"\u00e9\n"`, `-0`, `01`, `[1,]`, `{"a":1,"a":2}`, "\"\xff\"", `{"requests": [1, {"a": 2}]}`, `nul`, ` `, `1e400`, `"\ud800"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		v, err := parse("f", content)
		if valid := json.Valid(content); valid != (err == nil) {
			var number any
			if valid && json.Unmarshal(content, &number) != nil {
				return // a number that no float64 holds
			}
			if valid && deep(content) {
				return
			}
			t.Fatalf("valid %t, error %v: %q", valid, err, content)
		}
		if err != nil {
			return
		}
		var want any
		if err := json.Unmarshal(content, &want); err != nil {
			t.Fatal(err)
		}
		if object, ok := want.(map[string]any); ok {
			if _, isList := object[skipped].([]any); isList {
				return
			}
		}
		if got := plain(v); !reflect.DeepEqual(got, want) {
			t.Errorf("%#v, want %#v of %q", got, want, content)
		}
	})
}

// deep reports whether lists and objects are deeper in each other than we take.
func deep(content []byte) bool {
	depth, most := 0, 0
	for _, c := range content {
		switch c {
		case '[', '{':
			depth++
			most = max(most, depth)
		case ']', '}':
			depth--
		}
	}
	return most > deepest
}

// plain is a value as encoding/json has it: of equal keys the last counts.
func plain(v value) any {
	switch v.kind {
	case boolean:
		return v.isTrue()
	case number:
		return v.number
	case text:
		return v.text
	case list:
		all := []any{}
		for _, m := range v.members {
			all = append(all, plain(m))
		}
		return all
	case numbers:
		all := []any{}
		for _, x := range v.numbers {
			if math.IsNaN(x) {
				all = append(all, nil)
			} else {
				all = append(all, x)
			}
		}
		return all
	case object:
		all := map[string]any{}
		for i, k := range v.keys {
			all[k] = plain(v.members[i])
		}
		return all
	}
	return nil
}

// Every request of a run is checked but not kept: there may be millions.
func TestRequestsAreNotKept(t *testing.T) {
	v, err := parse("f", []byte(`{"requests": [{"a": 1}, 2], "b": 3}`))
	if err != nil || v.get("requests").has() || v.get("b").float() != 3 {
		t.Errorf("%+v, %v", v, err)
	}
	if _, err := parse("f", []byte(`{"requests": [{"a": 1}, x], "b": 3}`)); err == nil || err.Error() != "f:1:25: want a JSON value" {
		t.Error(err)
	}
}
