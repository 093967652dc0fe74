package script

import (
	"math"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// vec is a vector of floats. It never changes. Operations with it go entry by entry;
// a number counts as a vector of it.
type vec struct {
	of   *machine
	data []float64
	kept bool // it is part of the state: its memory is not used again
}

// String implements starlark.Value.
func (v *vec) String() string {
	var b strings.Builder
	b.WriteString("vec([")
	for k, x := range v.data {
		if k > 0 {
			b.WriteString(", ")
		}
		b.WriteString(starlark.Float(x).String())
	}
	b.WriteString("])")
	return b.String()
}

// Type implements starlark.Value.
func (v *vec) Type() string { return "vec" }

// Freeze implements starlark.Value.
func (v *vec) Freeze() {}

// Truth implements starlark.Value. A vector is neither true nor false.
func (v *vec) Truth() starlark.Bool {
	v.of.panicHere(typeMistake("a vec is neither true nor false: want a number, like max(…) > 0 or sum(above(…)) > 0"))
	return false
}

// Hash implements starlark.Value.
func (v *vec) Hash() (uint32, error) { return 0, typeMistake("a vec cannot be a key") }

// Len implements starlark.Sequence.
func (v *vec) Len() int { return len(v.data) }

// Index implements starlark.Indexable.
func (v *vec) Index(k int) starlark.Value { return starlark.Float(v.data[k]) }

// Slice implements starlark.Sliceable.
func (v *vec) Slice(start, end, step int) starlark.Value {
	n := 0
	for k := start; (step > 0 && k < end) || (step < 0 && k > end); k += step {
		n++
	}
	part := v.of.newVec(n)
	for k := range part.data {
		part.data[k] = v.data[start+k*step]
	}
	return part
}

// Iterate implements starlark.Iterable.
func (v *vec) Iterate() starlark.Iterator { return &vecIterator{data: v.data} }

type vecIterator struct{ data []float64 }

// Next implements starlark.Iterator.
func (it *vecIterator) Next(p *starlark.Value) bool {
	if len(it.data) == 0 {
		return false
	}
	*p, it.data = starlark.Float(it.data[0]), it.data[1:]
	return true
}

// Done implements starlark.Iterator.
func (it *vecIterator) Done() {}

// Unary implements starlark.HasUnary.
func (v *vec) Unary(op syntax.Token) (starlark.Value, error) {
	switch op {
	case syntax.PLUS:
		return v, nil
	case syntax.MINUS:
		out := v.of.newVec(len(v.data))
		for k, x := range v.data {
			out.data[k] = -x
		}
		return out, nil
	}
	return nil, nil
}

// CompareSameType implements starlark.Comparable.
func (v *vec) CompareSameType(op syntax.Token, _ starlark.Value, _ int) (bool, error) {
	return false, typeMistake("vec %s vec has no single answer: want above(a, b), below(a, b) or equal(a, b), which compare entry by entry", op)
}

// Binary implements starlark.HasBinary.
func (v *vec) Binary(op syntax.Token, y starlark.Value, side starlark.Side) (starlark.Value, error) {
	var other []float64
	x := 0.0
	switch y := y.(type) {
	case *vec:
		if len(y.data) != len(v.data) {
			return nil, valueMistake("vec %s vec of %d and %d entries: want equally many", op, len(v.data), len(y.data))
		}
		other = y.data
	case starlark.Float:
		x = float64(y)
	case starlark.Int:
		x = float64(y.Float())
	case *starlark.List, starlark.Tuple:
		if op != syntax.IN && op != syntax.NOT_IN {
			return nil, typeMistake("vec %s %s: want vec(…) of the list", op, y.Type())
		}
		return nil, nil
	default:
		return nil, nil
	}
	out := v.of.newVec(len(v.data))
	dst, a := out.data, v.data[:len(out.data)]
	switch op {
	case syntax.PLUS:
		if other == nil {
			for k := range dst {
				dst[k] = a[k] + x
			}
			break
		}
		b := other[:len(dst)]
		for k := range dst {
			dst[k] = a[k] + b[k]
		}
	case syntax.STAR:
		if other == nil {
			for k := range dst {
				dst[k] = float64(a[k] * x)
			}
			break
		}
		b := other[:len(dst)]
		for k := range dst {
			dst[k] = float64(a[k] * b[k])
		}
	case syntax.MINUS:
		subtract(dst, a, other, x, side)
	case syntax.SLASH:
		divide(dst, a, other, x, side)
	case syntax.SLASHSLASH:
		divide(dst, a, other, x, side)
		for k := range dst {
			dst[k] = math.Floor(dst[k])
		}
	default:
		return nil, nil
	}
	return out, nil
}

// subtract computes a − b, or on the right side b − a, where b is x without b.
func subtract(dst, a, b []float64, x float64, side starlark.Side) {
	switch {
	case b != nil:
		if side == starlark.Right {
			a, b = b, a
		}
		for k := range dst {
			dst[k] = a[k] - b[k]
		}
	case side == starlark.Left:
		for k := range dst {
			dst[k] = a[k] - x
		}
	default:
		for k := range dst {
			dst[k] = x - a[k]
		}
	}
}

// divide computes quotients as subtract does differences.
func divide(dst, a, b []float64, x float64, side starlark.Side) {
	switch {
	case b != nil:
		if side == starlark.Right {
			a, b = b, a
		}
		for k := range dst {
			dst[k] = quotient(a[k], b[k])
		}
	case side == starlark.Left:
		for k := range dst {
			dst[k] = quotient(a[k], x)
		}
	default:
		for k := range dst {
			dst[k] = quotient(x, a[k])
		}
	}
}

// quotient returns a/b, and 0 for 0/0: the share of nothing in nothing.
func quotient(a, b float64) float64 {
	if a == 0 && b == 0 {
		return 0
	}
	return a / b
}
