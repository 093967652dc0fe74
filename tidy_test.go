package blis_test

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// These tests read the source. They hold the rules that no compiler checks and
// on which results depend: where randomness, time and order may come from, and
// who may know whom. What they report they report as file:line.

// layers says which packages of the project each may import, besides vtime
// and vtime/heap.
// Imports point downwards; commands stand on top and may import all. A package
// that is not here needs a line, and a reason in its package comment.
var layers = map[string]string{
	"vtime":      "",
	"vtime/heap": "",
	"workload":   "",

	"workload/draw":    "suggest workload",
	"workload/traffic": "workload workload/draw",
	"workload/loadgen": "input/textio",
	"workload/traces":  "suggest input/textio workload workload/loadgen",
	"workload/spec":    "yamldoc suggest workload workload/draw workload/traffic workload/traces",

	"workload/servegen": "suggest input/textio workload workload/draw workload/traffic",
	"workload/survey":   "workload metrics",

	"input":        "",
	"input/textio": "",

	"study/confine":  "",
	"study/pointlog": "",
	"study/race":     "",

	"cputime":           "", // for tests
	"internal/testsize": "",
	"examples/search":   "",

	"internal/keytable":    "",
	"internal/prefixtwin":  "workload", // for tests
	"internal/chromecheck": "",         // for tests
	"prefixindex":          "internal/keytable kv workload",
	"gateway":              "",

	"suggest": "",
	"yamldoc": "suggest",
	"latency": "yamldoc suggest",
	"metrics": "suggest workload",

	"metrics/stability": "suggest",

	"lookahead": "",
	"kv":        "workload",
	"policy":    "internal/keytable kv prefixindex suggest workload",
	"bundle":    "suggest yamldoc policy",
	"script":    "kv policy prefixindex suggest yamldoc workload workload/draw",
	"trace":     "input/textio suggest policy metrics",
	"engine":    "kv latency policy workload metrics",
	"setup":     "input yamldoc suggest engine gateway kv latency bundle policy metrics " + workloads,
	"llmd":      "setup bundle policy",
	"actors":    "setup engine gateway kv latency prefixindex bundle policy lookahead metrics trace " + workloads,
	"study":     "suggest input study/certify study/pointlog study/race actors setup engine kv latency bundle policy lookahead metrics trace " + workloads,
	"calibrate": "calibrate/measured calibrate/regress study actors setup engine kv latency bundle policy lookahead metrics trace " + workloads,

	"calibrate/measured": "input/textio workload/loadgen",
	"calibrate/regress":  "",
	"study/certify":      "",
	"study/sweepfile":    "input yamldoc study study/pointlog actors setup bundle",
	"study/evaluator":    "yamldoc suggest bundle study/confine study/evaluate setup policy",
	"study/evaluate":     "yamldoc suggest script study actors setup latency bundle policy metrics trace " + workloads,

	"cluster": "setup study/confine study/pointlog",

	"bench": "input study actors setup engine kv latency bundle policy lookahead metrics trace " + workloads,

	"report":           "llmd report/plaintext suggest calibrate study study/certify study/evaluate study/pointlog actors setup engine latency bundle policy lookahead metrics metrics/stability trace " + workloads,
	"report/plaintext": "",
	"report/html":      "",

	"report/openmetrics": "actors metrics",
	"report/chrometrace": "trace metrics",
	"report/otlp":        "actors metrics",

	"cli": "script bench llmd report report/chrometrace report/html report/openmetrics report/otlp report/plaintext calibrate calibrate/measured input yamldoc suggest study study/certify study/evaluate study/pointlog study/sweepfile actors setup latency bundle policy lookahead metrics metrics/stability trace study/confine study/evaluator " + workloads,
}

// workloads are the packages about what arrives.
const workloads = "workload workload/draw workload/traffic workload/loadgen workload/traces workload/servegen workload/spec workload/survey"

// pure are the packages whose results are functions of their arguments.
var pure = strings.Fields("vtime vtime/heap yamldoc latency metrics kv internal/keytable prefixindex policy script bundle trace engine calibrate/regress study/certify study/race " + workloads)

// opensFiles are the files of pure packages that may import os.
var opensFiles = []string{"workload/traces/tracefile.go", "workload/servegen/files.go", "workload/spec/specfile.go"}

// longFiles may have more than maxLines lines, for the reason given.
var longFiles = map[string]string{}

const maxLines = 400

// source is one package of the project with its types.
type source struct {
	path  string // within the project: "kv", "cmd/blis"
	files []*ast.File
	tests []*ast.File
	info  *types.Info
	fset  *token.FileSet
}

// at is where a node stands.
func (s *source) at(n ast.Node) string {
	p := s.fset.Position(n.Pos())
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

func (s *source) file(f *ast.File) string { return s.fset.Position(f.Package).Filename }

// readSources parses and checks every package of the project.
func readSources(t *testing.T) []*source {
	t.Helper()
	out, err := exec.Command("go", "list", "-pgo=off", "-export", "-deps", "-f", `{{.ImportPath}} {{.Export}} {{join .GoFiles ","}}`, "./...").Output()
	if err != nil {
		t.Skipf("go list: %v: a tree that does not build is for the compiler to tell", err)
	}
	exports, built := map[string]string{}, map[string][]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		fields := strings.SplitN(line, " ", 3)
		exports[fields[0]] = fields[1]
		if p, ok := strings.CutPrefix(fields[0], "blis/"); ok {
			built[p] = strings.Split(fields[2], ",")
		}
	}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	parse := func(name string) *ast.File {
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	var list []*source
	for _, path := range sortedKeys(built) {
		s := &source{path: path, fset: fset, info: newInfo()}
		for _, name := range built[path] {
			s.files = append(s.files, parse(filepath.Join(path, name)))
		}
		tests, err := filepath.Glob(filepath.Join(path, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range tests {
			s.tests = append(s.tests, parse(name))
		}
		if _, err := (&types.Config{Importer: imports}).Check("blis/"+path, fset, s.files, s.info); err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	return list
}

// newInfo asks the type checker for what the rules need.
func newInfo() *types.Info {
	return &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}}
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// TestTidy holds every rule over every package.
func TestTidy(t *testing.T) {
	var found []string
	report := func(s *source, n ast.Node, format string, args ...any) {
		found = append(found, s.at(n)+": "+fmt.Sprintf(format, args...))
	}
	declared := map[string]bool{}
	for _, s := range readSources(t) {
		checkImports(s, report)
		checkSizes(s, report)
		checkTypes(s, largeTypes, declared, report)
		checkDocs(s, report)
		if slices.Contains(pure, s.path) {
			checkPurity(s, report)
		}
		if slices.Contains(pure, s.path) || s.path == "actors" || s.path == "lookahead" || s.path == "study" {
			checkMapRanges(s, report)
			checkProducts(s, report)
		}
	}
	for file, why := range longFiles {
		if _, err := os.Stat(file); err != nil {
			found = append(found, fmt.Sprintf("%s: is on the list of long files (%s) and does not exist", file, why))
		}
	}
	for name := range largeTypes {
		if !declared[name] {
			found = append(found, name+" is among largeTypes and does not exist")
		}
	}
	slices.Sort(found)
	for _, f := range found {
		t.Error(f)
	}
}

type reporter func(s *source, n ast.Node, format string, args ...any)

// checkImports: downwards only.
func checkImports(s *source, report reporter) {
	allowed, known := layers[s.path]
	if s.files[0].Name.Name == "main" { // on top of everything
		return
	}
	if !known {
		report(s, s.files[0], "package %s has no place among the layers", s.path)
		return
	}
	for _, f := range s.files {
		for _, spec := range f.Imports {
			path := strings.Trim(spec.Path.Value, `"`)
			if strings.Contains(path, "protoactor") && s.path != "lookahead" {
				report(s, spec, "%s imports %s: actors are the business of lookahead", s.path, path)
			}
			if inner, ok := strings.CutPrefix(path, "blis/"); ok && inner != "vtime" && inner != "vtime/heap" && !slices.Contains(strings.Fields(allowed), inner) {
				report(s, spec, "%s imports %s: want only [%s] and vtime", s.path, inner, allowed)
			}
		}
	}
}

// checkSizes: a file that no longer fits a head is split.
func checkSizes(s *source, report reporter) {
	for _, f := range slices.Concat(s.files, s.tests) {
		name := s.file(f)
		lines := s.fset.File(f.Package).LineCount()
		if _, excused := longFiles[name]; lines > maxLines != excused {
			report(s, f, "%d lines, want at most %d or a reason among longFiles (and none without need)", lines, maxLines)
		}
	}
}

// checkDocs: every exported identifier says what it is, every package has a
// doc.go that says what it is for.
func checkDocs(s *source, report reporter) {
	documented := false
	for _, f := range s.files {
		if f.Doc != nil && (filepath.Base(s.file(f)) == "doc.go" || f.Name.Name == "main") {
			documented = true
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) {
					report(s, d, "%s has no doc comment", d.Name.Name)
				}
			case *ast.GenDecl:
				checkSpecs(s, d, report)
			}
		}
	}
	if !documented {
		report(s, s.files[0], "package %s has no doc.go with a package comment", s.path)
	}
}

// checkSpecs: types, constants and variables; a comment on their group will
// do for the latter two.
func checkSpecs(s *source, d *ast.GenDecl, report reporter) {
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if spec.Name.IsExported() && d.Doc == nil && spec.Doc == nil {
				report(s, spec, "%s has no doc comment", spec.Name.Name)
			}
		case *ast.ValueSpec:
			for _, name := range spec.Names {
				if name.IsExported() && d.Doc == nil && spec.Doc == nil && spec.Comment == nil {
					report(s, name, "%s has no doc comment", name.Name)
				}
			}
		}
	}
}

// exportedReceiver reports whether d is a function, or a method that users of
// the package can see.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return false
		}
	}
}
