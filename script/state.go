package script

import (
	"fmt"

	"go.starlark.net/starlark"
)

// mostState bounds what a policy remembers, in the measure of state.measure.
const mostState = 64 << 10

// state is the dictionary that a program keeps from one decision to the next. What is
// in it may be changed only by a decision that asked for some of it, as nothing else
// lives on: so it is measured after those alone.
type state struct {
	*starlark.Dict
	of      *machine
	touched bool
	banned  string // why the program has none; empty: it has
}

func newState(m *machine) *state { return &state{Dict: new(starlark.Dict), of: m} }

// touch notes that the program has asked for something.
func (s *state) touch() {
	if s.touched = true; s.banned != "" {
		s.of.panicHere(&mistake{StateError, s.banned})
	}
}

// Type implements starlark.Value.
func (s *state) Type() string { return "state" }

// Freeze implements starlark.Value: the state is never frozen.
func (s *state) Freeze() {}

// Attr implements starlark.HasAttrs. A method may be kept, so that its call counts.
func (s *state) Attr(name string) (starlark.Value, error) {
	method, err := s.Dict.Attr(name)
	b, ok := method.(*starlark.Builtin)
	if !ok || err != nil {
		return method, err
	}
	return starlark.NewBuiltin(name, func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		s.touch()
		return b.CallInternal(thread, args, kwargs)
	}), nil
}

// Get implements starlark.Mapping.
func (s *state) Get(key starlark.Value) (starlark.Value, bool, error) {
	s.touch()
	return s.Dict.Get(key)
}

// SetKey implements starlark.HasSetKey.
func (s *state) SetKey(key, value starlark.Value) error { s.touch(); return s.Dict.SetKey(key, value) }

// Items implements starlark.IterableMapping.
func (s *state) Items() []starlark.Tuple { s.touch(); return s.Dict.Items() }

// Iterate implements starlark.Iterable.
func (s *state) Iterate() starlark.Iterator { s.touch(); return s.Dict.Iterate() }

// check measures the state after a decision that touched it.
func (s *state) check(f *starlark.Function) {
	s.touched = false
	size := 0
	if err := s.measure(s.Dict, &size, 0); err != nil {
		s.of.stop(s.of.faultOf(f, StateError, "%s", err))
	}
	s.of.left -= min(s.of.left, uint64(size/valueSize))
}

// valueSize is what each value counts, in bytes. A text counts its bytes besides, a
// vec 8 for each entry, and a large whole number its bytes.
const valueSize = 16

// mostDepth bounds how deep lists are in lists.
const mostDepth = 16

// measure adds the size of a value, and keeps its vectors.
func (s *state) measure(x starlark.Value, size *int, depth int) error {
	if *size += valueSize; depth > mostDepth {
		return fmt.Errorf("state has lists in lists more than %d deep: want it flatter", mostDepth)
	}
	switch x := x.(type) {
	case starlark.NoneType, starlark.Bool, starlark.Float:
	case starlark.Int:
		if _, small := x.Int64(); !small {
			*size += x.BigInt().BitLen() / 8
		}
	case starlark.String:
		*size += len(x)
	case starlark.Bytes:
		*size += len(x)
	case *vec:
		*size += 8 * len(x.data)
		x.kept = true
	case *starlark.Dict:
		return s.measureItems(x, size, depth)
	case starlark.Sequence:
		switch x.(type) {
		case *starlark.List, starlark.Tuple, *starlark.Set:
		default:
			return s.refused(x)
		}
		it := x.Iterate()
		defer it.Done()
		var item starlark.Value
		for it.Next(&item) {
			if err := s.measure(item, size, depth+1); err != nil {
				return err
			}
		}
	default:
		return s.refused(x)
	}
	return s.tooLarge(*size)
}

func (s *state) measureItems(d *starlark.Dict, size *int, depth int) error {
	it := d.Iterate()
	defer it.Done()
	var key starlark.Value
	for it.Next(&key) {
		value, _, err := d.Get(key)
		if err == nil {
			err = s.measure(key, size, depth+1)
		}
		if err == nil {
			err = s.measure(value, size, depth+1)
		}
		if err != nil {
			return err
		}
	}
	return s.tooLarge(*size)
}

func (s *state) tooLarge(size int) error {
	if size > mostState {
		return fmt.Errorf("state is larger than %d KiB: want less in it; a value counts %d bytes, a text its length besides, a vec 8 for each entry", mostState>>10, valueSize)
	}
	return nil
}

func (s *state) refused(x starlark.Value) error {
	return fmt.Errorf("state has a %s in it: want numbers, texts, vecs, and lists, tuples, sets and dicts of them", x.Type())
}
