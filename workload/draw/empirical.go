package draw

import (
	"fmt"

	"blis/workload"
)

// An empirical distribution is drawn by Walker's alias method (Walker, "An
// efficient method for generating discrete random variables with general
// distributions", ACM TOMS 3, 1977): one bin per value, all alike; in each, up
// to a threshold of its width, its own value, and beyond it the value of another.

// table is the bins of a distribution; it never changes.
type table struct{ bins []bin }

// bin is one of them.
type bin struct {
	own, other float64
	threshold  float64 // from 0 to 1
}

// NewEmpirical is the distribution of values with chances proportional to
// weights; nil: all the same. Values are of magnitude up to Most, weights
// finite, not negative and not all 0. Equal values may occur.
func NewEmpirical(values, weights []float64) (Distribution, error) {
	if err := checkEmpirical(values, weights); err != nil {
		return Fixed(0), err
	}
	values, weights = withWeight(values, weights)
	d := Distribution{kind: empirical, c: values[0], d: values[0]}
	sum, most := 0.0, 0.0
	for i, v := range values {
		d.c, d.d = min(d.c, v), max(d.d, v)
		most = max(most, weights[i])
	}
	if d.c == d.d {
		return Fixed(d.c), nil
	}
	// Divided by the largest, weights cannot overflow when they are summed.
	shares := make([]float64, len(weights))
	for i, w := range weights {
		shares[i] = w / most
		sum += shares[i]
	}
	for i, v := range values {
		shares[i] /= sum
		d.a += float64(shares[i] * v)
	}
	for i, v := range values {
		d.b += float64(shares[i] * float64((v-d.a)*(v-d.a)))
	}
	d.table = &table{fill(values, shares)}
	return d, nil
}

// checkEmpirical names the first bad value and the first bad weight only: there
// may be millions.
func checkEmpirical(values, weights []float64) error {
	var bad workload.Faults
	if len(values) == 0 {
		bad.Add("values", "none", "want at least one")
	}
	for i, v := range values {
		if !(v >= -maxMagnitude && v <= maxMagnitude) {
			bad.Add(fmt.Sprintf("values[%d]", i), v, "want from %v to %v", -maxMagnitude, maxMagnitude)
			break
		}
	}
	if weights == nil {
		return bad.Err("")
	}
	if len(weights) != len(values) {
		bad.Add("weights", len(weights), "want %d, one for each value", len(values))
	}
	some, good := false, true
	for i, w := range weights {
		some = some || w > 0
		if !(w >= 0 && w-w == 0) { // +Inf − +Inf is not 0
			bad.Add(fmt.Sprintf("weights[%d]", i), w, "want 0 or more, finite")
			good = false
			break
		}
	}
	if good && !some {
		bad.Add("weights", "all 0", "want one above 0")
	}
	return bad.Err("")
}

// withWeight leaves out values of weight 0, so that no rounding can yield them.
func withWeight(values, weights []float64) (kept, of []float64) {
	for i, v := range values {
		w := 1.0
		if weights != nil {
			w = weights[i]
		}
		if w > 0 {
			kept, of = append(kept, v), append(of, w)
		}
	}
	return kept, of
}

// fill makes the bins: each value that has less than a bin is filled up by one
// that has more. Shares add up to 1.
func fill(values, shares []float64) []bin {
	bins := make([]bin, len(values))
	left := make([]float64, len(values)) // what is to be placed, in bins
	var less, more []int
	for i, v := range values {
		bins[i] = bin{own: v, other: v, threshold: 1}
		left[i] = float64(shares[i] * float64(len(values)))
		if left[i] < 1 {
			less = append(less, i)
		} else {
			more = append(more, i)
		}
	}
	for len(less) > 0 && len(more) > 0 {
		i, j := less[len(less)-1], more[len(more)-1]
		less = less[:len(less)-1]
		bins[i].threshold, bins[i].other = left[i], values[j]
		left[j] -= 1 - left[i]
		if left[j] < 1 {
			more, less = more[:len(more)-1], append(less, j)
		}
	}
	// What remains has 1, but for rounding, and keeps its bin to itself.
	return bins
}

// pick draws one bin and a place in it with one uniform number: its whole part
// after scaling is the bin, its fraction the place.
func (t *table) pick(v *Variates) float64 {
	u := float64(float64(len(t.bins)) * v.Uniform())
	i := min(int(u), len(t.bins)-1)
	b := &t.bins[i]
	if u-float64(i) < b.threshold {
		return b.own
	}
	return b.other
}
