package calibrate

import (
	"context"
	"math"
	"slices"

	"blis/calibrate/regress"
	"blis/latency"
)

// decidedByData is the least StepFit.Shares of a coefficient that the data determine.
const decidedByData = 0.99

// fitAll fits to all training rows.
func (f *stepFitter) fitAll(ctx context.Context, configurations []int, chosen *stepChoice) (*StepFit, error) {
	t := f.table
	fit := &StepFit{Lambda: chosen.lambda, Gamma: gammas[chosen.gammaIndex], Trials: chosen.trials, Steps: t.steps}
	all := f.mergedSum(configurations, chosen.gammaIndex, stepFolds)
	var err error
	if fit.Beta, err = f.solve(ctx, all, chosen.lambda); err != nil {
		return nil, err
	}
	for _, c := range configurations {
		fit.Rows += len(t.whole[c].train)
		fit.HeldOut += len(t.whole[c].test)
		for _, i := range t.whole[c].train {
			if t.rows[i].nearPreemption {
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
	fit.classifyTerms(all)
	return fit, nil
}

// spread computes how well the data determine the coefficients. It does so without
// bounds: if one is held at a bound, coefficients of similar columns would seem
// certain, though noise decided them.
func (f *stepFitter) spread(fit *StepFit, all *stepSum, configurations []int, chosen *stepChoice) {
	open := all.options(chosen.lambda, &StepOptions{Signed: true})
	leverage := all.system.Leverage(open, fit.Beta[:])
	scatter := regress.New(betas)
	for _, c := range configurations {
		for _, i := range f.table.whole[c].train {
			r := &f.table.rows[i]
			x := r.vector(chosen.gammaIndex)
			e := r.weight * (r.seconds - dot(x[:], fit.Beta[:])) / math.Max(0.1, 1-leverage(x[:], r.weight))
			scatter.Add(x[:], 0, float64(e*e))
		}
	}
	spread := all.system.Robust(open, fit.Beta[:], scatter)
	copy(fit.Errors[:], spread.Errors)
	copy(fit.Shares[:], spread.Shares)
}

// classifyTerms fills Unmoved, Entangled and Negative.
func (fit *StepFit) classifyTerms(s *stepSum) {
	for j, name := range latency.BetaNames[:latency.BetasOfVersion1] {
		switch {
		case j == constant:
		case !s.varies(j):
			fit.Unmoved = append(fit.Unmoved, name)
		case fit.Shares[j] < decidedByData:
			fit.Entangled = append(fit.Entangled, name)
		}
	}
	for _, j := range []int{0, 1, 2, constant} {
		if fit.Beta[j] < 0 {
			fit.Negative = append(fit.Negative, latency.BetaNames[j])
		}
	}
}

// estimateErrors fills Configurations, Residuals and Targets.
func (f *stepFitter) estimateErrors(ctx context.Context, fit *StepFit, configurations []int, chosen *stepChoice) error {
	t, g := f.table, chosen.gammaIndex
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

// leaveOut tests on configuration c a fit to all other configurations, which also
// choose γ and λ. Without others the result is zero.
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
	beta, err := f.solve(ctx, f.mergedSum(others, chosen.gammaIndex, stepFolds), chosen.lambda)
	if err != nil {
		return StepDeviation{}, err
	}
	return f.table.deviation(fold.test, func(i int) float64 { return f.table.rows[i].predict(&beta, chosen.gammaIndex) }), nil
}

// deviation returns the errors of the predictions of rows.
func (t *stepTable) deviation(rows []int, predicted func(int) float64) StepDeviation {
	d := StepDeviation{Steps: len(rows)}
	for _, i := range rows {
		e := predicted(i)/t.rows[i].seconds - 1
		d.MAPE += math.Abs(e) / float64(len(rows))
		d.Bias += e / float64(len(rows))
	}
	return d
}

// bins adds the errors of rows to list, by size class; nil begins a list.
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

// include updates the largest error with that of one configuration.
func (t *StepTarget) include(name string, d *StepDeviation) {
	if d.Steps > 0 && (t.Of == "" || d.MAPE > t.Worst) {
		t.Of, t.Worst = name, d.MAPE
	}
}

// stepSet returns a coefficient set of a fit to steps or passes: β is fitted, α is the
// constant front end of roofline. deployments are those of the data.
func stepSet(beta latency.BetaVector, deployments []*latency.Deployment, o TrainOptions, engine string, async bool) *latency.PhysicsSet {
	t := latency.Training{
		TPMin: deployments[0].TP, TPMax: deployments[0].TP, Engine: engine, AsyncScheduling: async, ChunkedPrefill: true, Dates: o.Dates, Data: o.Data,
	}
	add := func(list *[]string, name string) {
		if !slices.Contains(*list, name) {
			*list = append(*list, name)
		}
	}
	for _, d := range deployments {
		add(&t.Models, d.Model.Name)
		add(&t.Kinds, d.Model.Kind())
		add(&t.GPUs, d.GPU.Name)
		add(&t.Precisions, d.Model.Precision())
		t.TPMin, t.TPMax = min(t.TPMin, d.TP), max(t.TPMax, d.TP)
	}
	if slices.Equal(t.Precisions, []string{"w16a16"}) {
		t.Precisions = nil // as in files that do not say
	}
	set := &latency.PhysicsSet{Name: o.Name, TrainedOn: t, Notes: append([]string{frontEndNote}, o.Notes...), Beta: beta}
	set.Alpha[3] = latency.DefaultRoofline(nil).FrontEnd / 1e6
	return set
}

// Set returns a coefficient set of the fit. deployments are those of the data, in the
// same order.
func (f *StepFit) Set(deployments []*latency.Deployment, o TrainOptions, engine string, async bool) *latency.PhysicsSet {
	set := stepSet(f.Beta, deployments, o, engine, async)
	t := &set.TrainedOn
	t.Samples, t.Lambda, t.Gamma, t.Method = int64(f.Rows), f.Lambda, f.Gamma, "ridge"
	var within, across []float64
	for _, c := range f.Configurations {
		if c.HeldOut.Steps > 0 {
			within = append(within, 100*c.HeldOut.MAPE)
		}
		if c.LeftOut.Steps > 0 {
			across = append(across, 100*c.LeftOut.MAPE)
		}
	}
	for _, e := range []struct {
		heldOut string
		values  []float64
	}{{latency.HeldOutTail, within}, {latency.HeldOutConfiguration, across}} {
		if len(e.values) > 0 {
			slices.Sort(e.values)
			set.Errors = append(set.Errors, latency.HeldOutError{HeldOut: e.heldOut, Metric: "step", Statistic: "mean", MedianAPEPercent: round(percentile(e.values, 50), 2), Runs: len(e.values)})
		}
	}
	return set
}

const frontEndNote = "steps say nothing of the way to the queue: its constant is that of roofline"
