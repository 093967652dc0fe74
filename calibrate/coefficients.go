package calibrate

import "blis/latency"

// Coefficients are the weights of the features of a latency model: those of the
// physics model, or what another Family puts in their places.
type Coefficients struct {
	Alpha latency.AlphaVector
	Beta  latency.BetaVector
}

// Columns of a fit: β first, then α.
const (
	betas   = len(latency.BetaVector{})
	alphas  = len(latency.AlphaVector{})
	columns = betas + alphas
)

func (c *Coefficients) list() []float64 {
	return append(append(make([]float64, 0, columns), c.Beta[:]...), c.Alpha[:]...)
}

func coefficientsOf(list []float64) *Coefficients {
	var c Coefficients
	copy(c.Beta[:], list[:betas])
	copy(c.Alpha[:], list[betas:])
	return &c
}

// bound holds the limits of a coefficient and its usual value. The ridge of a fit
// draws the coefficient weakly to the usual value; where the data do not determine
// the coefficient, it gets this value.
type bound struct{ lower, usual, upper float64 }

// physicsBounds are the bounds of all columns of the physics model. All are 0 or
// more: no work takes negative time. Some features are the time at a hardware peak.
// Their coefficients are peak / what real kernels reach: memory is not read faster
// than its bandwidth, and prefill has not been seen above 0.83 of the peak.
//
// A feature with upper bound 0 is left out of a fit to requests. The features of a
// batch's shape (7, 11, 15), of experts (8) and of heads (10) are almost constant
// within one model and one kind of load. With four models to learn from they only
// name the model: with them the median error on a held-out model rises from 7 to
// 12 % (its mean falls, from 13 to 10 %), and the error on a held-out load does not
// fall. Feature 6, and the features of the queue that refer to the limits of the
// engine, would change with settings on which the work of a token does not depend.
var physicsBounds = [columns]bound{
	0:  {1.2, 1.6, 2},    // linear compute: peak / what prefill reaches (MFU 0.54 to 0.68 measured)
	1:  {1, 1.6, 4},      // attention of prefill, likewise
	2:  {1, 1.3, 3},      // reading weights: bandwidth / what decode reaches (0.59 to 0.77 measured)
	3:  {0, 0, 2},        // attention of decode: hidden behind reading the cache
	4:  {1, 1.2, 3},      // reading the KV cache
	8:  {0, 1, 4},        // all-reduce: waiting for the slowest GPU included
	12: {1, 1, 1},        // transfers, as PCIe's ceiling says: nothing measured
	13: {1, 1, 1},        // likewise
	15: {0, 0.001, 0.05}, // s: every step

	betas + 0: {0, 0, 0.02},     // s: with every seat taken; answers go out more slowly
	betas + 2: {0, 0, 0.1},      // per prompt token, as its compute: tokenising
	betas + 3: {0, 0.004, 0.02}, // s: every request
}

// boundSlices returns bounds as three slices.
func boundSlices(bounds *[columns]bound) (lower, usual, upper []float64) {
	for _, b := range bounds {
		lower, usual, upper = append(lower, b.lower), append(usual, b.usual), append(upper, b.upper)
	}
	return lower, usual, upper
}
