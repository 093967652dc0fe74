package study

import (
	"math"
	"slices"

	"blis/vtime"
)

// The moving-block bootstrap: a series of n windows is put together again out
// of blocks of neighbouring windows, drawn with replacement, many times over;
// how much a number differs between these series says how uncertain it is.
// Blocks keep what lies close together: a queue that is long in one window is
// long in the next. Künsch, "The jackknife and the bootstrap for general
// stationary observations", Annals of Statistics 17 (1989); Liu and Singh,
// "Moving blocks jackknife and bootstrap capture weak dependence" (1992).

const (
	// resamples is the number of series. With 1,000 a standard error varies by 2 %
	// from one set of series to the next.
	resamples = 1000

	mostWindows    = 200 // of a run
	fewestWindows  = 20  // below that nothing can be said
	windowRequests = 20  // at least, on average
	fewestBlocks   = 10  // in a series: no block is longer than a tenth of it
)

// windowsFor is the number of windows of a run with that many requests; 0 if it is
// too short.
func windowsFor(requests int) int {
	n := min(requests/windowRequests, mostWindows)
	if n < fewestWindows {
		return 0
	}
	return n
}

// drawWeights calls use with the weights of one series after another: how often
// it has each of the n windows, n times in all. They depend on the seed alone.
// use must not keep them.
func drawWeights(seed uint64, n, block int, use func(series int, weights []int32)) {
	stream := vtime.NewStream(seed, "study/bootstrap")
	weights := make([]int32, n)
	for series := range resamples {
		clear(weights)
		for left := n; left > 0; left -= block {
			from := stream.IntN(n - block + 1)
			for i := range min(block, left) {
				weights[from+i]++
			}
		}
		use(series, weights)
	}
}

// standardError is the standard deviation of a number over all series, and
// whether it is known: not when the number could not be measured in one of them.
func standardError(series []float64) (float64, bool) {
	for _, x := range series {
		if math.IsNaN(x) {
			return 0, false
		}
	}
	_, spread := moments(series)
	return spread, true
}

// blockedHalfWidth is the half-width of a confidence interval: the standard
// error times the quantile of Student's t, whose degrees of freedom are the
// blocks that a series has room for, less one. The means of blocks lie closer to
// the mean of all than to the true one, by the share of the series that a block
// is; √(n/(n−block)) makes up for that.
func blockedHalfWidth(series []float64, windows, block int, confidence float64) *float64 {
	spread, ok := standardError(series)
	if !ok {
		return nil
	}
	whole := math.Sqrt(float64(windows) / float64(windows-block))
	half := float64(quantileT(windows/block-1, confidence) * spread * whole)
	return &half
}

// blockLength is how long blocks must be, in windows, for the mean of a series:
// about where it no longer remembers, the longer the longer it is. Politis and
// White, "Automatic block-length selection for the dependent bootstrap",
// Econometric Reviews 23 (2004), with Patton's correction (28, 2009), and half
// as long again: their length makes the error of the standard error smallest,
// most of which is that it comes out too small, and an interval that is too
// narrow is worse than one that is too wide. 1 when all windows are the same.
func blockLength(series []float64) float64 {
	n := len(series)
	r := autocovariance(series, n-1)
	if r[0] == 0 {
		return 1
	}
	size := float64(n)
	band := float64(2 * math.Sqrt(math.Log10(size)/size))
	run := max(5, int(math.Ceil(math.Sqrt(math.Log10(size)))))
	most := int(math.Ceil(math.Sqrt(size))) + run
	lag := min(2*lastSignificant(r, band, run, most), most, n-1)
	long, slope := r[0], 0.0 // Σ λ r(k) and Σ λ |k| r(k) over all lags
	for k := 1; k <= lag; k++ {
		taper := min(1, 2-float64(2*float64(k)/float64(lag)))
		long += float64(2 * taper * r[k])
		slope += float64(2 * taper * float64(k) * r[k])
	}
	if long <= 0 {
		return 1
	}
	ratio := slope / long // G²/D with D = 4/3 long² for blocks of one length
	return max(1, float64(1.5*math.Cbrt(float64(1.5*float64(ratio*ratio)*size))))
}

// lastSignificant is the lag after which run lags in a row stay within the
// band: where the series has forgotten.
func lastSignificant(r []float64, band float64, run, most int) int {
	quiet := 0
	for k := 1; k < len(r) && k <= most; k++ {
		quiet++
		if math.Abs(r[k]/r[0]) >= band {
			quiet = 0
		}
		if quiet == run {
			return max(1, k-run)
		}
	}
	return most
}

// autocovariance is the autocovariance of a series at lags from 0 to most,
// around the mean of all and divided by n, as Politis and White need it; those
// of the libraries take the mean of each part and divide by its length less one.
func autocovariance(series []float64, most int) []float64 {
	mean, _ := moments(series)
	r := make([]float64, most+1)
	for k := range r {
		for i := k; i < len(series); i++ {
			r[k] += float64((series[i] - mean) * (series[i-k] - mean))
		}
		r[k] /= float64(len(series))
	}
	return r
}

// median is the median of a list that is not empty: of an even number the upper
// one in the middle, an element of the list. The libraries take their mean, or
// the lower one.
func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}
