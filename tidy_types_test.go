package blis_test

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"
	"text/template"
)

// A type that one can hold in one's head has at most maxFields fields and
// maxMethods methods. Promoted ones count: a type that is split by embedding
// its parts is still one type. A record has as many fields as its data: it is
// a type with at most recordMethods methods of its own that embeds records
// only (settings, results, rows of a file).
const (
	maxFields     = 25
	maxMethods    = 40
	recordMethods = 10
)

// typeSize is the number of fields and methods of a type. 0 in largeTypes:
// within the bound.
type typeSize struct {
	fields, methods int
	why             string
}

// largeTypes exceed a bound, by the sizes given. A size may only go down; one
// that is no longer true fails too.
var largeTypes = map[string]typeSize{}

// checkTypes: no type outgrows a head, but for those of large. It reports
// those too whose size there is not the present one, and notes in declared
// which types there are.
func checkTypes(s *source, large map[string]typeSize, declared map[string]bool, report reporter) {
	for id, object := range s.info.Defs { // in any order: reports are sorted
		name, ok := object.(*types.TypeName)
		if !ok || name.IsAlias() {
			continue
		}
		named, ok := name.Type().(*types.Named)
		if !ok { // a type parameter
			continue
		}
		full := s.path + "." + name.Name()
		declared[full] = true
		got, listed := excess(named), large[full]
		if got != (typeSize{listed.fields, listed.methods, ""}) {
			report(s, id, "%s", sizeFault(full, got, listed))
		}
	}
}

// excess is what exceeds the bounds of a type, 0 for what does not.
func excess(named *types.Named) typeSize {
	var x typeSize
	if n := methodCount(named); n > maxMethods {
		x.methods = n
	}
	if _, ok := named.Underlying().(*types.Struct); ok && !isRecord(named) {
		if n := fieldCount(named.Underlying()); n > maxFields {
			x.fields = n
		}
	}
	return x
}

func sizeFault(name string, got, listed typeSize) string {
	var faults []string
	add := func(got, listed, most int, what string) {
		switch {
		case got == listed:
		case got == 0:
			faults = append(faults, fmt.Sprintf("%s are within %d: write 0 in place of %d in largeTypes, or delete the line", what, most, listed))
		case listed == 0:
			faults = append(faults, fmt.Sprintf("%d %s, want at most %d", got, what, most))
		case got < listed:
			faults = append(faults, fmt.Sprintf("%d %s: write that in place of %d in largeTypes", got, what, listed))
		default:
			faults = append(faults, fmt.Sprintf("%d %s, %d in largeTypes: it may only go down", got, what, listed))
		}
	}
	add(got.fields, listed.fields, maxFields, "fields")
	add(got.methods, listed.methods, maxMethods, "methods")
	return name + ": " + strings.Join(faults, "; ")
}

// fieldCount is the number of fields, with those of an embedded struct in place
// of the struct.
func fieldCount(t types.Type) int {
	st, ok := t.(*types.Struct)
	if !ok {
		return 1
	}
	n := 0
	for f := range st.Fields() {
		if f.Embedded() {
			n += fieldCount(pointee(f.Type()).Underlying())
		} else {
			n++
		}
	}
	return n
}

// methodCount is the number of methods of a type and of a pointer to it.
func methodCount(named *types.Named) int {
	if i, ok := named.Underlying().(*types.Interface); ok {
		return i.NumMethods()
	}
	return types.NewMethodSet(types.NewPointer(named)).Len()
}

// isRecord reports whether a type is data rather than behaviour.
func isRecord(t types.Type) bool {
	if named, ok := t.(*types.Named); ok && named.NumMethods() > recordMethods {
		return false
	}
	st, ok := t.Underlying().(*types.Struct)
	if !ok {
		return true
	}
	for f := range st.Fields() {
		if f.Embedded() && !isRecord(pointee(f.Type())) {
			return false
		}
	}
	return true
}

// pointee is what a pointer points to, and any other type itself.
func pointee(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

// plantedTypes breaks each bound; the comment on a type says what is reported.
const plantedTypes = `package kv

type data struct { {{fields 26 "c"}} } // no fault

type object struct { {{fields 26 "c"}} } // 26 fields, want at most 25

{{methods 11 "object"}}

type record struct { {{fields 90 "c"}} } // no fault

{{methods 10 "record"}}

type settings struct { // no fault
	record
	c int
}

type small struct { {{fields 25 "c"}} } // no fault

{{methods 40 "small"}}

type busy struct{} // 41 methods, want at most 40

{{methods 41 "busy"}}

type split struct { // 26 fields, want at most 25
	*part
	{{fields 13 "d"}}
}

type part struct { {{fields 13 "c"}} } // no fault

{{methods 11 "part"}}

type both struct { // 43 methods, want at most 40
	busy
	b int
}

func (both) own()      {}
func (*both) another() {}

type grown struct { {{fields 30 "c"}} } // 30 fields, 29 in largeTypes: it may only go down

{{methods 11 "grown"}}

type shrunk struct { {{fields 30 "c"}} } // 30 fields: write that in place of 31 in largeTypes

{{methods 11 "shrunk"}}

type good struct{} // fields are within 25: write 0 in place of 26 in largeTypes, or delete the line
`

// TestTypeBoundsFindWhatIsPlanted: both bounds and the list can fail, and only
// where they should.
func TestTypeBoundsFindWhatIsPlanted(t *testing.T) {
	text := expand(plantedTypes)
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "kv/planted.go", text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	s := &source{path: "kv", fset: fset, files: []*ast.File{f}, info: newInfo()}
	if _, err := (&types.Config{Importer: importer.Default()}).Check("blis/kv", fset, s.files, s.info); err != nil {
		t.Fatal(err)
	}
	found := map[int]string{}
	checkTypes(s, map[string]typeSize{"kv.grown": {29, 0, ""}, "kv.shrunk": {31, 0, ""}, "kv.good": {26, 0, ""}}, map[string]bool{}, func(s *source, n ast.Node, format string, args ...any) {
		found[fset.Position(n.Pos()).Line] += fmt.Sprintf(format, args...)
	})
	for i, line := range strings.Split(text, "\n") {
		_, want, ok := strings.Cut(line, " // ")
		_, got, reported := strings.Cut(found[i+1], ": ")
		if ok && (reported == (want == "no fault") || reported && got != want) || !ok && reported {
			t.Errorf("line %d, %.40q: reported %q, want %q", i+1, line, got, want)
		}
	}
}

// expand writes out the fields and methods of planted types.
func expand(text string) string {
	list := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	functions := template.FuncMap{
		"fields":  func(n int, name string) string { return list(n, name+"%d int;") },
		"methods": func(n int, receiver string) string { return list(n, "func (*"+receiver+") m%d() {}\n") },
	}
	var b strings.Builder
	if err := template.Must(template.New("").Funcs(functions).Parse(text)).Execute(&b, nil); err != nil {
		panic(err)
	}
	return b.String()
}
