package study

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"blis/setup"
)

// builtins are the names that Where knows beside settings and axes.
var builtins = []string{"gpus", "cost_per_hour", "kv_blocks"}

// condition is a compiled Where.
type condition struct {
	program *starlark.Program
	sweep   *Sweep
	names   []string // that the expression reads
}

// result is the variable that the program sets to the value of the expression.
const result = "_kept"

// mostSteps bounds the work of one evaluation: expressions have no loops, but
// comprehensions.
const mostSteps = 1_000_000

// identifier is a name as Where spells it.
func identifier(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '.' {
			return '_'
		}
		return r
	}, name)
}

// compileWhere reads the expression, nil if there is none.
func (s *Sweep) compileWhere() (*condition, error) {
	if strings.TrimSpace(s.Where) == "" {
		return nil, nil
	}
	expression, err := (&syntax.FileOptions{}).ParseExpr("where", s.Where, 0)
	if err != nil {
		return nil, sweepFault("where", "%s", starlarkProblem(err))
	}
	known := s.whereNames()
	c := &condition{sweep: s}
	isKnown := func(name string) bool {
		_, ok := known[name]
		if ok {
			c.names = append(c.names, name)
		}
		return ok
	}
	file := &syntax.File{Path: "where", Options: &syntax.FileOptions{}}
	start, _ := expression.Span()
	file.Stmts = []syntax.Stmt{&syntax.AssignStmt{OpPos: start, Op: syntax.EQ, LHS: &syntax.Ident{NamePos: start, Name: result}, RHS: expression}}
	c.program, err = starlark.FileProgram(file, isKnown)
	if err != nil {
		text := starlarkProblem(err)
		if name, undefined := strings.CutPrefix(text, "undefined: "); undefined {
			name, _, _ = strings.Cut(name, " ")
			var names []string
			for n := range known { // any order: sorted
				names = append(names, n)
			}
			text = fmt.Sprintf("unknown name %q%s: want a setting or an axis, with _ for - and ., or gpus, cost_per_hour, kv_blocks", name, nearestName(name, sorted(names)))
		}
		return nil, sweepFault("where", "%s", text)
	}
	return c, nil
}

// starlarkProblem is an error of Starlark without its own idea of a place.
func starlarkProblem(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	if rest, ok := strings.CutPrefix(text, "where:"); ok {
		if _, problem, found := strings.Cut(rest, ": "); found {
			text = problem
		}
	}
	return text
}

// whereNames are the names that Where may read; the value is the setting, empty for
// others.
func (s *Sweep) whereNames() map[string]string {
	known := map[string]string{}
	for _, name := range settingNames() {
		known[identifier(name)] = name
	}
	for i := range s.Axes {
		if _, isSetting := known[identifier(s.Axes[i].Name)]; !isSetting {
			known[identifier(s.Axes[i].Name)] = ""
		}
	}
	for _, name := range builtins {
		known[name] = ""
	}
	return known
}

// keeps evaluates the condition for a point. Its errors are an *setup.InputError; those
// of kv_blocks are the errors of setup.KVBlocks.
func (c *condition) keeps(cfg *setup.Config, values []AxisValue) (bool, error) {
	scope := starlark.StringDict{}
	for _, name := range c.names {
		v, err := c.value(name, cfg, values)
		if err != nil {
			return false, err
		}
		scope[name] = v
	}
	thread := &starlark.Thread{Name: "where"}
	thread.SetMaxExecutionSteps(mostSteps)
	out, err := c.program.Init(thread, scope)
	if err != nil {
		return false, &setup.InputError{Text: "where: " + starlarkProblem(err)}
	}
	kept, isBool := out[result].(starlark.Bool)
	if !isBool {
		return false, &setup.InputError{Text: fmt.Sprintf("where: is %s, of type %s: want true or false", out[result], out[result].Type())}
	}
	return bool(kept), nil
}

// value is what a name stands for at a point.
func (c *condition) value(name string, cfg *setup.Config, values []AxisValue) (starlark.Value, error) {
	switch name {
	case "gpus":
		return starlark.MakeInt(gpus(cfg)), nil
	case "cost_per_hour":
		return starlark.Float(costPerHour(cfg)), nil
	case "kv_blocks":
		blocks, err := setup.KVBlocks(*cfg)
		return starlark.MakeInt64(blocks), err
	}
	for i := range c.sweep.Axes {
		if identifier(c.sweep.Axes[i].Name) == name {
			return starlarkValue(values[i].Value), nil
		}
	}
	for s := range cfg.Settings() {
		if identifier(s.Name) == name {
			return settingValue(&s), nil
		}
	}
	return nil, fmt.Errorf("study: no value of %s", name)
}

// gpus is the number of GPUs of all instances at the start.
func gpus(c *setup.Config) int { return c.NumInstances * c.TP }

// costPerHour is the price of all instances at the start.
func costPerHour(c *setup.Config) float64 {
	return float64(float64(c.CostPerReplicaHour*float64(c.NumInstances)) + float64(c.GPUHourPrice*float64(gpus(c))))
}

// starlarkValue is a JSON scalar.
func starlarkValue(text []byte) starlark.Value {
	value, err := jsonScalar(text)
	if err != nil {
		return starlark.String(text)
	}
	return value
}

// settingValue is a setting as a number, a truth value, or else the text of its flag. A
// duration is in seconds.
func settingValue(s *setup.Setting) starlark.Value {
	v := s.Value
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return starlark.None
		}
		v = v.Elem()
	}
	if d, is := v.Interface().(interface{ Seconds() float64 }); is {
		return starlark.Float(d.Seconds())
	}
	switch v.Kind() {
	case reflect.Bool:
		return starlark.Bool(v.Bool())
	case reflect.Int, reflect.Int32, reflect.Int64:
		return starlark.MakeInt64(v.Int())
	case reflect.Uint64:
		return starlark.MakeUint64(v.Uint())
	case reflect.Float64:
		return starlark.Float(v.Float())
	}
	return starlark.String(setup.Text(v.Interface()))
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

func sorted(names []string) []string { slices.Sort(names); return names }
