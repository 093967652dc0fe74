package yamldoc

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// strict are the limits of a short file without aliases.
var strict = Options{Bytes: 64 << 10, Depth: 32, Name: 128}

// roomy are the limits of a long file with aliases.
var roomy = Options{Bytes: 32 << 20, Depth: 24, Name: 128, Values: 1 << 23}

// print writes a node as JSON would have it, with strings in quotes.
func print(n *Node) string {
	switch n.Kind {
	case List:
		var items []string
		for _, item := range n.Items {
			items = append(items, print(item))
		}
		return "[" + strings.Join(items, " ") + "]"
	case Mapping:
		var members []string
		for _, m := range n.Members {
			members = append(members, m.Name+":"+print(m.Value))
		}
		return "{" + strings.Join(members, " ") + "}"
	case String:
		return fmt.Sprintf("%q", n.Text)
	}
	return n.Text
}

func TestRead(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a number keeps its text", "[1.50, 1e5, -0.0, 10, 1.0e3]", "[1.50 1e5 -0.0 10 1.0e3]"},
		{"a number that is not JSON is in decimal", "[0x10, .5, 1_000, +3]", "[16 0.5 1000 3]"},
		{"no finite number", "[.nan, .inf, -.inf]", "[.nan .inf -.inf]"},
		{"a number in quotes is text", `["1", '2']`, `["1" "2"]`},
		{"no number", "[1s, 1.2.3, 0xg, -, .]", `["1s" "1.2.3" "0xg" "-" "."]`},
		{"flags", "[true, False, yes]", `[true false "yes"]`},
		{"nothing", "{a: , b: null, c: ~}", "{a:null b:null c:null}"},
		{"lines of text", "a: |\n  one\n  two\n", `{a:"one\ntwo\n"}`},
		{"a mark before the text and line ends of Windows", "\ufeffa: 1\r\nb: 2\r\n", "{a:1 b:2}"},
		{"JSON", `{"a": [1, {"b": null}], "c": "x"}`, `{a:[1 {b:null}] c:"x"}`},
		{"a comment", "# only\na: 1 # one\n", "{a:1}"},
		{"empty", "{a: {}, b: []}", "{a:{} b:[]}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, err := Read("f.yaml", []byte(c.text), strict)
			if err != nil {
				t.Fatal(err)
			}
			if got := print(n); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
	for _, text := range []string{"", "\n", "# only a comment\n", "---\n"} {
		if n, err := Read("f.yaml", []byte(text), strict); err != nil || n != nil && n.Kind != Null {
			t.Errorf("%q: %v, %v", text, n, err)
		}
	}
}

func TestNodesKnowWhereTheyStand(t *testing.T) {
	n, err := Read("f.yaml", []byte("# first\na: 1\nb:\n  c:\n  - x\n  - {d: 2}\n"), strict)
	if err != nil {
		t.Fatal(err)
	}
	item := n.Get("b").Get("c").Items[1]
	for _, c := range []struct {
		name         string
		n            *Node
		line, column int
	}{
		{"document", n, 2, 1}, {"a", n.Get("a"), 2, 4}, {"b", n.Get("b"), 4, 3}, {"c", n.Get("b").Get("c"), 5, 3},
		{"item in braces", item, 6, 5}, {"d", item.Get("d"), 6, 9},
	} {
		if c.n.Line != c.line || c.n.Column != c.column {
			t.Errorf("%s stands at %d:%d, want %d:%d", c.name, c.n.Line, c.n.Column, c.line, c.column)
		}
	}
	if m := n.Members[1]; m.Line != 3 || n.Get("c") != nil {
		t.Errorf("%+v", m)
	}
}

func TestAliasesStandForTheirAnchors(t *testing.T) {
	n, err := Read("f.yaml", []byte("a: &a {x: 1, y: 2}\nb: *a\nc: {<<: *a, y: 3}\nd: {<<: [{y: 4}, *a], z: 5}\ne: &e [1]\nf: [*e, *e]"), roomy)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := print(n), "{a:{x:1 y:2} b:{x:1 y:2} c:{y:3 x:1} d:{z:5 y:4 x:1} e:[1] f:[[1] [1]]}"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ name, text, strict, roomy string }{
		{"a list that does not end", "a: [", "f.yaml:1: not valid YAML: sequence end token ']' not found", "same"},
		{"two colons", "a: b: c", "f.yaml:1: not valid YAML: mapping value is not allowed in this context", "same"},
		{"not UTF-8", "a: 1\nb: \xe9", "f.yaml:2: byte 0xe9 is not UTF-8, want text in UTF-8", "same"},
		{"a control character", "a: \x00", `f.yaml:1: control character U+0000, want text without, or "\x00" in quotes`, "same"},
		{"a name twice", "a: {b: 1,\n b: 2}", "f.yaml:2: a.b: is given twice, first on line 1, want it once", "same"},
		{"a name twice in a list", "a:\n- x\n- b: 1\n  b: 2", "f.yaml:4: a[1].b: is given twice, first on line 3, want it once", "same"},
		{"a name without value", "{a, b: 1}", "f.yaml:1: a: has no value, want name: value", "same"},
		{"two documents", "a: 1\n---\nb: 1", "f.yaml:3: a second document, want one", "same"},
		{"a tag", "a: !!str 1", "f.yaml:1: tags are not supported, write the value alone", "same"},
		{"a name after ?", "? a\n: 1", "f.yaml:1: names after ? are not supported, write name: value", "same"},
		{"a directive", "%YAML 1.2\n---\na: 1", "f.yaml:1: directives are not supported, leave the line out", "same"},
		{"an anchor", "a: &x 1", "f.yaml:1: anchors are not supported, write the value where it is needed", ""},
		{"an alias", "a: &x 1\nb: *x", "f.yaml:1: anchors are not supported, write the value where it is needed", ""},
		{"an unknown alias", "a: *x", "f.yaml:1: aliases are not supported, write the value out", "f.yaml:1: a: unknown alias *x, want the name of an anchor above"},
		{"a merge key", "a: {<<: {b: 1}}", "f.yaml:1: merge keys are not supported, write the fields out", ""},
		{"a merge of a number", "a: {<<: 1}", "f.yaml:1: merge keys are not supported, write the fields out", "f.yaml:1: a.<<: 1 is not allowed, want the alias of a mapping"},
		{"a merge of numbers", "a: {<<: [{}, 1]}", "f.yaml:1: merge keys are not supported, write the fields out", "f.yaml:1: a.<<[1]: 1 is not allowed, want the alias of a mapping"},
		{"a line break in a name", "\"a\\nb\": 1\n\"a\\nb\": 1", `f.yaml:2: a\nb: is given twice, first on line 1, want it once`, "same"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.roomy == "same" {
				c.roomy = c.strict
			}
			for _, o := range []struct {
				Options
				want string
			}{{strict, c.strict}, {roomy, c.roomy}} {
				_, err := Read("f.yaml", []byte(c.text), o.Options)
				var fault *Error
				if got := fmt.Sprint(err); o.want == "" && err != nil || o.want != "" && (got != o.want || !errors.As(err, &fault)) {
					t.Errorf("error\n%v, want\n%s", err, o.want)
				}
			}
		})
	}
}

// TestHostileTextEndsSoon counts work in bytes of memory, which grow with the
// tokens, nodes and values that are made. The parser alone takes gigabytes or
// minutes for these.
func TestHostileTextEndsSoon(t *testing.T) {
	repeat := func(prefix, unit string, size int) string { return prefix + strings.Repeat(unit, size/len(unit)) }
	laughs := "a0: &a0 x\n"
	for i := 1; i < 50; i++ {
		laughs += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9), ","))
	}
	stairs := func(size int) string {
		var s strings.Builder
		for i := 0; s.Len() < size; i++ {
			s.WriteString(strings.Repeat(" ", i) + "a:\n")
		}
		return s.String()
	}
	deepest := "m: " + strings.Repeat("{"+strings.Repeat("x", strict.Name)+": ", strict.Depth-8)
	o := strict
	o.Bytes = 1 << 20
	aliases := o
	aliases.Values = 1 << 16
	for _, size := range []int{16_000, 64_000} {
		for _, c := range []struct{ name, text string }{
			{"lists in lists", repeat("m: ", "[", size)},
			{"mappings in mappings", repeat("m: ", "{a: ", size)},
			{"lists in block style", repeat("", "- ", size)},
			{"names of names", repeat("", "? ", size)},
			{"many names after ?", repeat("", "? a\n", size)},
			{"stairs", stairs(size)},
			{"laughs", laughs + repeat("b: [", "*a49, ", size-len(laughs)) + "]"},
			{"anchors of anchors", repeat("m: ", "&a ", size)},
			{"tags of tags", repeat("m: ", "!!str ", size)},
			{"a long name", repeat("", "x", size/2) + ": [" + repeat("", "1,", size/2) + "]"},
			{"many values at the bottom", repeat(deepest+"[", "1,", size-len(deepest))},
			{"commas", repeat("[", ",", size)},
			{"documents", repeat("", "---\n", size)},
			{"quotes", repeat("", "\"a\" ", size)},
			{"pipes", repeat("", "|\n", size)},
			{"one word", repeat("", "x", size)},
		} {
			t.Run(fmt.Sprintf("%s, %d bytes", c.name, size), func(t *testing.T) {
				for _, o := range []Options{o, aliases} {
					if used, most := memory(func() { Read("f.yaml", []byte(c.text), o) }), uint64(4000*len(c.text)); used > most {
						t.Errorf("took %d bytes of memory, want at most %d", used, most)
					}
				}
			})
		}
	}
	tooLong := repeat("", "#", o.Bytes+1)
	for name, text := range map[string][]byte{"bytes": []byte(tooLong), "depth": []byte(repeat("", "[", 33)), "name": []byte(repeat("", "x", 129) + ": 1")} {
		if used := memory(func() {
			if _, err := Read("f.yaml", text, o); err == nil {
				t.Errorf("%s: no error", name)
			}
		}); used > 64<<10 {
			t.Errorf("%s: took %d bytes of memory", name, used)
		}
	}
}

// memory is the bytes that f allocates.
func memory(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// FuzzRead: whatever the text, Read returns a tree within the limits, or an error
// of one line.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		"a: 1\nb: [x, {c: 2.5}]\n", "a: &a {b: 1}\nc: [*a, {<<: *a}]", "{<<: [*a, 1]}", "a: |\n  x\n", "? a\n: 1", "%YAML 1.2\n---\na", "a: !!str 1", "- - - 1",
		"\"\\xe9\": \"\\ud800\"", "a: .nan\nb: -.inf\nc: 0x1f", "a: [\n", "a:\n\tb", "- &x [*x]", "&a a: &b b\n*a: *b",
	} {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, text string, aliases bool) {
		o := Options{Bytes: 1 << 12, Depth: 6, Name: 20}
		if aliases {
			o.Values = 500
		}
		n, err := Read("f.yaml", []byte(text), o)
		if err != nil {
			if line := err.Error(); n != nil || !strings.HasPrefix(line, "f.yaml:") || strings.ContainsAny(line, "\n\r") {
				t.Errorf("%v, error %q", n, line)
			}
			return
		}
		if n == nil {
			return
		}
		if depth, size := checkNode(t, n); depth > o.Depth && !aliases || aliases && (size > o.Values || size != n.size) {
			t.Errorf("%d levels, %d values, said to be %d", depth, size, n.size)
		}
		var into struct {
			A string    `yaml:"a"`
			B []float64 `yaml:"b"`
			C *Node     `yaml:"c"`
		}
		if err := Decode("f.yaml", Place{}, n, &into); err != nil && (!strings.HasPrefix(err.Error(), "f.yaml:") || strings.ContainsAny(err.Error(), "\n\r")) {
			t.Errorf("error %q", err)
		}
	})
}

// checkNode checks that a node has the parts of its kind only, and counts its
// levels and values.
func checkNode(t *testing.T, n *Node) (depth, size int) {
	if n.Kind != List && n.Items != nil || n.Kind != Mapping && n.Members != nil || (n.Kind == List || n.Kind == Mapping) && n.Text != "" {
		t.Errorf("%+v", n)
	}
	parts := slices.Clone(n.Items)
	names := map[string]bool{}
	for _, m := range n.Members {
		if names[m.Name] || m.Value == nil {
			t.Errorf("member %+v", m)
		}
		names[m.Name] = true
		parts = append(parts, m.Value)
	}
	size = 1
	for _, p := range parts {
		d, s := checkNode(t, p)
		depth, size = max(depth, d), size+s
	}
	if n.Kind == List || n.Kind == Mapping {
		depth++
	}
	return depth, size
}
