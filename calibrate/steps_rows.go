package calibrate

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"blis/calibrate/measured"
	"blis/latency"
)

// dropReason is why a step is not a row of a fit, in the order of reports.
type dropReason int

const (
	kept dropReason = iota - 1
	noPeriod
	noBatch
	warming
	noSums
	idling
	outlying
	besideHeldOut
	dropReasons
)

var dropTexts = [dropReasons]string{
	noPeriod:      "period not known",
	noBatch:       "step before not in the trace, whose batch ran (async scheduling)",
	warming:       "warm-up, the first 10 steps of a configuration",
	noSums:        "requests of the batch not told",
	idling:        "engine may have waited for requests",
	outlying:      "longer than 5 times the median of its size",
	besideHeldOut: "between the fit and what is held out of it",
}

const (
	warmSteps       = 10  // first steps, which are left out: caches, clocks and graphs warm up
	fewestRows      = 50  // of a configuration: 40 for a fit of 16 coefficients, 10 to test it
	outlier         = 5   // times the median of its size class
	medianRows      = 5   // fewest rows of a size class with a median
	preemptionLimit = 0.1 // preemption average above which a row is near a preemption
)

// roughBeta holds rough coefficients of a step: kernels at two thirds of the peaks,
// and a millisecond of the host. Only the weights of rows come from it. Weights from
// measured times would favour steps that were short by chance, and weights from a
// fit would leak the rows of a test fold into its training.
var roughBeta = latency.BetaVector{0: 1.5, 1: 1.5, 2: 1.5, 4: 1.5, 8: 1, 15: 1e-3}

// stepRow is one batch and how long it took.
type stepRow struct {
	x              latency.BetaVector
	ema            [len(gammas)]float64 // the preemption term, for each γ
	seconds        float64
	weight         float64
	tokens         int64
	nearPreemption bool
	// Steps that belong to the row, numbered across all configurations: from the step
	// that formed the batch to the step whose start ended the period.
	first, last int
}

const preemption, constant = 11, 15 // columns

// share returns 0.5 for rows near preemptions, 1 for others: the factor of weight.
func (r *stepRow) share() float64 {
	if r.nearPreemption {
		return 0.5
	}
	return 1
}

// vector returns the features of the row with γ number g.
func (r *stepRow) vector(g int) latency.BetaVector {
	x := r.x
	x[preemption] = r.ema[g]
	return x
}

// stepTable holds the rows of all configurations and their division into folds. It
// does not depend on the fit.
type stepTable struct {
	names   []string
	rows    []stepRow             // by configuration, in order of time
	whole   []stepFold            // of each configuration: learns from the first four fifths, tested on the last
	parts   [][stepFolds]stepFold // of each configuration: the training rows of whole, divided again
	steps   int                   // in the data
	starts  []int                 // number of the first step of each configuration
	dropped [dropReasons]int
}

// prepare makes rows of steps and divides them. Errors name the configuration.
func prepare(data []StepData) (*stepTable, error) {
	if len(data) == 0 {
		return nil, errors.New("steps: no configurations: want traces of steps")
	}
	t := &stepTable{}
	number := 0
	for i := range data {
		d := &data[i]
		if slices.Contains(t.names, d.Name) {
			return nil, fmt.Errorf("steps of %s: a second configuration of this name: want one for each", d.Name)
		}
		if err := d.check(); err != nil {
			return nil, err
		}
		from := len(t.rows)
		dropped := t.collect(d, number)
		t.starts = append(t.starts, number)
		number += len(d.Steps) + 2 // the period of the last one ends beyond the trace
		whole, parts := t.divide(from, &dropped)
		if n := len(whole.train) + len(whole.test); n < fewestRows {
			return nil, fmt.Errorf("steps of %s: %d of %d steps can be used%s: want at least %d", d.Name, n, len(d.Steps), dropList(&dropped), fewestRows)
		}
		t.whole, t.parts = append(t.whole, whole), append(t.parts, parts)
		for why, n := range dropped {
			t.dropped[why] += n
		}
		t.names = append(t.names, d.Name)
		t.steps += len(d.Steps)
	}
	return t, nil
}

// check refuses traces from which the features of attention cannot be computed.
func (d *StepData) check() error {
	told := func(s measured.Step) bool { return s.HasSums }
	const want = "want columns prefill_pairs, prefill_context, decode_context, sampled_rows, or REQUEST_SNAPSHOT events"
	switch {
	case d.Features == nil:
		return fmt.Errorf("steps of %s: no features: want those of its deployment", d.Name)
	case len(d.Steps) == 0:
		return fmt.Errorf("steps of %s: no steps: want a trace with step.BATCH_SUMMARY events, or a CSV file of steps", d.Name)
	case d.arePasses():
		return fmt.Errorf("steps of %s: forward passes measured alone, not periods of steps", d.Name)
	case slices.ContainsFunc(d.Steps, told):
		return nil
	case d.ChunkedPrefill:
		return fmt.Errorf("steps of %s: chunked prefill, and nothing of the requests in its batches, so their attention is not known: %s", d.Name, want)
	}
	return fmt.Errorf("steps of %s: nothing of the requests in its batches, so their attention is not known: %s", d.Name, want)
}

// dropList returns the dropped steps by reason, " (3 …; 4 …)", "" if there are none.
func dropList(dropped *[dropReasons]int) string {
	var list []string
	for why, n := range dropped {
		if n > 0 {
			list = append(list, fmt.Sprintf("%d %s", n, dropTexts[why]))
		}
	}
	if len(list) == 0 {
		return ""
	}
	return " (" + strings.Join(list, "; ") + ")"
}

// collect appends the rows of a configuration whose steps are numbered from
// number on.
func (t *stepTable) collect(d *StepData, number int) (dropped [dropReasons]int) {
	averages := d.averages()
	for n := range d.Steps {
		k, why := d.batchOf(n)
		if why != kept {
			dropped[why]++
			continue
		}
		s := &d.Steps[k]
		r := stepRow{seconds: d.Steps[n].Period / 1e6, tokens: s.PrefillTokens + s.DecodeTokens, first: number + k, last: number + n + 1}
		for g := range gammas {
			r.x = d.Features.Beta(stepBatch(s, averages[g][k]))
			r.ema[g] = r.x[preemption]
		}
		u := dot(r.x[:], roughBeta[:])
		// With γ of the simulation, so that weights are the same for all candidates.
		r.nearPreemption = s.Preempted > 0 || averages[0][k] > preemptionLimit
		r.weight = r.share() / float64(u*u)
		t.rows = append(t.rows, r)
	}
	return dropped
}
