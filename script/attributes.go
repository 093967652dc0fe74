package script

import (
	"maps"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"blis/policy"
)

// attribute is an attribute of an argument of type T.
type attribute[T any] struct {
	help    string
	signals policy.Signals
	value   func(x T) starlark.Value // nil where it is not known
}

// attributes are those of an argument, by name.
type attributes[T any] map[string]attribute[T]

// find returns the signals that an attribute reads, and whether there is one of the name.
func (a attributes[T]) find(name string) (policy.Signals, bool) {
	x, found := a[name]
	return x.signals, found
}

// names lists the attributes, sorted.
func (a attributes[T]) names() []string {
	return slices.Sorted(maps.Keys(a)) // any order: they are sorted
}

// attributeTable is the attributes of an argument of any type.
type attributeTable interface {
	find(name string) (signals policy.Signals, found bool)
	names() []string
}

// attributeTables are the tables of all arguments but instances, whose attributes are columns.
func attributeTables() []attributeTable {
	return []attributeTable{requestAttributes, clusterAttributes, scaleAttributes, batchAttributes, runningColumns, waitingColumns}
}

// methods are the attributes of Starlark's own types, sorted.
var methods = func() []string {
	var list []string
	for _, x := range []starlark.HasAttrs{starlark.String(""), starlark.Bytes(""), new(starlark.List), new(starlark.Dict), new(starlark.Set)} {
		list = append(list, x.AttrNames()...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}()

// attributeSignals returns the signals that an attribute of this name may read, and
// whether anything has it.
func attributeSignals(name string) (signals policy.Signals, known bool) {
	t := columns()
	if k, ok := t.byName[name]; ok {
		signals, known = signals|t.list[k].signals, true
	}
	for _, table := range attributeTables() {
		if reads, ok := table.find(name); ok {
			signals, known = signals|reads, true
		}
	}
	_, method := slices.BinarySearch(methods, name)
	return signals, known || method
}

// attributeNames are the names of all attributes, for suggestions.
func attributeNames() []string {
	list := slices.Concat(columns().names(), methods)
	for _, table := range attributeTables() {
		list = append(list, table.names()...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// noAttribute is the error of an attribute that a value does not have.
func noAttribute(of, name string, names []string) error {
	slices.Sort(names)
	return typeMistake("%s has no %s: want one of %s", of, clip(name, mostName), strings.Join(names, ", "))
}
