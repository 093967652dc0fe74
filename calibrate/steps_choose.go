package calibrate

import (
	"context"
	"fmt"
	"math"

	"blis/calibrate/regress"
	"blis/latency"
)

// stepSum is some rows added up, for one γ.
type stepSum struct {
	system    *regress.System
	low, high latency.BetaVector // of the features
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

// moves reports whether a column changes so much that its coefficient means
// something: a microsecond, or a thousandth of a share. Ridge on standardised
// columns knows no scale, and the last traces of a preemption long ago would
// get a coefficient of hours.
func (s *stepSum) moves(j int) bool {
	least := 1e-3
	if inSeconds[j] {
		least = 1e-6
	}
	return s.high[j]-s.low[j] > least && s.system.Variance(j, constant) > 0
}

// inSeconds are the columns that are times (latency.md 3).
var inSeconds = [betas]bool{0: true, 1: true, 2: true, 3: true, 4: true, 8: true, 12: true, 13: true}

// rounding is the smallest share of the power of a column that sums tell.
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
		case !s.moves(j):
			r.Lower[j], r.Upper[j] = o.Toward[j], o.Toward[j]
		default:
			// λ·sd² where weights add up to n; these do not. Models may differ so
			// little that rounding would hide the penalty of columns that differ alike.
			r.Penalty[j] = float64(lambda*s.system.Variance(j, constant)/n) + float64(rounding*s.system.Power(j))
		}
	}
	return r
}

// stepFitter fits rows of a table.
type stepFitter struct {
	table   *stepTable
	options StepOptions
	// For each γ and configuration what a fit sees of it: in each fold, and last
	// all of it.
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

// sum adds rows up, with γ number g.
func (t *stepTable) sum(rows []int, g int) *stepSum {
	s := newStepSum()
	for _, i := range rows {
		r := &t.rows[i]
		x := r.vector(g)
		s.add(&x, r.seconds, r.weight)
	}
	return s
}

// mergedSum adds up what a fit sees of several configurations in fold k.
func (f *stepFitter) mergedSum(configurations []int, g, k int) *stepSum {
	all := newStepSum()
	for _, c := range configurations {
		all.merge(f.sums[g][c][k])
	}
	return all
}

// solve is the coefficients for a sum.
func (f *stepFitter) solve(ctx context.Context, s *stepSum, lambda float64) (latency.BetaVector, error) {
	var beta latency.BetaVector
	if err := ctx.Err(); err != nil {
		return beta, err
	}
	c, err := s.system.Solve(s.options(lambda, &f.options))
	copy(beta[:], c)
	return beta, err
}

// fit chooses, fits and judges, with all configurations.
func (f *stepFitter) fit(ctx context.Context) (*StepFit, error) {
	all := make([]int, len(f.table.names))
	for c := range all {
		all[c] = c
	}
	chosen, err := f.choose(ctx, all)
	if err != nil {
		return nil, err
	}
	fit, err := f.final(ctx, all, chosen)
	if err != nil {
		return nil, err
	}
	return fit, f.estimateErrors(ctx, fit, all, chosen)
}

// stepChoice is what cross-validation came to.
type stepChoice struct {
	gamma  int // number of it
	lambda float64
	trials []StepTrial
	folds  [stepFolds]*stepFold
	beta   [stepFolds]latency.BetaVector // of the fit without what the fold holds out
}

// choose finds γ and λ for configurations: those whose fits to all but one block
// of time of each predict that block best.
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
			beta, loss, err := f.try(ctx, best.folds, sums, g, lambda)
			if err != nil {
				return nil, err
			}
			best.trials = append(best.trials, StepTrial{gammas[g], lambda, loss})
			if loss < least {
				least, best.gamma, best.lambda, best.beta = loss, g, lambda, beta
			}
		}
	}
	return best, nil
}

// try fits every fold with one γ and λ. Loss is of the rows held out.
func (f *stepFitter) try(ctx context.Context, all [stepFolds]*stepFold, sums [stepFolds]*stepSum, g int, lambda float64) (
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
			counted += r.counts()
		}
	}
	return beta, loss / counted, nil
}

// predict is the time of the row by coefficients, in seconds.
func (r *stepRow) predict(beta *latency.BetaVector, g int) float64 {
	x := r.vector(g)
	return dot(x[:], beta[:])
}
