package calibrate

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"blis/calibrate/measured"
	"blis/latency"
)

// decodes is a trace of one request that decodes, for tests that change it.
func decodes(t *testing.T, async bool, steps int) *StepData {
	t.Helper()
	list := make([]measured.Step, steps)
	for n := range list {
		list[n] = measured.Step{ID: int64(n), PreviousInSample: n > 0, Running: 1, DecodeRequests: 1, ScheduledTokens: 1, DecodeTokens: 1,
			HasSums: true, DecodeContext: int64(100 + n), SampledRows: 1, Period: 8000}
	}
	return &StepData{Name: "decodes", Features: stepFeatures(t), Async: async, ChunkedPrefill: true, Steps: list}
}

func stepFeatures(t *testing.T) *latency.Features {
	t.Helper()
	d := syntheticSteps(t)
	return d[0].Features
}

func TestStepsThatAreLeftOut(t *testing.T) {
	none := func(*StepData) {}
	for _, c := range []struct {
		name   string
		step   int
		change func(d *StepData)
		sync   string // "row 40 of batch 40", or why not
		async  string
	}{
		{"any", 40, none, "row 40 of batch 40", "row 40 of batch 39"},
		{"first", 0, none, dropTexts[warming], dropTexts[noBatch]},
		{"last warm-up", 9, none, dropTexts[warming], dropTexts[warming]},
		{"behind warm-up", 10, none, "row 10 of batch 10", dropTexts[warming]},
		{"eleventh batch", 11, none, "row 11 of batch 11", "row 11 of batch 10"},
		{"without period", 40, func(d *StepData) { d.Steps[40].Period = 0 }, dropTexts[noPeriod], dropTexts[noPeriod]},
		{"behind a hole", 40, func(d *StepData) { d.Steps[40].PreviousInSample = false }, "row 40 of batch 40", dropTexts[noBatch]},
		{"without sums", 40, func(d *StepData) { d.Steps[40].HasSums = false }, dropTexts[noSums], "row 40 of batch 39"},
		{"behind one without sums", 41, func(d *StepData) { d.Steps[40].HasSums = false }, "row 41 of batch 41", dropTexts[noSums]},
		{"before a wait", 40, waitsBefore(41), dropTexts[idling], dropTexts[idling]},
		{"after a wait", 41, waitsBefore(41), "row 41 of batch 41", dropTexts[idling]},
		{"two after a wait", 42, waitsBefore(41), "row 42 of batch 42", "row 42 of batch 41"},
	} {
		for _, async := range []bool{false, true} {
			d := decodes(t, async, 60)
			c.change(d)
			k, why := d.batchOf(c.step)
			got, want := fmt.Sprintf("row %d of batch %d", c.step, k), c.sync
			if why != kept {
				got = dropTexts[why]
			}
			if async {
				want = c.async
			}
			if got != want {
				t.Errorf("%s, async %v: %s, want %s", c.name, async, got, want)
			}
		}
	}
}

// waitsBefore: all of step n are new, and nobody had waited.
func waitsBefore(n int) func(*StepData) {
	return func(d *StepData) {
		s := &d.Steps[n]
		s.DecodeRequests, s.DecodeTokens, s.DecodeContext = 0, 0, 0
		s.PrefillRequests, s.PrefillTokens, s.PrefillPairs = 1, 1, 1
	}
}

func TestWhenAnEngineMayHaveWaited(t *testing.T) {
	type steps = [2]measured.Step
	for _, c := range []struct {
		name        string
		steps       steps
		sync, async bool
	}{
		{"a new prompt alone", steps{{Running: 3}, {PrefillRequests: 1}}, true, true},
		{"beside a decode", steps{{Running: 3}, {PrefillRequests: 1, DecodeRequests: 1, Finished: 3}}, false, false},
		{"it had waited", steps{{Running: 3, Waiting: 1}, {PrefillRequests: 1, Finished: 2}}, false, false},
		{"it had waited for the last to end", steps{{Running: 3, Waiting: 1}, {PrefillRequests: 1, Finished: 3}}, false, true},
		{"it had waited for the last to be preempted", steps{{Running: 3, Waiting: 1}, {PrefillRequests: 1, Finished: 2, Preempted: 1}}, false, true},
		{"a prompt half done", steps{{Running: 1}, {PrefillRequests: 1, PrefillContext: 64}}, false, false},
		{"a cached prompt after the last has ended", steps{{Running: 1}, {PrefillRequests: 1, PrefillContext: 64, Finished: 1}}, true, true},
		{"a trace that does not count", steps{{}, {PrefillRequests: 1, PrefillContext: 64}}, false, false},
	} {
		for _, async := range []bool{false, true} {
			c.steps[1].PreviousInSample = true
			d := &StepData{Async: async, Steps: c.steps[:]}
			if want := map[bool]bool{false: c.sync, true: c.async}[async]; d.waited(0) != want || d.waited(1) {
				t.Errorf("%s, async %v: %v, want %v", c.name, async, d.waited(0), want)
			}
			if c.steps[1].PreviousInSample = false; d.waited(0) {
				t.Errorf("%s: waited before a step that is not the next", c.name)
			}
		}
	}
}

// The averages of γ 0.3 are those that the engine told its latency model.
func TestPreemptionAveragesAreThoseOfTheEngine(t *testing.T) {
	for _, l := range stepLoads {
		if l.blocks == 0 {
			continue
		}
		d, batches := l.serve(t, planted)
		averages, high := d.averages(), 0.0
		for n := range batches {
			if got, want := averages[0][n], batches[n].PreemptionEMA; got != want {
				t.Fatalf("step %d: %v, the engine had %v", n, got, want)
			}
			high = max(high, batches[n].PreemptionEMA)
		}
		if high < 0.02 {
			t.Errorf("averages are below %v: want more preemptions", high)
		}
		table := mustPrepare(t, []StepData{d})
		for _, r := range table.rows {
			for g := range gammas {
				if got, want := r.vector(g)[preemption], averages[g][r.first]; got != want {
					t.Fatalf("row of step %d, γ %v: %v, want %v", r.first, gammas[g], got, want)
				}
			}
		}
		// Behind a hole nothing is known of before.
		n := slices.IndexFunc(averages[0], func(v float64) bool { return v > 0.02 }) + 2
		d.Steps[n].PreviousInSample, d.Steps[n].Preempted, d.Steps[n].Running = false, 2, 4
		if again := d.averages(); again[0][n] != 0.3*0.5 || again[1][n] != 0.1*0.5 || again[2][n] != 0.5*0.5 || again[0][n+1] == averages[0][n+1] {
			t.Errorf("behind a hole %v, %v, %v", again[0][n], again[1][n], again[2][n])
		}
	}
}

// A prefill of thousands of tokens takes many times as long as the median step.
// It is no outlier. A decode that takes as long is.
func TestOutliersAreThoseOfTheirSize(t *testing.T) {
	data := syntheticSteps(t)[:1]
	table := mustPrepare(t, data)
	if table.dropped[outlying] > 0 {
		t.Errorf("%d outliers in a trace without any", table.dropped[outlying])
	}
	var all []float64
	for _, r := range table.rows {
		all = append(all, r.seconds)
	}
	slices.Sort(all)
	long := 0
	for _, s := range all {
		if s > 5*percentile(all, 50) {
			long++
		}
	}
	if long < 20 {
		t.Errorf("%d steps take 5 times the median: want more, all of them prefills", long)
	}
	changed := 0
	for n := range data[0].Steps {
		if s := &data[0].Steps[n]; n%40 == 20 && s.Period > 0 {
			s.Period *= 6
			changed++
		}
	}
	if table = mustPrepare(t, data); table.dropped[outlying] < changed-1 || table.dropped[outlying] > changed {
		t.Errorf("%d outliers, planted %d", table.dropped[outlying], changed)
	}
}

func TestRowsNearPreemptionsWeighHalf(t *testing.T) {
	data := syntheticSteps(t)
	// 0.3, 0.21, 0.147 and 0.103 from here on.
	data[0].Steps[200].Preempted = data[0].Steps[200].Running
	table := mustPrepare(t, data)
	halved := 0
	for c, d := range data {
		averages := d.averages()[0]
		for _, i := range table.whole[c].train {
			r := &table.rows[i]
			k := r.first - table.starts[c]
			near := d.Steps[k].Preempted > 0 || averages[k] > 0.1
			u := dot(r.x[:], roughBeta[:])
			if want := map[bool]float64{false: 1, true: 0.5}[near]; math.Abs(r.weight*u*u-want) > 1e-12 {
				t.Fatalf("%s: step %d with %d preemptions and average %.3f weighs %v", d.Name, k, d.Steps[k].Preempted, averages[k], r.weight*u*u)
			}
			if near {
				halved++
			}
			if c == 0 && near != (k >= 200 && k < 204) {
				t.Errorf("step %d of %s: near preemptions %v", k, d.Name, near)
			}
		}
	}
	if fit := mustFit(t, data, StepOptions{}); fit.Halved != halved || halved < 50 {
		t.Errorf("%d of %d rows with half the weight, %d by count", fit.Halved, fit.Rows, halved)
	}
}

func TestStepsThatCannotBeFittedAreRefused(t *testing.T) {
	without := func(d StepData) StepData {
		d.Steps = slices.Clone(d.Steps)
		for n := range d.Steps {
			d.Steps[n].HasSums = false
		}
		return d
	}
	good := func() StepData { return *decodes(t, false, 200) }
	change := func(f func(*StepData)) []StepData {
		a, b := good(), good()
		a.Name, b.Name = "first", "second"
		f(&b)
		return []StepData{a, b}
	}
	for _, c := range []struct {
		name string
		data []StepData
		o    StepOptions
		want string
	}{
		{"nothing", nil, StepOptions{}, "steps: no configurations: want traces of steps"},
		{"no steps", change(func(d *StepData) { d.Steps = nil }), StepOptions{}, "steps of second: no steps: want a trace with step.BATCH_SUMMARY events, or a CSV file of steps"},
		{"chunked without sums", change(func(d *StepData) { *d = without(*d) }), StepOptions{},
			"steps of second: chunked prefill, and nothing of the requests in its batches, so their attention is not known: " +
				"want columns prefill_pairs, prefill_context, decode_context, sampled_rows, or REQUEST_SNAPSHOT events"},
		{"without sums", change(func(d *StepData) { *d = without(*d); d.ChunkedPrefill = false }), StepOptions{},
			"steps of second: nothing of the requests in its batches, so their attention is not known: " +
				"want columns prefill_pairs, prefill_context, decode_context, sampled_rows, or REQUEST_SNAPSHOT events"},
		{"few", change(func(d *StepData) { d.Steps = d.Steps[:60]; d.Steps[20].Period = 0 }), StepOptions{},
			"steps of second: 48 of 60 steps can be used (1 period not known; 10 warm-up, the first 10 steps of a configuration; 1 between the fit and what is held out of it): want at least 50"},
		{"no features", change(func(d *StepData) { d.Features = nil }), StepOptions{}, "steps of second: no features: want those of its deployment"},
		{"twice", change(func(d *StepData) { d.Name = "first" }), StepOptions{}, "steps of first: a second configuration of this name: want one for each"},
		{"negative", change(func(*StepData) {}), StepOptions{Toward: latency.BetaVector{2: -1}}, "steps: toward weight_streaming: -1: want a number from 0, or below with signed coefficients"},
		{"no number", change(func(*StepData) {}), StepOptions{Signed: true, Toward: latency.BetaVector{2: math.NaN()}}, "steps: toward weight_streaming: NaN: want a number from 0, or below with signed coefficients"},
	} {
		fit, err := FitSteps(context.Background(), c.data, c.o)
		if err == nil || err.Error() != c.want || fit != nil {
			t.Errorf("%s: %v\nwant %s", c.name, err, c.want)
		}
	}
}

// The step periods that come with the measured runs say nothing of requests.
func TestMeasuredPeriodsWithoutRequestsAreRefused(t *testing.T) {
	const path = "../../shared/reference/measured/step_periods.csv.gz"
	if _, err := os.Stat(path); err != nil {
		t.Skip("no measured runs here")
	}
	steps, err := measured.ReadSteps(path)
	if err != nil {
		t.Fatal(err)
	}
	groups := GroupSteps(steps)
	if len(groups) != 3 {
		t.Errorf("%d runs", len(groups))
	}
	for _, g := range groups {
		_, err := FitSteps(context.Background(), []StepData{{Name: g.Name(), Features: stepFeatures(t), Async: true, ChunkedPrefill: true, Steps: g.Steps}}, StepOptions{})
		if err == nil || !strings.HasPrefix(err.Error(), "steps of "+g.Name()+": chunked prefill") || strings.Contains(err.Error(), "\n") {
			t.Error(err)
		}
	}
}

func TestStepsAreGroupedByRun(t *testing.T) {
	step := func(experiment, model string, tp int, id int64) measured.Step {
		return measured.Step{Experiment: experiment, Model: model, TP: tp, ID: id}
	}
	groups := GroupSteps([]measured.Step{step("b", "m", 2, 1), step("a", "m", 2, 1), step("b", "m", 2, 2), step("b", "m", 4, 1), step("", "m", 0, 1), step("", "", 0, 7)})
	var got []string
	for _, g := range groups {
		text := g.Name() + ":"
		for _, s := range g.Steps {
			text += fmt.Sprint(" ", s.ID)
		}
		got = append(got, text)
	}
	if want := []string{"b, m, TP 2: 1 2", "a, m, TP 2: 1", "b, m, TP 4: 1", "m: 1", ": 7"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
