package calibrate

import (
	"context"
	"fmt"
	"math"
	"slices"

	"blis/calibrate/regress"
	"blis/latency"
)

// PassOptions are options of a fit to forward passes.
type PassOptions struct {
	// Lambda is the weight of the ridge toward usual values, relative to each column's
	// power. 0: DefaultPassLambda.
	Lambda   float64
	Progress func(done, of int, what string) // before each fit; nil: nobody asks
}

// DefaultPassLambda is PassOptions.Lambda by default. It was chosen by errors on held-out
// TP degrees of the public passes of Qwen3-32B: from 10⁻⁶ to 10⁻² no median changes by
// more than 1.3 points, beyond that those of decodes grow.
const DefaultPassLambda = 0.003

// PassFit holds coefficients of the step time that were fitted to forward passes.
type PassFit struct {
	Beta   latency.BetaVector `json:"beta"`
	Errors latency.BetaVector `json:"errors"` // standard errors; 0: at a bound, or without data
	// Usual names the features that are 0 in all passes but have a coefficient: the
	// usual value.
	Usual  []string `json:"usual"`
	Lambda float64  `json:"lambda"`
	Passes int      `json:"passes"` // from which the fit learned

	Range    PassRange      `json:"range"`
	Outliers []OutlyingPass `json:"outliers"`  // that it did not learn from
	InSample []PassErrors   `json:"in_sample"` // by configuration, then kind
	HeldOut  []PassErrors   `json:"held_out"`  // of a fit to all other configurations; none if there is one
}

const (
	// passRounds is the number of solutions of a fit to passes. Each gives large errors
	// less weight, by the errors of the one before.
	passRounds = 12

	// passErrorMost is the relative error up to which errors of passes count with their
	// square (Huber): passes scatter by one or two percent.
	passErrorMost = 0.05
)

// FitPasses fits the coefficients of the step time to forward passes that were measured
// alone. It minimises the squares of relative errors within bounds, drawn to usual
// values. Errors above passErrorMost count with their size (Huber), so that a few odd
// passes do not decide. Prefills, decodes and mixed passes of a configuration have the
// same weight together, as their numbers are what somebody chose to measure.
//
// With several configurations each is predicted by a fit to the others. An error is one
// line for the user. When ctx ends, the fit ends before its next solution with the error
// of ctx. Equal arguments give equal bits on one machine.
func FitPasses(ctx context.Context, data []StepData, o PassOptions) (*PassFit, error) {
	if o.Lambda == 0 {
		o.Lambda = DefaultPassLambda
	}
	if !(o.Lambda > 0 && o.Lambda <= unbounded) {
		return nil, fmt.Errorf("passes: λ is %v, want a number above 0", o.Lambda)
	}
	f := &PassFit{Lambda: o.Lambda}
	rows, err := f.collect(data)
	if err != nil {
		return nil, err
	}
	fits := 1
	if len(data) > 1 {
		fits += len(data)
	}
	progress := func(done int, what string) {
		if o.Progress != nil {
			o.Progress(done, fits, what)
		}
	}
	progress(0, "fit to everything")
	system, err := f.fit(ctx, slices.Concat(rows...))
	if err != nil {
		return nil, err
	}
	spread := system.Spread(passBox(system, o.Lambda), f.Beta[:])
	copy(f.Errors[:], spread.Errors)
	for j, c := range f.Beta {
		if c != 0 && system.Power(j) == 0 {
			f.Usual = append(f.Usual, latency.BetaNames[j])
		}
	}
	for i := range rows {
		f.InSample = append(f.InSample, passErrors(data[i].Name, i, rows[i], &f.Beta)...)
	}
	for i := range rows[:fits-1] {
		progress(1+i, "without "+data[i].Name)
		held := &PassFit{Lambda: o.Lambda}
		if _, err := held.fit(ctx, slices.Concat(slices.Concat(rows[:i]...), slices.Concat(rows[i+1:]...))); err != nil {
			return nil, err
		}
		f.HeldOut = append(f.HeldOut, passErrors(data[i].Name, i, rows[i], &held.Beta)...)
	}
	return f, nil
}

// passRow is a pass with its features.
type passRow struct {
	x       latency.BetaVector
	seconds float64
	weight  float64 // the rows of a kind in a configuration have 1 together
	kind    passKind
}

// collect returns the rows of each configuration, and notes outliers and ranges.
func (f *PassFit) collect(data []StepData) ([][]passRow, error) {
	if len(data) == 0 {
		return nil, fmt.Errorf("passes: no configurations: want forward passes measured alone")
	}
	rows := make([][]passRow, len(data))
	for i := range data {
		d := &data[i]
		if slices.ContainsFunc(data[:i], func(other StepData) bool { return other.Name == d.Name }) {
			return nil, fmt.Errorf("steps of %s: a second configuration of this name: want one for each", d.Name)
		}
		passes, outliers := d.Passes()
		if len(passes) == 0 {
			return nil, fmt.Errorf("steps of %s: no forward passes measured alone", d.Name)
		}
		f.Outliers = append(f.Outliers, outliers...)
		f.Passes += len(passes)
		f.Range.add(passes)
		rows[i] = passRows(d.Features, passes)
	}
	return rows, nil
}

func passRows(features *latency.Features, passes []Pass) []passRow {
	rows := make([]passRow, len(passes))
	var count [passKinds]float64
	for i := range passes {
		p := &passes[i]
		rows[i] = passRow{x: features.Beta(&p.Batch), seconds: p.Seconds, kind: p.kind()}
		count[p.kind()]++
	}
	for i := range rows {
		rows[i].weight = 1 / count[rows[i].kind]
	}
	return rows
}

// fit sets Beta to the coefficients for rows, and returns the sums of the last solution.
func (f *PassFit) fit(ctx context.Context, rows []passRow) (system *regress.System, err error) {
	for round := range passRounds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		system = regress.New(betas)
		for i := range rows {
			r := &rows[i]
			weight := r.weight / float64(r.seconds*r.seconds)
			if round > 0 {
				weight /= max(1, math.Abs(r.error(&f.Beta))/passErrorMost)
			}
			system.Add(r.x[:], r.seconds, weight)
		}
		c, err := system.Solve(passBox(system, f.Lambda))
		if err != nil {
			return nil, err
		}
		copy(f.Beta[:], c)
	}
	return system, nil
}

// passBox returns the bounds and penalties of a fit to passes. These determine most
// coefficients, so distances from usual values count in units of what a feature adds to
// the times, as for a coefficient without bound.scale.
func passBox(system *regress.System, lambda float64) regress.Options {
	lower, usual, upper := boundSlices(&physicsBounds)
	o := regress.Options{Penalty: make([]float64, betas), Toward: usual[:betas], Lower: lower[:betas], Upper: upper[:betas]}
	for j := range o.Penalty {
		o.Penalty[j] = lambda * system.Power(j)
	}
	return o
}

// error returns the relative error of the prediction of the row.
func (r *passRow) error(beta *latency.BetaVector) float64 { return dot(r.x[:], beta[:])/r.seconds - 1 }
