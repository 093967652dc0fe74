package study

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"blis/suggest"
)

// expression is a compiled expression in Starlark that is true or false. It reads values by
// name; it has no loops but comprehensions, and reaches nothing outside.
type expression struct {
	program *starlark.Program
	names   []string // that it reads
}

// holdsName is the variable that the program sets to the value of the expression.
const holdsName = "_holds"

// mostSteps bounds the work of one evaluation.
const mostSteps = 1_000_000

// compile reads an expression over known names; problem says in one line what is wrong
// with it, and want what names there are.
func compile(text string, known []string, want string) (x expression, problem string) {
	options := &syntax.FileOptions{}
	parsed, err := options.ParseExpr("where", text, 0)
	if err != nil {
		return x, starlarkProblem(err)
	}
	start, _ := parsed.Span()
	file := &syntax.File{Path: "where", Options: options, Stmts: []syntax.Stmt{
		&syntax.AssignStmt{OpPos: start, Op: syntax.EQ, LHS: &syntax.Ident{NamePos: start, Name: holdsName}, RHS: parsed}}}
	x.program, err = starlark.FileProgram(file, func(name string) bool {
		found := slices.Contains(known, name)
		if found {
			x.names = append(x.names, name)
		}
		return found
	})
	if err == nil {
		return x, ""
	}
	problem = starlarkProblem(err)
	if name, undefined := strings.CutPrefix(problem, "undefined: "); undefined {
		name, _, _ = strings.Cut(name, " ")
		for _, k := range known { // num-instances is a difference of two names
			if dashed := strings.ReplaceAll(k, "_", "-"); dashed != k && strings.HasPrefix(k, name+"_") && strings.Contains(text, dashed) {
				return x, fmt.Sprintf("unknown name %q: want %s for %s", name, k, dashed)
			}
		}
		problem = fmt.Sprintf("unknown name %q%s: want %s", name, suggest.Hint(name, known), want)
	}
	return x, problem
}

// starlarkProblem is an error of Starlark in one line, without its own idea of a place.
func starlarkProblem(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	if strings.HasPrefix(text, "where:") {
		if _, problem, found := strings.Cut(text, ": "); found {
			return problem
		}
	}
	return text
}

// holds evaluates the expression. problem says in one line why it has no truth value; err
// is the error of value.
func (x *expression) holds(value func(name string) (starlark.Value, error)) (is bool, problem string, err error) {
	scope := starlark.StringDict{}
	for _, name := range x.names {
		if scope[name], err = value(name); err != nil {
			return false, "", err
		}
	}
	thread := &starlark.Thread{Name: "where"}
	thread.SetMaxExecutionSteps(mostSteps)
	out, err := x.program.Init(thread, scope)
	if err != nil {
		return false, starlarkProblem(err), nil
	}
	truth, isBool := out[holdsName].(starlark.Bool)
	if !isBool {
		return false, fmt.Sprintf("is %s, of type %s: want true or false", out[holdsName], out[holdsName].Type()), nil
	}
	return bool(truth), "", nil
}

// jsonScalar is a JSON string, number, true or false as a Starlark value.
func jsonScalar(text []byte) (starlark.Value, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case string:
		return starlark.String(v), nil
	case bool:
		return starlark.Bool(v), nil
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return starlark.MakeInt64(n), nil
		}
		x, err := v.Float64()
		return starlark.Float(x), err
	}
	return nil, fmt.Errorf("study: %s is no scalar", text)
}
