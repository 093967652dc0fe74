package script

import (
	"math"
	"strconv"

	"go.starlark.net/starlark"

	"blis/workload/draw"
)

// operand is an argument of a function: a vector, or a number.
type operand struct {
	data []float64
	x    float64
	many bool
}

// at is the operand's number for entry k.
func (o *operand) at(k int) float64 {
	if o.many {
		return o.data[k]
	}
	return o.x
}

// operandOf reads an argument of a function.
func operandOf(function string, x starlark.Value) (operand, error) {
	switch x := x.(type) {
	case *vec:
		return operand{data: x.data, many: true}, nil
	case starlark.Float:
		return operand{x: float64(x)}, nil
	case starlark.Int:
		return operand{x: float64(x.Float())}, nil
	case starlark.Bool:
		if x {
			return operand{x: 1}, nil
		}
		return operand{}, nil
	}
	return operand{}, typeMistake("%s: a %s is not allowed, want a vec or a number", function, x.Type())
}

// native is a function of a program that Go computes.
type native func(m *machine, name string, args starlark.Tuple) (starlark.Value, error)

// entrywise computes one number for each entry of its arguments, of which vectors have
// equally many; without any vector, a number.
func entrywise(n int, f func(x [3]float64) float64) native {
	return func(m *machine, name string, args starlark.Tuple) (starlark.Value, error) {
		if len(args) != n {
			return nil, typeMistake("%s has %d arguments, want %d", name, len(args), n)
		}
		var list [3]operand
		width, many := 0, false
		for k, arg := range args {
			o, err := operandOf(name, arg)
			if err != nil {
				return nil, err
			}
			if list[k] = o; o.many {
				if many && len(o.data) != width {
					return nil, valueMistake("%s: vecs have %d and %d entries, want equally many", name, width, len(o.data))
				}
				width, many = len(o.data), true
			}
		}
		var x [3]float64
		if !many {
			for k := range n {
				x[k] = list[k].x
			}
			return starlark.Float(f(x)), nil
		}
		out := m.newVec(width)
		for e := range out.data {
			for k := range n {
				x[k] = list[k].at(e)
			}
			out.data[e] = f(x)
		}
		return out, nil
	}
}

// truth is 1 or 0.
func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// natives are the functions of vectors and numbers, by name.
var natives = map[string]native{
	"above": beyond(entrywise(2, func(x [3]float64) float64 { return truth(x[0] > x[1]) }), 1),
	"below": beyond(entrywise(2, func(x [3]float64) float64 { return truth(x[0] < x[1]) }), -1),
	"equal": entrywise(2, func(x [3]float64) float64 { return truth(x[0] == x[1]) }),
	"where": entrywise(3, func(x [3]float64) float64 {
		if x[0] != 0 {
			return x[1]
		}
		return x[2]
	}),
	"clip":  entrywise(3, func(x [3]float64) float64 { return min(max(x[0], x[1]), x[2]) }),
	"abs":   vectors(entrywise(1, func(x [3]float64) float64 { return math.Abs(x[0]) })),
	"floor": whole(entrywise(1, func(x [3]float64) float64 { return math.Floor(x[0]) })),
	"ceil":  whole(entrywise(1, func(x [3]float64) float64 { return math.Ceil(x[0]) })),
	"round": rounded(whole(entrywise(1, func(x [3]float64) float64 { return math.RoundToEven(x[0]) }))),
	"sqrt":  entrywise(1, func(x [3]float64) float64 { return math.Sqrt(x[0]) }),
	"exp":   entrywise(1, func(x [3]float64) float64 { return exponential(x[0]) }),
	"log":   entrywise(1, func(x [3]float64) float64 { return logarithm(x[0]) }),
	"pow":   entrywise(2, func(x [3]float64) float64 { return draw.Pow(x[0], x[1]) }),

	"argmax": argument(nil),
	"argmin": argument(func(x, best float64) bool { return x < best }),
	"max":    extreme("max", nil),
	"min":    extreme("min", func(x, best float64) bool { return x < best }),
	"sum":    sum, "mean": mean,
	"rank": rank, "normalize": normalize, "minmax": minmax,
	"vec": newVector, "delay": delay, "rand": random,
}

// beyond is above with sign 1, below with −1, in a fast way for a vector and a number.
func beyond(slow native, sign float64) native {
	return func(m *machine, name string, args starlark.Tuple) (starlark.Value, error) {
		if len(args) == 2 {
			v, isVec := args[0].(*vec)
			limit, isFloat := args[1].(starlark.Float)
			if isVec && isFloat {
				out, bound := m.newVec(len(v.data)), float64(limit)
				for k, x := range v.data {
					out.data[k] = 0
					if (sign > 0 && x > bound) || (sign < 0 && x < bound) {
						out.data[k] = 1
					}
				}
				return out, nil
			}
		}
		return slow(m, name, args)
	}
}

// vectors leaves numbers to Starlark.
func vectors(f native) native {
	return func(m *machine, name string, args starlark.Tuple) (starlark.Value, error) {
		if len(args) == 1 {
			if _, ok := args[0].(*vec); !ok {
				return nil, nil
			}
		}
		return f(m, name, args)
	}
}

// whole makes a whole number of the answer where that is one number.
func whole(f native) native {
	return func(m *machine, name string, args starlark.Tuple) (starlark.Value, error) {
		value, err := f(m, name, args)
		if x, ok := value.(starlark.Float); ok {
			n, err := starlark.NumberToInt(x)
			if err != nil {
				return nil, valueMistake("%s: %v has no whole number", name, x)
			}
			return n, nil
		}
		return value, err
	}
}

// rounded is a function of one number that with a second argument rounds to that many decimals: to the float next to
// the decimal number next to the exact value, as in Python.
func rounded(f native) native {
	decimals := entrywise(2, func(x [3]float64) float64 {
		text := strconv.FormatFloat(x[0], 'f', int(x[1]), 64)
		near, _ := strconv.ParseFloat(text, 64) // what FormatFloat wrote
		return near
	})
	return func(m *machine, name string, args starlark.Tuple) (starlark.Value, error) {
		if len(args) != 2 {
			return f(m, name, args)
		}
		n, ok := args[1].(starlark.Int)
		if k, small := n.Int64(); !ok || !small || k < 0 || k > mostDecimals {
			return nil, valueMistake("round: %s decimals are not allowed, want a whole number from 0 to %d", clip(args[1].String(), mostName), mostDecimals)
		}
		return decimals(m, name, args)
	}
}

// mostDecimals is how many decimals a number is rounded to at most.
const mostDecimals = 15

// exponential is draw.Exp of any number.
func exponential(x float64) float64 {
	if x != x {
		return x
	}
	return draw.Exp(x)
}

// logarithm is draw.Log of any number.
func logarithm(x float64) float64 {
	switch {
	case x > 0 && x <= math.MaxFloat64:
		return draw.Log(x)
	case x == 0:
		return math.Inf(-1)
	case x > 0:
		return x
	}
	return math.NaN()
}
