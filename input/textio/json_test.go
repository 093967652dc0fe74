package textio

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
)

func jsonOf(text string) *JSON {
	return NewJSON("t", bufio.NewReader(strings.NewReader(text)))
}

// tree reads the value that comes next as encoding/json would with UseNumber.
func tree(j *JSON) (any, error) {
	c, err := j.Next()
	if err != nil {
		return nil, err
	}
	switch c {
	case '{':
		m := map[string]any{}
		return m, j.Object("x", func(key []byte) error {
			name := string(key)
			value, err := tree(j)
			m[name] = value
			return err
		})
	case '[':
		list := []any{}
		return list, j.List("x", func(int) error {
			value, err := tree(j)
			list = append(list, value)
			return err
		})
	case '"':
		text, _, err := j.Text("x")
		return text, err
	case 't', 'f':
		return j.Truth("x")
	}
	number, err := j.Number("x")
	if err != nil || number == nil {
		return nil, err
	}
	return json.Number(number), nil
}

// lists makes lists comparable: those of tree are appended to within closures.
func equal(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y) || reflect.DeepEqual(a, b)
}

var jsonSeeds = []string{
	`{"a":[1,2.5e-3,-0],"b":{"c":"d\n\u00e4\ud834\udd1e"},"e":null,"f":true,"g":false,"":""}`,
	` [ ] `, `{}`, `"x"`, `12`, `nul`, `[1,]`, `[,1]`, `{"a" 1}`, `{"a":1,}`, `{a:1}`, `[01]`, `[1 2]`, "[\"\n\"]", `["\x"]`, `[1e999]`, `{"a":1}{"b":2}`, `[[[[[]]]]]`, `["`, `[tru]`, `[+1]`, `[.5]`, `[1.]`,
}

func TestJSONIsReadAsTheLibraryReadsIt(t *testing.T) {
	for _, text := range jsonSeeds {
		sameAsLibrary(t, text)
	}
}

func FuzzJSON(f *testing.F) {
	for _, text := range jsonSeeds {
		f.Add(text)
	}
	f.Fuzz(sameAsLibrary)
}

// sameAsLibrary: what encoding/json accepts gives the same values, and what it
// refuses is refused, but for NaN and infinities.
func sameAsLibrary(t *testing.T, text string) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var want any
	wantErr := dec.Decode(&want)
	j := jsonOf(text)
	got, err := tree(j)
	switch {
	case err == nil && wantErr == nil:
		if !equal(got, want) {
			t.Errorf("%q: %v, the library has %v", text, got, want)
		}
	case err == nil && !strings.Contains(text, "NaN") && !strings.Contains(text, "Infinity") && !strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), ","):
		t.Errorf("%q is read as %v; the library says %v", text, got, wantErr)
	case err != nil && wantErr == nil && !strings.Contains(err.Error(), "within each other") && !strings.Contains(err.Error(), "want a value"):
		t.Errorf("%q: %v", text, err)
	case err != nil && err != io.EOF && (strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "t:")):
		t.Errorf("%q: not one line: %v", text, err)
	}
	// What can be read can be passed over, to the same place.
	if err == nil {
		k := jsonOf(text)
		k.Next()
		if skipErr := k.Skip(); skipErr != nil {
			t.Errorf("%q cannot be passed over: %v", text, skipErr)
		}
		a, errA := j.Next()
		b, errB := k.Next()
		if a != b || fmt.Sprint(errA) != fmt.Sprint(errB) || j.Line() != k.Line() {
			t.Errorf("%q: read to line %d %q, passed over to line %d %q", text, j.Line(), a, k.Line(), b)
		}
	}
}

func TestPythonsNumbersAreNumbers(t *testing.T) {
	j := jsonOf(`[NaN, Infinity, -Infinity, 1e5]`)
	var got []string
	if err := j.List("x", func(int) error {
		text, err := j.Number("x")
		got = append(got, string(text))
		return err
	}); err != nil || strings.Join(got, " ") != "NaN Infinity -Infinity 1e5" {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := j.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("behind the text: %v", err)
	}
}

func TestErrorsOfJSONNameTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"{\"a\":\n1\n\"b\":2}":                `t:3: no JSON: '"' behind a value: want ',' or '}'`,
		"[1,\n2":                              "t: after line 2: the data end too early: want the whole file",
		"[\n\n'a']":                           `t:3: no JSON: "'": want a value`,
		`{"a":"` + "\x01" + `"}`:              `t:1: no JSON: '\x01' within a string: want it escaped`,
		strings.Repeat("[", 100000):           "t:1: no JSON: more than 200 values within each other",
		"[" + strings.Repeat("1", 1000) + "]": `t:1: no JSON: "` + strings.Repeat("1", 60) + `"…: want a value`,
	} {
		if err := jsonOf(text).Skip(); err == nil || err.Error() != want {
			t.Errorf("%.40q:\n got %v\nwant %s", text, err, want)
		}
	}
}
