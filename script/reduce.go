package script

import (
	"fmt"
	"slices"

	"go.starlark.net/starlark"

	"blis/vtime"
)

// numbersOf returns the numbers of a vector, or of a list of numbers.
func numbersOf(m *machine, function string, x starlark.Value) ([]float64, error) {
	if v, ok := x.(*vec); ok {
		m.charge(len(v.data))
		return v.data, nil
	}
	list, ok := x.(starlark.Sequence)
	if _, numbers := x.(starlark.Mapping); !ok || numbers {
		return nil, typeMistake("%s: a %s is not allowed, want a vec or a list of numbers", function, x.Type())
	}
	if m.charge(list.Len()); list.Len() > mostSteps {
		return nil, valueMistake("%s: a list of %d is too long", function, list.Len())
	}
	data := make([]float64, 0, list.Len())
	it := list.Iterate()
	defer it.Done()
	var item starlark.Value
	for it.Next(&item) {
		o, err := operandOf(function, item)
		if err != nil || o.many {
			return nil, typeMistake("%s: entry %d is a %s, want a number", function, len(data), item.Type())
		}
		data = append(data, o.x)
	}
	return data, nil
}

// oneList reads the only argument of a function, of which each number is one.
func oneList(m *machine, name string, args starlark.Tuple, least int) ([]float64, error) {
	if len(args) != 1 {
		return nil, typeMistake("%s has %d arguments, want one: a vec", name, len(args))
	}
	data, err := numbersOf(m, name, args[0])
	if err != nil {
		return nil, err
	}
	if len(data) < least {
		return nil, valueMistake("%s of nothing: want at least one entry", name)
	}
	for k, x := range data {
		if x != x {
			return nil, valueMistake("%s: entry %d is not a number (nan)", name, k)
		}
	}
	return data, nil
}

// argument is the index of the best number, the first of equals.
func argument(better func(x, best float64) bool) native {
	return func(m *machine, name string, args starlark.Tuple) (starlark.Value, error) {
		data, err := oneList(m, name, args, 1)
		if err != nil {
			return nil, err
		}
		return starlark.MakeInt(bestOf(data, better)), nil
	}
}

// bestOf returns the index of the best number; without better it is the largest.
func bestOf(data []float64, better func(x, best float64) bool) int {
	best := 0
	if better == nil {
		top := data[0]
		for k, x := range data {
			if x > top {
				best, top = k, x
			}
		}
		return best
	}
	for k, x := range data {
		if better(x, data[best]) {
			best = k
		}
	}
	return best
}

// extreme is the largest or smallest number of a vector; of several arguments with a
// vector among them, entry by entry; else what Starlark's function of the name does.
func extreme(name string, better func(x, best float64) bool) native {
	pair := entrywise(2, func(x [3]float64) float64 {
		if better == nil && x[1] > x[0] || better != nil && better(x[1], x[0]) || x[1] != x[1] {
			return x[1]
		}
		return x[0]
	})
	return func(m *machine, _ string, args starlark.Tuple) (starlark.Value, error) {
		isVec := func(x starlark.Value) bool { _, ok := x.(*vec); return ok }
		switch {
		case len(args) == 1 && isVec(args[0]):
			data, err := oneList(m, name, args, 1)
			if err != nil {
				return nil, err
			}
			return starlark.Float(data[bestOf(data, better)]), nil
		case len(args) < 2 || !slices.ContainsFunc(args, isVec):
			return nil, nil
		}
		value := args[0]
		for _, next := range args[1:] {
			var err error
			if value, err = pair(m, name, starlark.Tuple{value, next}); err != nil {
				return nil, err
			}
		}
		return value, nil
	}
}

// total adds from the first to the last.
func total(data []float64) float64 {
	sum := 0.0
	for _, x := range data {
		sum += x
	}
	return sum
}

// sum adds numbers. Of a list of whole numbers it is one.
func sum(m *machine, name string, args starlark.Tuple) (starlark.Value, error) {
	if len(args) == 1 {
		if x, ok := wholeSum(m, args[0]); ok {
			return x, nil
		}
	}
	data, err := oneList(m, name, args, 0)
	return starlark.Float(total(data)), err
}

// wholeSum adds a list of whole numbers; ok is false for anything else.
func wholeSum(m *machine, x starlark.Value) (_ starlark.Int, ok bool) {
	list, ok := x.(*starlark.List)
	if !ok {
		return starlark.Int{}, false
	}
	m.charge(list.Len())
	sum := starlark.MakeInt(0)
	for k := range list.Len() {
		n, whole := list.Index(k).(starlark.Int)
		if !whole {
			return starlark.Int{}, false
		}
		sum = sum.Add(n)
	}
	return sum, true
}

func mean(m *machine, name string, args starlark.Tuple) (starlark.Value, error) {
	data, err := oneList(m, name, args, 1)
	if err != nil {
		return nil, err
	}
	return starlark.Float(total(data) / float64(len(data))), nil
}

// rank counts for each entry how many are smaller.
func rank(m *machine, name string, args starlark.Tuple) (starlark.Value, error) {
	data, err := oneList(m, name, args, 0)
	if err != nil {
		return nil, err
	}
	m.charge(8 * len(data))
	sorted := slices.Clone(data)
	slices.Sort(sorted)
	out := m.newVec(len(data))
	for k, x := range data {
		smaller, _ := slices.BinarySearch(sorted, x)
		out.data[k] = float64(smaller)
	}
	return out, nil
}

// normalize divides by the sum; numbers that sum up to 0 become 0.
func normalize(m *machine, name string, args starlark.Tuple) (starlark.Value, error) {
	data, err := oneList(m, name, args, 0)
	if err != nil {
		return nil, err
	}
	sum := total(data)
	out := m.newVec(len(data))
	for k, x := range data {
		if out.data[k] = 0; sum != 0 {
			out.data[k] = x / sum
		}
	}
	return out, nil
}

// minmax moves numbers to 0 for the smallest to 1 for the largest. Equal ones become
// the second argument, 0 without it.
func minmax(m *machine, name string, args starlark.Tuple) (starlark.Value, error) {
	equal := 0.0
	if len(args) == 2 {
		o, err := operandOf(name, args[1])
		if err != nil || o.many {
			return nil, typeMistake("minmax: the second argument is a %s, want a number: what equal entries become", args[1].Type())
		}
		equal, args = o.x, args[:1]
	}
	data, err := oneList(m, name, args, 0)
	if err != nil {
		return nil, err
	}
	out := m.newVec(len(data))
	if len(data) == 0 {
		return out, nil
	}
	low, high := slices.Min(data), slices.Max(data)
	for k, x := range data {
		if out.data[k] = equal; high > low {
			out.data[k] = (x - low) / (high - low)
		}
	}
	return out, nil
}

// newVector makes a vector of a list of numbers.
func newVector(m *machine, name string, args starlark.Tuple) (starlark.Value, error) {
	if len(args) != 1 {
		return nil, typeMistake("vec has %d arguments, want one: a list of numbers", len(args))
	}
	data, err := numbersOf(m, name, args[0])
	if err != nil {
		return nil, err
	}
	out := m.newVec(len(data))
	copy(out.data, data)
	return out, nil
}

func random(m *machine, _ string, args starlark.Tuple) (starlark.Value, error) {
	if len(args) > 0 {
		return nil, typeMistake("rand has %d arguments, want none: rand() is from 0 to below 1", len(args))
	}
	x, err := m.rand()
	return starlark.Float(x), err
}

// postponed is the answer of admit that delays a request.
type postponed vtime.Duration

func (p postponed) String() string        { return fmt.Sprintf("delay(%v)", vtime.Duration(p).Seconds()) }
func (p postponed) Type() string          { return "delay" }
func (p postponed) Freeze()               {}
func (p postponed) Truth() starlark.Bool  { return true }
func (p postponed) Hash() (uint32, error) { return uint32(p), nil }

// longestDelay is a day: a longer one is a slip of the unit.
const longestDelay = 24 * 3600

func delay(_ *machine, name string, args starlark.Tuple) (starlark.Value, error) {
	if len(args) != 1 {
		return nil, typeMistake("delay has %d arguments, want one: seconds", len(args))
	}
	o, err := operandOf(name, args[0])
	switch {
	case err != nil:
		return nil, err
	case o.many:
		return nil, typeMistake("delay: a vec is not allowed, want seconds")
	case !(o.x >= 1e-6 && o.x <= longestDelay):
		return nil, valueMistake("delay: %v s is not allowed, want from 0.000001 to %d", o.x, longestDelay)
	}
	return postponed(float64(o.x * 1e6)), nil
}
