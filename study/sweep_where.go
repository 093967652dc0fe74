package study

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"blis/setup"
)

// builtins are the names that Where knows beside settings and axes.
var builtins = []string{"gpus", "cost_per_hour", "kv_blocks"}

// condition is a compiled Where.
type condition struct {
	expression
	sweep *Sweep
}

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
	x, problem := compile(s.Where, s.whereNames(), "a setting or an axis, with _ for - and ., or gpus, cost_per_hour, kv_blocks")
	if problem != "" {
		return nil, sweepFault("where", "%s", problem)
	}
	return &condition{x, s}, nil
}

// whereNames are the names that Where may read.
func (s *Sweep) whereNames() []string {
	names := slices.Clone(builtins)
	for _, name := range settingNames() {
		names = append(names, identifier(name))
	}
	for i := range s.Axes {
		names = append(names, identifier(s.Axes[i].Name))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// keeps evaluates the condition for a point. Its errors are an *setup.InputError; those
// of kv_blocks are the errors of setup.KVBlocks.
func (c *condition) keeps(cfg *setup.Config, values []AxisValue) (bool, error) {
	kept, problem, err := c.holds(func(name string) (starlark.Value, error) { return c.value(name, cfg, values) })
	if problem != "" {
		return false, &setup.InputError{Text: "where: " + problem}
	}
	return kept, err
}

// value is what a name stands for at a point.
func (c *condition) value(name string, cfg *setup.Config, values []AxisValue) (starlark.Value, error) {
	switch name {
	case "gpus":
		return starlark.MakeInt(setup.GPUs(cfg)), nil
	case "cost_per_hour":
		return starlark.Float(setup.HourlyPrice(cfg)), nil
	case "kv_blocks":
		blocks, err := setup.KVBlocks(*cfg)
		return starlark.MakeInt64(blocks), err
	}
	for i := range c.sweep.Axes {
		if identifier(c.sweep.Axes[i].Name) == name {
			return jsonScalar(values[i].Value)
		}
	}
	for s := range cfg.Settings() {
		if identifier(s.Name) == name {
			return settingValue(&s), nil
		}
	}
	return nil, fmt.Errorf("study: no value of %s", name)
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
