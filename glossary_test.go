package blis_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"
)

// declared lists what the Go files of a folder declare: types, functions,
// variables and constants by name, methods and fields as Type.Name.
func declared(t *testing.T, folder string) map[string]bool {
	names := map[string]bool{}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), folder+"/"+e.Name(), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				names[receiver(f)+f.Name.Name] = true
				continue
			}
			for _, spec := range d.(*ast.GenDecl).Specs {
				declare(names, spec)
			}
		}
	}
	return names
}

// declare adds what a declaration outside of functions declares.
func declare(names map[string]bool, spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		for _, name := range spec.Names {
			names[name.Name] = true
		}
	case *ast.TypeSpec:
		names[spec.Name.Name] = true
		var members *ast.FieldList
		switch of := spec.Type.(type) {
		case *ast.StructType:
			members = of.Fields
		case *ast.InterfaceType:
			members = of.Methods
		default:
			return
		}
		for _, m := range members.List {
			for _, name := range m.Names {
				names[spec.Name.Name+"."+name.Name] = true
			}
		}
	}
}

// receiver is the prefix of a method's name: "Type.".
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	of := f.Recv.List[0].Type
	if pointer, ok := of.(*ast.StarExpr); ok {
		of = pointer.X
	}
	switch generic := of.(type) {
	case *ast.IndexExpr:
		of = generic.X
	case *ast.IndexListExpr:
		of = generic.X
	}
	return of.(*ast.Ident).Name + "."
}

// TestGlossaryNamesWhatExists wants the name that the third column of
// docs/glossary.md gives for each word to be declared in that package.
func TestGlossaryNamesWhatExists(t *testing.T) {
	page, err := os.ReadFile("docs/glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| ([^|]+) \\| [^|]+ \\| `([a-z/]+)\\.([A-Za-z.]+)` \\| [^|]+ \\|$")
	rows, words, packages := regexp.MustCompile(`(?m)^\| [^|-]`).FindAllString(string(page), -1), 0, map[string]map[string]bool{}
	for _, m := range row.FindAllStringSubmatch(string(page), -1) {
		words++
		if packages[m[2]] == nil {
			packages[m[2]] = declared(t, m[2])
		}
		if !packages[m[2]][m[3]] {
			t.Errorf("%s: there is no %s in package %s", m[1], m[3], m[2])
		}
	}
	if heads := strings.Count(string(page), "| word |"); words+heads != len(rows) || words < 40 {
		t.Errorf("%d words with a place in the code, in %d rows", words, len(rows)-heads)
	}
}
