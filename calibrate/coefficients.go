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
// draws the coefficient to the usual value; where the data do not determine the
// coefficient, it gets this value.
type bound struct {
	lower, usual, upper float64

	// How far from the usual value one expects the coefficient to be: the ridge counts
	// distances in this unit. 0: in units of what the feature adds to the times.
	scale float64
}

// physicsBounds are the bounds of all columns of the physics model. All are 0 or
// more: no work takes negative time. Some features are the time at a hardware peak.
// Their coefficients are peak / what real kernels reach. A feature with upper bound 0
// is left out of a fit.
//
// Four models with two kinds of load each do not determine 24 coefficients, so a fit
// needs to know what is usual. The values are near those of a fit to single steps of
// Qwen3-32B on a B200 at TP 1, 2 and 4, which determine most of them well; the
// coefficients of experts are near those of a fit to closed loops of MoE models. Both
// are other servers than those that the fits to requests are tested on.
//
// The features of a batch's shape (7, 11, 15), of experts (8) and of heads (10) are
// almost constant within one model and one kind of load, so with few models they only
// name the model. Feature 6, and the features of the queue that refer to the limits of
// the engine, would change with settings on which the work of a token does not depend.
//
// Attention of decode (4) is not wholly hidden behind reading the cache. A key is read
// once for all heads that share it, but multiplied for each, in tiles of 64 rows of which
// these heads fill few; so it takes many times what it would at the peak.
var physicsBounds = [columns]bound{
	0:  {0.6, 1.2, 2, 0.3},     // linear compute of prefill, and of the head
	1:  {1, 1.5, 4, 0.5},       // attention of prefill
	2:  {1, 1.15, 1.5, 0.03},   // reading weights: bandwidth / what decode reaches
	3:  {0, 14, 40, 3},         // attention of decode: tiles that few rows fill
	4:  {0.9, 1.08, 1.3, 0.05}, // reading the KV cache
	8:  {0.2, 0.6, 4, 0.2},     // all-reduce, latency included
	12: {0, 0, 1, 0},           // transfers: copies run beside the kernels of a step
	13: {1, 1, 1, 0},           // blocks that a step waits for, as PCIe's ceiling says: nothing measured
	15: {0, 0, 0.05, 0.0003},   // s: every step
	16: {0, 0.5, 8, 0.5},       // linear compute of decode: tiles that few rows do not fill
	17: {0, 0.3, 1.5, 0.2},     // compute beyond reading weights
	18: {0, 45, 100, 3},        // µs per layer: launches, norms, the host
	19: {0, 12, 60, 4},         // µs more per layer with experts: router, sorting
	20: {0, 0.3, 3, 0.5},       // bytes of all-reduces, in addition
	21: {0, 25, 200, 15},       // rows of experts in decode
	22: {0, 20, 100, 20},       // and in prefill
	23: {0, 1.5, 8, 1},         // all-reduces of few tokens, in addition
	24: {0, 0.4, 2, 0.3},       // reading experts of 8 bits, in addition
	25: {0, 0.6, 4, 0.3},       // weights that are converted before use
	26: {0, 2, 10, 3},          // dispatch and combination
	27: {0, 0.25, 2, 0.1},      // µs per layer and request in decode: attention's blocks, sampling

	betas + 0: {0, 0, 0.02, 0.01},      // s: with every seat taken; answers go out more slowly
	betas + 2: {0, 0, 0.1, 0.01},       // per prompt token, as its compute: tokenising
	betas + 3: {0, 0.005, 0.02, 0.005}, // s: every request
}

// penalties returns the ridge of a fit with weight lambda, column by column.
func (f *Family) penalties(lambda float64, power func(column int) float64) []float64 {
	list := make([]float64, columns)
	for i, b := range f.bounds {
		if b.scale > 0 {
			list[i] = lambda / (b.scale * b.scale)
		} else {
			list[i] = lambda * power(i)
		}
	}
	return list
}

// boundSlices returns bounds as three slices.
func boundSlices(bounds *[columns]bound) (lower, usual, upper []float64) {
	for _, b := range bounds {
		lower, usual, upper = append(lower, b.lower), append(usual, b.usual), append(upper, b.upper)
	}
	return lower, usual, upper
}
