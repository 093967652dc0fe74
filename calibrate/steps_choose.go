package calibrate

import (
	"context"
	"fmt"
	"math"

	"blis/calibrate/regress"
	"blis/latency"
)

// stepSum holds the sums over some rows, for one γ.
type stepSum struct {
	system    *regress.System
	low, high latency.BetaVector // least and largest value of each feature
}

func newStepSum() *stepSum {
	s := &stepSum{system: regress.New(betas)}
	for j := range s.low {
		s.low[j] = math.Inf(1)
	}
	return s
}

func (s *stepSum) add(x *latency.BetaVector, seconds, weight float64) {
	s.system.Add(x[:], seconds, weight)
	s.widen(x, x)
}

func (s *stepSum) merge(o *stepSum) {
	s.system.Merge(o.system)
	s.widen(&o.low, &o.high)
}

func (s *stepSum) widen(low, high *latency.BetaVector) {
	for j := range s.low {
		s.low[j], s.high[j] = math.Min(s.low[j], low[j]), math.Max(s.high[j], high[j])
	}
}

// varies reports whether a column changes enough to fit its coefficient: by a
// microsecond, or by a thousandth for a share. Ridge on standardised columns has no
// scale: what is left of the average long after a preemption would get a
// coefficient of hours. Fits to steps are of version 1 of the features: those of
// version 2 need several models and usual values to be told apart.
func (s *stepSum) varies(j int) bool {
	if j >= latency.BetasOfVersion1 {
		return false
	}
	least := 1e-3
	if inSeconds[j] {
		least = 1e-6
	}
	return s.high[j]-s.low[j] > least && s.system.Variance(j, constant) > 0
}

// inSeconds marks the columns that are times (docs/latency.md 3).
var inSeconds = [betas]bool{0: true, 1: true, 2: true, 3: true, 4: true, 8: true, 12: true, 13: true}

// rounding is the smallest share of the power of a column that sums can resolve.
const rounding = 1e-12

// options returns the options of a solution with penalty λ.
func (s *stepSum) options(lambda float64, o *StepOptions) regress.Options {
	r := regress.Options{Penalty: make([]float64, betas), Toward: o.Toward[:], Lower: make([]float64, betas), Upper: make([]float64, betas)}
	n := float64(s.system.Rows())
	for j := range betas {
		r.Upper[j] = unbounded
		if o.Signed {
			r.Lower[j] = -unbounded
		}
		switch {
		case j == constant:
		case !s.varies(j):
			r.Lower[j], r.Upper[j] = o.Toward[j], o.Toward[j]
		default:
			// The penalty is λ·sd² for weights that add up to n; these weights do not,
			// hence Variance/n. Columns of similar models may be so much alike that
			// rounding would hide the penalty, hence the second term.
			r.Penalty[j] = float64(lambda*s.system.Variance(j, constant)/n) + float64(rounding*s.system.Power(j))
		}
	}
	return r
}

// stepFitter fits rows of a table.
type stepFitter struct {
	table   *stepTable
	options StepOptions
	// Training rows added up, by γ, configuration and fold; last: without a fold held out.
	sums [len(gammas)][][stepFolds + 1]*stepSum
}

func newStepFitter(t *stepTable, o StepOptions) *stepFitter {
	f := &stepFitter{table: t, options: o}
	for g := range gammas {
		f.sums[g] = make([][stepFolds + 1]*stepSum, len(t.names))
		for c := range t.names {
			for k := range t.parts[c] {
				f.sums[g][c][k] = t.sum(t.parts[c][k].train, g)
			}
			f.sums[g][c][stepFolds] = t.sum(t.whole[c].train, g)
		}
	}
	return f
}

// sum returns the sum of rows, with γ number g.
func (t *stepTable) sum(rows []int, g int) *stepSum {
	s := newStepSum()
	for _, i := range rows {
		r := &t.rows[i]
		x := r.vector(g)
		s.add(&x, r.seconds, r.weight)
	}
	return s
}

// mergedSum returns the sum of the training rows of several configurations in fold k.
func (f *stepFitter) mergedSum(configurations []int, g, k int) *stepSum {
	all := newStepSum()
	for _, c := range configurations {
		all.merge(f.sums[g][c][k])
	}
	return all
}

// solve returns the coefficients for a sum of rows.
func (f *stepFitter) solve(ctx context.Context, s *stepSum, lambda float64) (latency.BetaVector, error) {
	var beta latency.BetaVector
	if err := ctx.Err(); err != nil {
		return beta, err
	}
	c, err := s.system.Solve(s.options(lambda, &f.options))
	copy(beta[:], c)
	return beta, err
}

// fit chooses γ and λ, fits, and estimates errors, with all configurations.
func (f *stepFitter) fit(ctx context.Context) (*StepFit, error) {
	all := make([]int, len(f.table.names))
	for c := range all {
		all[c] = c
	}
	chosen, err := f.choose(ctx, all)
	if err != nil {
		return nil, err
	}
	fit, err := f.fitAll(ctx, all, chosen)
	if err != nil {
		return nil, err
	}
	return fit, f.estimateErrors(ctx, fit, all, chosen)
}

// stepChoice is the result of cross-validation.
type stepChoice struct {
	gammaIndex int // in gammas
	lambda     float64
	trials     []StepTrial
	folds      [stepFolds]*stepFold
	beta       [stepFolds]latency.BetaVector // of the fit without the held-out rows of the fold
}

// choose finds γ and λ for configurations by cross-validation: a fit to all but one
// block of time of each configuration predicts that block.
func (f *stepFitter) choose(ctx context.Context, configurations []int) (*stepChoice, error) {
	best := &stepChoice{}
	for k := range best.folds {
		var parts []*stepFold
		for _, c := range configurations {
			parts = append(parts, &f.table.parts[c][k])
		}
		best.folds[k] = joinFolds(fmt.Sprint(k+1), parts...)
		if err := f.table.check(best.folds[k]); err != nil {
			return nil, err
		}
	}
	least := math.Inf(1)
	for g := range gammas {
		var sums [stepFolds]*stepSum
		for k := range sums {
			sums[k] = f.mergedSum(configurations, g, k)
		}
		for _, lambda := range lambdas {
			beta, loss, err := f.crossValidate(ctx, best.folds, sums, g, lambda)
			if err != nil {
				return nil, err
			}
			best.trials = append(best.trials, StepTrial{gammas[g], lambda, loss})
			if loss < least {
				least, best.gammaIndex, best.lambda, best.beta = loss, g, lambda, beta
			}
		}
	}
	return best, nil
}

// crossValidate fits every fold with one γ and λ. loss is the mean square error of
// the held-out rows, weighted.
func (f *stepFitter) crossValidate(ctx context.Context, all [stepFolds]*stepFold, sums [stepFolds]*stepSum, g int, lambda float64) (
	beta [stepFolds]latency.BetaVector, loss float64, err error) {
	counted := 0.0
	for k, fold := range all {
		if beta[k], err = f.solve(ctx, sums[k], lambda); err != nil {
			return beta, 0, err
		}
		for _, i := range fold.test {
			r := &f.table.rows[i]
			e := r.seconds - r.predict(&beta[k], g)
			loss += float64(r.weight * float64(e*e))
			counted += r.share()
		}
	}
	return beta, loss / counted, nil
}

// predict returns the time of the row by these coefficients, in seconds.
func (r *stepRow) predict(beta *latency.BetaVector, g int) float64 {
	x := r.vector(g)
	return dot(x[:], beta[:])
}
