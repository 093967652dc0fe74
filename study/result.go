package study

import (
	"math"

	"blis/actors"
	"blis/metrics"
)

// Result is what a comparison yields: a function of it alone. Latencies are in
// µs.
type Result struct {
	// Partial: the comparison was interrupted. Replicates are then those that
	// ended for every bundle.
	Partial    bool
	Planned    int // replicates that there were to be
	Replicates []Seeds

	Confidence float64
	Margin     float64
	Measures   []Measure
	Objectives []Measure  // over which Ranks are
	Bundles    []Compared // the first is the baseline
	Notes      []string   // what a reader must know to trust the numbers
}

// Seeds are those of one replicate.
type Seeds struct{ Seed, Workload uint64 }

// Compared is a bundle with what came of it.
type Compared struct {
	Name   string
	Config actors.Config // effective, of the first replicate
	Setup  actors.Setup

	// Rank is the Pareto rank over the objectives: 1 for bundles that no other
	// beats in everything; 0 when no replicate ended.
	Rank      int
	Estimates []Estimate // of Result.Measures, in their order
}

// Estimate is one measure of one bundle.
type Estimate struct {
	Values  Values // of the replicates
	Missing int    // how many of them are nil

	Mean      *float64 // nil: missing in a replicate, or none ended
	HalfWidth *float64 // of its confidence interval; nil: as Mean, or a single replicate

	Difference *Difference // to the baseline; nil: is it, or one of the two has no mean
	Verdict    Verdict
}

// Difference is that of a bundle to the baseline, replicate by replicate.
type Difference struct {
	Mean      float64
	HalfWidth *float64 // nil: a single replicate
	Relative  *float64 // Mean over that of the baseline; nil: which is 0
}

// Verdict says how a bundle stands to the baseline in a measure.
type Verdict string

// Verdicts.
const (
	Baseline     Verdict = "baseline" // the bundle is what others are compared with
	Better       Verdict = "better"
	Worse        Verdict = "worse"
	NoDifference Verdict = "no significant difference"
	NotMeasured  Verdict = "not measured" // missing in a replicate of it or of the baseline
	Undecided    Verdict = "undecided"    // fewer than two replicates ended
)

// Verdicts lists them, Baseline apart, in the order in which they print.
func Verdicts() []Verdict { return []Verdict{Better, Worse, NoDifference, NotMeasured, Undecided} }

// evaluate makes the estimates of every bundle out of the values of its
// replicates: values[bundle][replicate].
func (r *Result) evaluate(values [][]Values) {
	for b := range r.Bundles {
		for m := range r.Measures {
			e := newEstimate(values[b], m, r.Confidence)
			if b == 0 {
				e.Verdict = Baseline
			} else {
				e.against(&r.Bundles[0].Estimates[m], r.Measures[m].Better, r.Confidence, r.Margin)
			}
			r.Bundles[b].Estimates = append(r.Bundles[b].Estimates, e)
		}
	}
}

// newEstimate is measure m over the replicates.
func newEstimate(replicates []Values, m int, confidence float64) Estimate {
	e := Estimate{Values: Values{}}
	for _, v := range replicates {
		e.Values = append(e.Values, v[m])
		if v[m] == nil {
			e.Missing++
		}
	}
	if e.Missing == 0 && len(e.Values) > 0 {
		i := estimate(e.samples(), confidence)
		e.Mean, e.HalfWidth = &i.mean, i.half
	}
	return e
}

// samples are the values of an estimate without missing ones.
func (e *Estimate) samples() []float64 {
	var list []float64
	for _, v := range e.Values {
		list = append(list, *v)
	}
	return list
}

// against compares with the baseline. Both had the same traffic and seeds in
// each replicate, so it is the differences that are samples, and what the
// traffic does to both falls out.
func (e *Estimate) against(base *Estimate, better metrics.Direction, confidence, margin float64) {
	if e.Missing+base.Missing > 0 {
		e.Verdict = NotMeasured
		return
	}
	if e.Mean == nil {
		e.Verdict = Undecided
		return
	}
	var samples []float64
	for i, x := range e.samples() {
		samples = append(samples, x-*base.Values[i])
	}
	i := estimate(samples, confidence)
	d := &Difference{Mean: i.mean, HalfWidth: i.half}
	if share := i.mean / math.Abs(*base.Mean); !math.IsNaN(share) && !math.IsInf(share, 0) {
		d.Relative = &share
	}
	e.Difference, e.Verdict = d, d.verdict(better, margin)
}

// verdict: a difference counts when its interval leaves 0 out and when it is
// not too small to matter. With many replicates, or with replicates that hardly
// differ, the first alone would find everything significant.
func (d *Difference) verdict(better metrics.Direction, margin float64) Verdict {
	switch {
	case d.HalfWidth == nil:
		return Undecided
	case math.Abs(d.Mean) <= *d.HalfWidth:
		return NoDifference
	case d.Relative != nil && math.Abs(*d.Relative) < margin:
		return NoDifference
	case (d.Mean > 0) == (better == metrics.Higher):
		return Better
	}
	return Worse
}
