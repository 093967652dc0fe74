package study

import (
	"math"

	"blis/actors"
	"blis/metrics"
)

// Result is the result of a comparison; it depends on the comparison alone.
// Latencies are in µs.
type Result struct {
	// Partial: the comparison was interrupted. Replicates are then those that
	// ended for every bundle.
	Partial    bool
	Planned    int // replicates that there were to be
	Replicates []Seeds
	Intervals  Intervals

	Confidence float64
	Margin     float64
	Measures   []Measure
	Objectives []Measure  // over which Ranks are
	Bundles    []Compared // the first is the baseline
	Ranking    []int      // of Bundles, the best first; nil: no replicate ended. See order.
	Notes      []string   // conditions under which the numbers hold

	fitness metrics.Fitness
	short   bool // for the bootstrap
}

// Weighed reports whether the runs have a fitness.
func (r *Result) Weighed() bool { return len(r.fitness.Terms) > 0 }

// Seeds are the seeds of one replicate.
type Seeds struct{ Seed, Workload uint64 }

// Compared is a bundle with its results.
type Compared struct {
	Name   string
	Config actors.Config // effective, of the first replicate
	Setup  actors.Setup

	// BeyondFit says where its first run went beyond the data of its coefficients,
	// as actors.Result has it.
	BeyondFit string

	// Err is why the bundle has no estimates: it could not be read, cannot run,
	// or a run of it failed.
	Err error

	Runs int    // that it takes; 0 where Same or Err say why
	Same string // the earlier bundle whose policies are the same in effect, and whose runs count for this one too

	// Rank is the Pareto rank over the objectives: 1 for bundles that no other
	// beats in everything; 0 when no replicate ended, or with Err.
	Rank      int
	Estimates []Estimate // of Result.Measures, in their order; none with Err
}

// Scales reports whether the number of instances may change.
func (c *Compared) Scales() bool { return c.Err == nil && c.Config.Policies.Autoscale.Type != "none" }

// Estimate is one measure of one bundle.
type Estimate struct {
	Values  Values // of the replicates
	Missing int    // how many of them are nil

	Mean      *float64 // nil: missing in a replicate, or none ended
	HalfWidth *float64 // of its confidence interval; nil: as Mean, or there is none

	Difference *Difference // to the baseline; nil: is it, or one of the two has no mean
	Verdict    Verdict
}

// Difference is the difference of a bundle to the baseline, replicate by replicate.
type Difference struct {
	Mean      float64
	HalfWidth *float64 // nil: there is no interval
	Relative  *float64 // Mean over the mean of the baseline; nil: the latter is 0
}

// Verdict compares a bundle with the baseline in a measure.
type Verdict string

// Verdicts.
const (
	Baseline     Verdict = "baseline" // the bundle is what others are compared with
	Better       Verdict = "better"
	Worse        Verdict = "worse"
	NoDifference Verdict = "no significant difference"
	NotMeasured  Verdict = "not measured" // missing in a replicate of it or of the baseline
	Undecided    Verdict = "undecided"    // no interval: fewer than two seeds ended, or the bootstrap does not know the measure
)

// Verdicts lists them, Baseline apart, in the order in which they print.
func Verdicts() []Verdict { return []Verdict{Better, Worse, NoDifference, NotMeasured, Undecided} }

// evaluate computes the estimates of every bundle from the values of its
// replicates: values[bundle][replicate].
func (r *Result) evaluate(values [][]Values) {
	for b := range r.Bundles {
		if r.Bundles[b].Err != nil {
			continue
		}
		for m := range r.Measures {
			e := newEstimate(values[b], m, r.Confidence)
			if b > 0 {
				e.against(&r.Bundles[0].Estimates[m], r.Confidence)
			}
			r.Bundles[b].Estimates = append(r.Bundles[b].Estimates, e)
		}
	}
}

// giveVerdicts gives every estimate its verdict.
func (r *Result) giveVerdicts() {
	for b := range r.Bundles {
		for m := range r.Bundles[b].Estimates {
			e := &r.Bundles[b].Estimates[m]
			switch base := &r.Bundles[0].Estimates[m]; {
			case b == 0:
				e.Verdict = Baseline
			case e.Missing+base.Missing > 0:
				e.Verdict = NotMeasured
			case e.Difference == nil:
				e.Verdict = Undecided
			default:
				e.Verdict = e.Difference.verdict(r.Measures[m].Better, r.Margin, r.Intervals.Method == Exact)
			}
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
func (e *Estimate) against(base *Estimate, confidence float64) {
	if e.Mean == nil || base.Mean == nil {
		return
	}
	var samples []float64
	for i, x := range e.samples() {
		samples = append(samples, x-*base.Values[i])
	}
	i := estimate(samples, confidence)
	e.Difference = &Difference{Mean: i.mean, HalfWidth: i.half}
	if share := i.mean / math.Abs(*base.Mean); !math.IsNaN(share) && !math.IsInf(share, 0) {
		e.Difference.Relative = &share
	}
}

// verdict: a difference counts when its interval leaves 0 out and when it is
// not too small to matter. With many replicates, or with replicates that hardly
// differ, the first alone would find everything significant. What is exact
// needs no interval.
func (d *Difference) verdict(better metrics.Direction, margin float64, exact bool) Verdict {
	switch {
	case d.HalfWidth == nil && !exact:
		return Undecided
	case d.Mean == 0 || d.HalfWidth != nil && math.Abs(d.Mean) <= *d.HalfWidth:
		return NoDifference
	case d.Relative != nil && math.Abs(*d.Relative) < margin:
		return NoDifference
	case (d.Mean > 0) == (better == metrics.Higher):
		return Better
	}
	return Worse
}
