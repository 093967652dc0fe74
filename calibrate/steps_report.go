package calibrate

import (
	"context"
	"math"

	"blis/calibrate/regress"
	"blis/latency"
)

// decided is the share from which on a coefficient is the data's word.
const decided = 0.99

// final fits to all training rows.
func (f *stepFitter) final(ctx context.Context, configurations []int, chosen *stepChoice) (*StepFit, error) {
	t := f.table
	fit := &StepFit{Lambda: chosen.lambda, Gamma: gammas[chosen.gamma], Trials: chosen.trials, Steps: t.steps}
	all := f.mergedSum(configurations, chosen.gamma, stepFolds)
	var err error
	if fit.Beta, err = f.solve(ctx, all, chosen.lambda); err != nil {
		return nil, err
	}
	for _, c := range configurations {
		fit.Rows += len(t.whole[c].train)
		fit.HeldOut += len(t.whole[c].test)
		for _, i := range t.whole[c].train {
			if t.rows[i].heavy {
				fit.Halved++
			}
		}
	}
	for why, n := range t.dropped {
		if n > 0 {
			fit.Dropped = append(fit.Dropped, DroppedSteps{dropTexts[why], n})
		}
	}
	f.spread(fit, all, configurations, chosen)
	fit.Freedom = all.system.Spread(all.options(chosen.lambda, &f.options), fit.Beta[:]).Freedom
	fit.name(all)
	return fit, nil
}

// spread says how well data determine the coefficients. It asks so without
// bounds: where one is held at a bound, those that look like it would seem sure
// of what noise made of them.
func (f *stepFitter) spread(fit *StepFit, all *stepSum, configurations []int, chosen *stepChoice) {
	open := all.options(chosen.lambda, &StepOptions{Signed: true})
	leverage := all.system.Leverage(open, fit.Beta[:])
	scatter := regress.New(betas)
	for _, c := range configurations {
		for _, i := range f.table.whole[c].train {
			r := &f.table.rows[i]
			x := r.vector(chosen.gamma)
			e := r.weight * (r.seconds - dot(x[:], fit.Beta[:])) / math.Max(0.1, 1-leverage(x[:], r.weight))
			scatter.Add(x[:], 0, float64(e*e))
		}
	}
	spread := all.system.Robust(open, fit.Beta[:], scatter)
	copy(fit.Errors[:], spread.Errors)
	copy(fit.Shares[:], spread.Shares)
}

// name sorts terms into what the data say of them.
func (fit *StepFit) name(s *stepSum) {
	for j, name := range latency.BetaNames {
		switch {
		case j == constant:
		case !s.moves(j):
			fit.Unmoved = append(fit.Unmoved, name)
		case fit.Shares[j] < decided:
			fit.Entangled = append(fit.Entangled, name)
		}
	}
	for _, j := range []int{0, 1, 2, constant} {
		if fit.Beta[j] < 0 {
			fit.Negative = append(fit.Negative, latency.BetaNames[j])
		}
	}
}

// judge says how far the fit is off, of rows that it saw and of others.
func (f *stepFitter) estimateErrors(ctx context.Context, fit *StepFit, configurations []int, chosen *stepChoice) error {
	t, g := f.table, chosen.gamma
	held := make([]float64, len(t.rows)) // by cross-validation
	for k, fold := range chosen.folds {
		for _, i := range fold.test {
			held[i] = t.rows[i].predict(&chosen.beta[k], g)
		}
	}
	full := func(i int) float64 { return t.rows[i].predict(&fit.Beta, g) }
	byFold := func(i int) float64 { return held[i] }
	for _, c := range configurations {
		whole := &t.whole[c]
		if err := t.check(whole); err != nil {
			return err
		}
		e := StepErrors{
			Name:     t.names[c],
			Training: t.deviation(whole.train, full), CrossValidated: t.deviation(whole.train, byFold), HeldOut: t.deviation(whole.test, full),
		}
		var err error
		if e.LeftOut, err = f.leaveOut(ctx, c, configurations); err != nil {
			return err
		}
		fit.Configurations = append(fit.Configurations, e)
		fit.Residuals = t.bins(fit.Residuals, whole.train, byFold)
	}
	fit.checkTargets()
	return nil
}

// leaveOut judges a fit to all other configurations, γ and λ chosen by them
// alone. Without others there is none.
func (f *stepFitter) leaveOut(ctx context.Context, c int, configurations []int) (StepDeviation, error) {
	fold := &stepFold{name: f.table.names[c], test: append(append([]int{}, f.table.whole[c].train...), f.table.whole[c].test...)}
	var others []int
	for _, o := range configurations {
		if o != c {
			others = append(others, o)
			fold.train = append(fold.train, f.table.whole[o].train...)
		}
	}
	if len(others) == 0 {
		return StepDeviation{}, nil
	}
	if err := f.table.check(fold); err != nil {
		return StepDeviation{}, err
	}
	chosen, err := f.choose(ctx, others)
	if err != nil {
		return StepDeviation{}, err
	}
	beta, err := f.solve(ctx, f.mergedSum(others, chosen.gamma, stepFolds), chosen.lambda)
	if err != nil {
		return StepDeviation{}, err
	}
	return f.table.deviation(fold.test, func(i int) float64 { return f.table.rows[i].predict(&beta, chosen.gamma) }), nil
}

// deviation is the deviation of predictions from the rows.
func (t *stepTable) deviation(rows []int, predicted func(int) float64) StepDeviation {
	d := StepDeviation{Steps: len(rows)}
	for _, i := range rows {
		e := predicted(i)/t.rows[i].seconds - 1
		d.MAPE += math.Abs(e) / float64(len(rows))
		d.Bias += e / float64(len(rows))
	}
	return d
}

// bins adds rows to the residuals of batches by size.
func (t *stepTable) bins(list []StepBin, rows []int, predicted func(int) float64) []StepBin {
	if list == nil {
		list = make([]StepBin, len(sizes)+1)
		for k, to := range sizes {
			list[k].To, list[k+1].From = to, to+1
		}
		list[0].From = 1
	}
	for _, i := range rows {
		b := &list[sizeOf(t.rows[i].tokens)]
		b.Steps++
		// The mean so far moves toward the new one.
		b.Bias += (predicted(i)/t.rows[i].seconds - 1 - b.Bias) / float64(b.Steps)
	}
	return list
}

// checkTargets compares the errors of all configurations with the two targets.
func (fit *StepFit) checkTargets() {
	within := StepTarget{Name: "within configurations", Limit: withinLimit}
	across := StepTarget{Name: "across configurations", Limit: acrossLimit}
	for i := range fit.Configurations {
		e := &fit.Configurations[i]
		within.include(e.Name, &e.HeldOut)
		across.include(e.Name, &e.LeftOut)
	}
	for _, t := range []StepTarget{within, across} {
		if t.Of != "" {
			t.Met = t.Worst <= t.Limit
			fit.Targets = append(fit.Targets, t)
		}
	}
}

// include keeps the largest error so far.
func (t *StepTarget) include(name string, d *StepDeviation) {
	if d.Steps > 0 && (t.Of == "" || d.MAPE > t.Worst) {
		t.Of, t.Worst = name, d.MAPE
	}
}
