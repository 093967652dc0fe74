package script

import (
	"math"

	"go.starlark.net/starlark"
)

// leaveOut leaves out the instances that the program's filter does not let pass, before route
// sees them. Where none passes all are seen.
func (r *routing) leaveOut() {
	if r.filter == nil {
		return
	}
	passes := r.marks(r.call(r.filter, r.args[:arity(r.filter, len(r.args))]))
	seen := r.all.rows[:0]
	r.out = r.out[:0]
	for k, i := range r.all.rows {
		if passes[k] != 0 {
			seen = append(seen, i)
		} else {
			r.out = append(r.out, i)
		}
	}
	if len(seen) == 0 {
		seen, r.out = append(seen, r.out...), r.out[:0]
	}
	r.begin()
	r.all.list(seen)
}

// marks reads the answer of filter: an entry for each instance, 0 or False for one that is left out.
func (r *routing) marks(answer starlark.Value) []float64 {
	var list []float64
	switch answer := answer.(type) {
	case *vec:
		list = answer.data
	case *starlark.List:
		var err error
		if list, err = numbersOf(r.machine, "filter", answer); err != nil {
			r.answer(TypeError, r.filter, "returns a list that is no list of numbers, True and False")
		}
	default:
		r.answer(TypeError, r.filter, "returns a %s: want an entry for each instance, a vec or a list: 0 or False leaves the instance out", answer.Type())
	}
	if len(list) != len(r.all.rows) {
		r.answer(ValueError, r.filter, "returns %d entries: want one for each of %d instances", len(list), len(r.all.rows))
	}
	for k, x := range list {
		if math.IsNaN(x) {
			r.answer(ValueError, r.filter, "returns NaN for entry %d: want 0 or False to leave the instance out, else another number or True", k)
		}
	}
	return list
}
