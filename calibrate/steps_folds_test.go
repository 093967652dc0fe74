package calibrate

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"blis/latency"
)

func mustPrepare(t *testing.T, data []StepData) *stepTable {
	t.Helper()
	table, err := prepare(data)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// every is all configurations of a table.
func (t *stepTable) every() (list []int) {
	for c := range t.names {
		list = append(list, c)
	}
	return list
}

// alternating is the loads with every other one scheduled asynchronously.
func alternating(t *testing.T) (list []StepData) {
	for i, l := range stepLoads {
		l.async = i%2 == 1
		list = append(list, l.data(t, planted))
	}
	return list
}

func TestFoldsDivideTheRowsInTime(t *testing.T) {
	table := mustPrepare(t, alternating(t))
	for c, name := range table.names {
		whole := table.whole[c]
		if share := float64(len(whole.test)) / float64(len(whole.test)+len(whole.train)); math.Abs(share-0.2) > 0.02 {
			t.Errorf("%s: %.3f held out, want a fifth", name, share)
		}
		if whole.train[len(whole.train)-1] >= whole.test[0] {
			t.Errorf("%s: the fit sees what comes after the last fifth began", name)
		}
		var tested []int
		beside := map[bool]int{false: 1, true: 2}[c%2 == 1] // rows that share a step with a block, on one side
		for k, part := range table.parts[c] {
			tested = append(tested, part.test...)
			missing := len(whole.train) - len(part.train) - len(part.test)
			if want := map[bool]int{true: beside, false: 2 * beside}[k == 0 || k == stepFolds-1]; missing != want {
				t.Errorf("%s: fold %d: %d rows in neither part, want %d", name, k+1, missing, want)
			}
		}
		if !slices.Equal(tested, whole.train) {
			t.Errorf("%s: blocks are not the training rows one after the other", name)
		}
	}
}

// Each row of a fold's test part, planted in its training part, must be found,
// and so must a row that only shares a step with it.
func TestPlantedLeaksAreFound(t *testing.T) {
	table := mustPrepare(t, alternating(t))
	clean := newStepFitter(table, StepOptions{})
	if _, err := clean.choose(context.Background(), table.every()); err != nil {
		t.Fatal(err)
	}
	for c := range table.names {
		part := &table.parts[c][2]
		original := part.train
		for what, row := range map[string]int{"first": part.test[0], "last": part.test[len(part.test)-1], "beside": part.test[0] - 1, "behind": part.test[len(part.test)-1] + 1} {
			part.train = append(slices.Clone(original), row)
			_, err := newStepFitter(table, StepOptions{}).choose(context.Background(), table.every())
			if err == nil || !strings.Contains(err.Error(), "fold 3 learns from step ") || !strings.Contains(err.Error(), " of "+table.names[c]+", which judges it") {
				t.Errorf("%s: %s row planted: %v", table.names[c], what, err)
			}
		}
		part.train = original

		whole := &table.whole[c]
		original = whole.train
		whole.train = append(slices.Clone(original), whole.test[3])
		if _, err := newStepFitter(table, StepOptions{}).fit(context.Background()); err == nil || !strings.Contains(err.Error(), "learns from step ") {
			t.Errorf("%s: row of the last fifth planted: %v", table.names[c], err)
		}
		whole.train = original
	}
}

// What is held out changes no bit of the fit: neither of the last fifth nor, for
// the fits of a fold, of its block.
func TestHeldOutPeriodsDoNotMatter(t *testing.T) {
	data := noisySteps(syntheticSteps(t), 0.02, 9)
	table := mustPrepare(t, data)
	// An outlier by so little that a median of all would let it pass.
	r := &table.rows[table.whole[0].train[100]]
	period := &data[0].Steps[r.first-table.starts[0]].Period
	*period = 1e9
	*period = 5.001e6 * sizeMedians(mustPrepare(t, data).rows[:table.whole[0].test[0]])[sizeOf(r.tokens)]
	fit := mustFit(t, data, StepOptions{})
	if len(fit.Dropped) < 4 || fit.Dropped[len(fit.Dropped)-2] != (DroppedSteps{dropTexts[outlying], 1}) {
		t.Fatalf("dropped %v, want 1 outlier", fit.Dropped)
	}
	for i, d := range data {
		first := table.rows[table.whole[i].test[0]].first - table.starts[i]
		for n := first; n < len(d.Steps); n++ {
			d.Steps[n].Period *= 1.5
		}
	}
	other := mustFit(t, data, StepOptions{})
	if other.Beta != fit.Beta || other.Errors != fit.Errors || !slices.Equal(other.Trials, fit.Trials) {
		t.Errorf("%v\n%v", fit.Beta, other.Beta)
	}
	for c := range data {
		if fit.Configurations[c].HeldOut.Bias < other.Configurations[c].HeldOut.Bias+0.2 {
			t.Errorf("errors of what is held out did not change: %+v, %+v", fit.Configurations[c], other.Configurations[c])
		}
	}
}

// Steps that err alike for a while, as real ones do, make cross-validation
// without a distance between blocks no more hopeful than it should be: errors
// are those of the last fifth.
func TestNeighboursTellLittle(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	var cross, held float64
	for range 10 {
		data := syntheticSteps(t)
		for _, d := range data {
			e := 0.0
			for n := range d.Steps {
				e = 0.9*e + 0.01*r.NormFloat64()
				d.Steps[n].Period *= 1 + e
			}
		}
		fit := mustFit(t, data, StepOptions{})
		for _, c := range fit.Configurations {
			cross += c.CrossValidated.MAPE
			held += c.HeldOut.MAPE
		}
	}
	t.Logf("mean error %.2f %% by cross-validation, %.2f %% of the last fifth", 2*cross, 2*held)
	if cross < 0.9*held {
		t.Errorf("cross-validation finds %.4f, the last fifth %.4f", cross, held)
	}
}

// The dumb twin: every fold of every candidate from raw rows, on columns that
// are standardised one by one, without bounds.
func naiveChoice(t *testing.T, table *stepTable) (trials []StepTrial, best int) {
	for g, gamma := range gammas {
		for _, lambda := range lambdas {
			var loss, counted float64
			for k := range stepFolds {
				train, test := naiveFold(table, k)
				beta := naiveRidge(t, table, train, g, lambda)
				for _, i := range test {
					r := &table.rows[i]
					e := r.seconds
					for j, v := range r.vector(g) {
						e -= v * beta[j]
					}
					loss += r.weight * e * e
					counted += map[bool]float64{false: 1, true: 0.5}[r.nearPreemption]
				}
			}
			trials = append(trials, StepTrial{gamma, lambda, loss / counted})
			if trials[len(trials)-1].Loss < trials[best].Loss {
				best = len(trials) - 1
			}
		}
	}
	return trials, best
}

// naiveFold compares every row with every row of the block that is held out.
func naiveFold(table *stepTable, k int) (train, test []int) {
	for c := range table.names {
		rows := table.whole[c].train
		a, b := k*len(rows)/stepFolds, (k+1)*len(rows)/stepFolds
		for place, i := range rows {
			near := slices.ContainsFunc(rows[a:b], func(j int) bool {
				return table.rows[i].first <= table.rows[j].last && table.rows[j].first <= table.rows[i].last
			})
			switch {
			case place >= a && place < b:
				test = append(test, i)
			case !near:
				train = append(train, i)
			}
		}
	}
	return train, test
}

func naiveRidge(t *testing.T, table *stepTable, rows []int, g int, lambda float64) (beta latency.BetaVector) {
	n := float64(len(rows))
	sum := 0.0
	for _, i := range rows {
		sum += table.rows[i].weight
	}
	weight := func(i int) float64 { return table.rows[i].weight * n / sum }
	moments := func(f func(i int) float64) (mean, deviation, low, high float64) {
		low, high = math.Inf(1), math.Inf(-1)
		for _, i := range rows {
			mean += weight(i) * f(i) / n
			low, high = min(low, f(i)), max(high, f(i))
		}
		for _, i := range rows {
			deviation += weight(i) * (f(i) - mean) * (f(i) - mean) / n
		}
		return mean, math.Sqrt(deviation), low, high
	}
	yMean, yDeviation, _, _ := moments(func(i int) float64 { return table.rows[i].seconds })
	var columns []int
	var means, deviations [16]float64
	for j := range constant {
		mean, deviation, low, high := moments(func(i int) float64 { return table.rows[i].vector(g)[j] })
		if high-low > map[bool]float64{true: 1e-6, false: 1e-3}[inSeconds[j]] {
			columns, means[j], deviations[j] = append(columns, j), mean, deviation
		}
	}
	m := len(columns)
	a, b := mat.NewDense(m, m, nil), mat.NewVecDense(m, nil)
	for _, i := range rows {
		x := table.rows[i].vector(g)
		for k, j := range columns {
			z := (x[j] - means[j]) / deviations[j]
			b.SetVec(k, b.AtVec(k)+weight(i)*z*(table.rows[i].seconds-yMean)/yDeviation)
			for l, o := range columns {
				a.Set(k, l, a.At(k, l)+weight(i)*z*(x[o]-means[o])/deviations[o])
			}
		}
	}
	for k := range m {
		a.Set(k, k, a.At(k, k)+lambda)
	}
	var c mat.VecDense
	if err := c.SolveVec(a, b); err != nil {
		t.Fatal(err)
	}
	beta[constant] = yMean
	for k, j := range columns {
		beta[j] = c.AtVec(k) * yDeviation / deviations[j]
		beta[constant] -= beta[j] * means[j]
	}
	return beta
}

func TestCrossValidationChoosesAsItsTwin(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 4))
	for range 2 {
		var data []StepData
		for _, d := range noisySteps(syntheticSteps(t), 0.02+0.1*r.Float64(), r.Uint64()) {
			// Some of each, so that the penalty is felt.
			d.Steps = d.Steps[:150+r.IntN(len(d.Steps)-149)]
			data = append(data, d)
		}
		table := mustPrepare(t, data)
		f := newStepFitter(table, StepOptions{Signed: true})
		got, err := f.choose(context.Background(), table.every())
		if err != nil {
			t.Fatal(err)
		}
		want, best := naiveChoice(t, table)
		for k := range want {
			if math.Abs(got.trials[k].Loss/want[k].Loss-1) > 1e-6 || got.trials[k].Gamma != want[k].Gamma || got.trials[k].Lambda != want[k].Lambda {
				t.Errorf("trial %+v, naively %+v", got.trials[k], want[k])
			}
		}
		chosen := slices.IndexFunc(want, func(w StepTrial) bool { return w.Gamma == gammas[got.gammaIndex] && w.Lambda == got.lambda })
		if want[chosen].Loss > want[best].Loss*(1+1e-6) {
			t.Errorf("chosen γ %v, λ %v, naively %+v", gammas[got.gammaIndex], got.lambda, want[best])
		}
		t.Logf("γ %v, λ %v", gammas[got.gammaIndex], got.lambda)
	}
}
