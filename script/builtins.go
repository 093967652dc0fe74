package script

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"sync"

	"go.starlark.net/starlark"
)

// kept are the functions of Starlark that a program has, beside its own of the same
// name.
var kept = []string{"any", "all", "bool", "chr", "dict", "enumerate", "fail", "float", "hash", "int", "len", "list", "max", "min", "ord", "print",
	"range", "repr", "reversed", "set", "sorted", "str", "tuple", "type", "zip"}

// isPredeclared reports whether a program has a name without defining it. Names that
// Starlark has and that are not here do not fail before they are called: walk
// refuses the functions among them.
func isPredeclared(name string) bool {
	return name == "state" || name == "cluster" || natives[name] != nil || slices.Contains(kept, name)
}

// predeclaredNames lists these names.
var predeclaredNames = sync.OnceValue(func() []string {
	names := append([]string{"state", "cluster"}, kept...)
	names = slices.AppendSeq(names, maps.Keys(natives)) // any order: they are sorted
	slices.Sort(names)
	return slices.Compact(names)
})

// predeclared are the names that a program has without defining them.
func (m *machine) predeclared() starlark.StringDict {
	dict := starlark.StringDict{"state": m.state, "cluster": &cluster{m}}
	for _, name := range predeclaredNames() {
		if name != "state" && name != "cluster" {
			dict[name] = m.builtin(name)
		}
	}
	return dict
}

// builtin makes a function of a program: ours, or where we have none or it answers nil
// Starlark's. Starlark's count the length of their arguments as steps before they begin,
// and where they panic that is an error at the place of the call.
func (m *machine) builtin(name string) *starlark.Builtin {
	own := natives[name]
	theirs, _ := starlark.Universe[name].(*starlark.Builtin)
	return starlark.NewBuiltin(name, func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (value starlark.Value, err error) {
		if own != nil {
			if len(kwargs) == 0 {
				if value, err = own(m, name, args); value != nil || err != nil {
					return value, err
				}
			} else if theirs == nil || name != "max" && name != "min" {
				return nil, typeMistake("%s has no argument called %s, want arguments without names", name, kwargs[0][0])
			}
		}
		if theirs == nil {
			return nil, typeMistake("%s: want a vec", name)
		}
		return m.guard(theirs, thread, args, kwargs)
	})
}

// guard calls a function of Starlark.
func (m *machine) guard(f *starlark.Builtin, thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (value starlark.Value, err error) {
	if f.Name() != "len" && f.Name() != "range" && f.Name() != "type" {
		for _, arg := range args {
			n := starlark.Len(arg)
			if f.Name() == "sorted" && n > 0 && n < mostSteps {
				n *= bits.Len(uint(n))
			}
			if n > mostSteps {
				return nil, &mistake{StepsError, fmt.Sprintf("%s of %d entries takes more than %d steps at once: want fewer", f.Name(), starlark.Len(arg), mostSteps)}
			}
			m.charge(n)
		}
	}
	defer func() {
		if x := recover(); x != nil {
			if fault, ok := x.(*Error); ok {
				panic(fault)
			}
			value, err = nil, &mistake{PanicError, clip(oneLine(fmt.Sprintf("%s fails: %v", f.Name(), x)), mostMessage)}
		}
	}()
	return f.CallInternal(thread, args, kwargs)
}
