package calibrate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"blis/calibrate/measured"
	"blis/latency"
	"blis/vtime"
)

// trainable are two steady runs of one model, one of another, and an overloaded
// one.
func trainable(t fatal) []*Sample {
	t.Helper()
	var list []*Sample
	for i, x := range []synthetic{
		{rig: rigs[0], n: 60, rate: 2, input: [2]int{50, 2000}, output: [2]int{5, 60}, seats: 16, budget: 2048},
		{rig: rigs[0], n: 60, rate: 4, input: [2]int{50, 500}, output: [2]int{5, 90}, seats: 16, budget: 2048, system: 100, kinds: 20},
		{rig: rigs[1], n: 60, rate: 2, input: [2]int{50, 1000}, output: [2]int{5, 60}, seats: 16, budget: 2048},
		{rig: rigs[1], n: 60, rate: 50, input: [2]int{50, 1000}, output: [2]int{5, 60}, seats: 4, budget: 2048},
	} {
		x.seed = uint64(i)
		s := mustSample(t, x.run(), 0)
		s.Run.ID = []string{"chat", "code", "large", "flood"}[i]
		if i == 3 {
			s.Timeout = 2_000_000
		}
		measure(t, s, truth(), 0.03, uint64(i))
		list = append(list, s)
	}
	return list
}

func trainOptions() TrainOptions {
	return TrainOptions{
		Name: "mine", Fit: DefaultFit(), HoldOuts: []HoldOut{ByWorkload, ByModel, ByTail}, Share: 0.7,
		Data: "made up", Dates: []string{"2026-01-31", "2026-02-02"}, Notes: []string{"a note"},
	}
}

func TestTrainMakesACoefficientFile(t *testing.T) {
	list := trainable(t)
	var asked []string
	o := trainOptions()
	o.Progress = func(done, of int, what string) { asked = append(asked, fmt.Sprintf("%d/%d %s", done, of, what)) }
	trained, err := Train(t.Context(), list, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"0/1 fit to everything", "0/2 chat", "1/2 code", "0/2 " + rigs[0].model, "1/2 " + rigs[1].model, "0/3 chat", "1/3 code", "2/3 large"}; !slices.Equal(asked, want) {
		t.Errorf("progress %q, want %q", asked, want)
	}
	if !slices.Equal(trained.Overloaded, []string{"flood"}) || len(trained.InSample) != 3 || len(trained.HeldOut) != 3 || !slices.Equal(trained.HeldOut[0].Skipped, []string{"large"}) {
		t.Errorf("left out %v, %d evaluations in sample, %d hold-outs, first skipped %v", trained.Overloaded, len(trained.InSample), len(trained.HeldOut), trained.HeldOut[0].Skipped)
	}
	set := trained.Set
	longest := int64(0)
	for _, s := range list[:3] { // the last is not fitted to
		for _, r := range s.Run.Requests {
			longest = max(longest, int64(r.Input+r.Output))
		}
	}
	want := latency.Training{
		ContextMax: longest, SeatsMax: 16, StepTokensMax: 2048,
		Models: []string{"meta-llama/Llama-3.1-8B", "meta-llama/Llama-2-70b-hf"}, Kinds: []string{"dense"}, GPUs: []string{"H100"}, TPMin: 1, TPMax: 4,
		Engine: "vLLM 0.15.1", AsyncScheduling: true, ChunkedPrefill: true, Dates: o.Dates, Data: "made up", Samples: 180,
		Lambda: o.Fit.Lambda, Gamma: 0.3, Method: "replay regression",
	}
	if got := fmt.Sprintf("%+v", set.TrainedOn); got != fmt.Sprintf("%+v", want) || set.Name != "mine" || !slices.Equal(set.Notes, o.Notes) || set.Alpha != trained.Fit.Alpha || set.Beta != trained.Fit.Beta {
		t.Errorf("%s, %+v\nwant %+v", set.Name, set.TrainedOn, want)
	}
	// The errors that the file states are those of the evaluations.
	k := 0
	for _, h := range trained.HeldOut {
		for _, s := range Summarise(h.Evaluations) {
			if s.Statistic == "p50" || s.Statistic == "p90" {
				continue
			}
			e := set.Errors[k]
			if k++; e.HeldOut != h.By.Label() || e.Metric != string(s.Metric) || e.Statistic != s.Statistic || e.Runs != s.Runs || math.Abs(e.MedianAPEPercent-100*s.Median) > 0.005+1e-9 ||
				e.Models != s.Models || math.Abs(e.MeanAPEPercent-100*s.Mean) > 0.005+1e-9 || math.Abs(e.ModelMeanAPEPercent-100*s.ModelMean) > 0.005+1e-9 ||
				math.Abs(e.BiasPercent-100*s.ModelBias) > 0.005+1e-9 || math.Abs(e.WorstPercent-100*s.WorstError) > 0.005+1e-9 {
				t.Errorf("error %d is %+v, want that of %+v", k-1, e, s)
			}
		}
	}
	if k != len(set.Errors) || k != 3*3*2 {
		t.Errorf("%d errors, want %d", len(set.Errors), k)
	}
	// As a file, it is the set again.
	again, err := latency.ParsePhysicsSet(set.Format(), "mine.yaml")
	if err != nil || again.Alpha != set.Alpha || again.Beta != set.Beta || len(again.Errors) != len(set.Errors) {
		t.Errorf("%v: %+v", err, again)
	}
}

// Anything wrong with what the file is to say is found before the fit.
func TestTrainRefusesBeforeItFits(t *testing.T) {
	list := trainable(t)
	fits := 0
	for _, c := range []struct {
		name   string
		change func(*TrainOptions)
		want   string
	}{
		{"no name", func(o *TrainOptions) { o.Name = " " }, "name is missing"},
		{"two lines", func(o *TrainOptions) { o.Data = "a\nb" }, "trained_on.data is "},
		{"one day", func(o *TrainOptions) { o.Dates = o.Dates[:1] }, "trained_on.dates has 1 days"},
		{"no day", func(o *TrainOptions) { o.Dates = []string{"31.1.2026", "2026-02-01"} }, `trained_on.dates[0] is "31.1.2026"`},
		{"an empty note", func(o *TrainOptions) { o.Notes = []string{"x", ""} }, "notes[1] is missing"},
	} {
		o := trainOptions()
		o.Progress = func(int, int, string) { fits++ }
		c.change(&o)
		if _, err := Train(t.Context(), list, nil, o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	o := trainOptions()
	o.Progress = func(int, int, string) { fits++ }
	if _, err := Train(t.Context(), list[3:], nil, o); err == nil || err.Error() != "no run to fit to: requests of every run failed, so that latencies say how patient clients were" {
		t.Error(err)
	}
	if fits > 0 {
		t.Errorf("%d fits before that", fits)
	}
}

func TestSamplesOfOneSet(t *testing.T) {
	list := trainable(t)
	if err := CheckSamples(list, Physics); err != nil {
		t.Error(err)
	}
	if err := CheckSamples(nil, Physics); err != nil {
		t.Error(err)
	}
	run := *list[1].Run
	run.AsyncScheduling = new(false)
	list[1] = mustSample(t, &run, 0)
	if err := CheckSamples(list, Physics); err == nil || err.Error() != "runs chat and code differ in async scheduling or chunked prefill: want a set for each" {
		t.Error(err)
	}
}

// Blackbox is fitted by the same sums, of tokens in place of work.
func TestBlackboxIsFittedToo(t *testing.T) {
	planted := &Coefficients{}
	planted.Beta[perStep], planted.Beta[perPrefillToken], planted.Beta[perDecodeToken] = 0.009, 4e-5, 6e-5
	planted.Alpha[perRequest], planted.Alpha[perPromptToken] = 0.003, 1e-6
	var list []*Sample
	for i, rate := range []float64{0.2, 1, 4, 8} {
		x := synthetic{rig: rigs[0], n: 200, rate: rate, input: [2]int{20, 2000}, output: [2]int{5, 90}, seats: 16, budget: 2048, seed: uint64(i)}
		s, err := mustSample(t, x.run(), 0).withFamily(Blackbox)
		if err != nil {
			t.Fatal(err)
		}
		measure(t, s, planted, 0, 0)
		list = append(list, s)
	}
	o := trainOptions()
	o.Family, o.HoldOuts = Blackbox, []HoldOut{ByWorkload}
	trained, err := Train(t.Context(), list, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	if trained.Set != nil || trained.Family != Blackbox {
		t.Errorf("a coefficient file of %s", trained.Family.Name)
	}
	got, want := trained.Fit.list(), planted.list()
	small := map[int]bool{perDecodeToken: true, betas + perPromptToken: true} // microseconds of a request
	for i := range got {
		tolerance := 0.02
		if small[i] {
			tolerance = 0.1
		}
		if math.Abs(got[i]-want[i]) > tolerance*want[i] {
			t.Errorf("column %d is %v, planted %v", i, got[i], want[i])
		}
	}
	if m := BlackboxOf(planted); m.Beta != [3]float64{9000, 40, 60} || m.Alpha != [3]float64{3000, 1, 0} {
		t.Errorf("%+v", m)
	}
	if _, err := Train(t.Context(), list, []Prefill{{}}, o); err == nil || err.Error() != "prefills of requests that ran alone are for physics, not blackbox" {
		t.Error(err)
	}
}

// The simplex goes on from the fit, never to something worse, and what comes out
// does not depend on how many replays run side by side.
func TestPolishedFits(t *testing.T) {
	list := trainable(t)[:3]
	o := DefaultFit()
	plain := mustFitRuns(t, list, o)
	before, err := refinementLoss(t.Context(), list, nil, &plain.Coefficients, o)
	if err != nil {
		t.Fatal(err)
	}
	o.Polish = 60
	var first *Fit
	for _, o.Workers = range []int{1, 3} {
		fit := mustFitRuns(t, list, o)
		if first == nil {
			first = fit
		}
		if fit.Coefficients != first.Coefficients {
			t.Errorf("%d workers: %v, 1 worker: %v", o.Workers, fit.Coefficients, first.Coefficients)
		}
	}
	after, err := refinementLoss(t.Context(), list, nil, &first.Coefficients, o)
	if err != nil || after >= before {
		t.Errorf("mean errors %v before, %v after; %v", before, after, err)
	}
	for i, v := range first.list() {
		if b := physicsBounds[i]; v < b.lower || v > b.upper {
			t.Errorf("column %d is %v, outside of %+v", i, v, b)
		}
	}
	o.Polish = 10_000
	o.Workers = 1
	const questions = 400 // far fewer than it would ask to its end
	counted := &countdown{Context: t.Context(), left: questions}
	if fit, err := fitRuns(counted, list, nil, o); !errors.Is(err, context.Canceled) || fit != nil || counted.left < -10*len(list) {
		t.Errorf("%v, %v after %d questions", fit, err, questions-counted.left)
	}
}

// Requests that ran alone count in the fit beside the runs.
func TestTrainTakesPrefills(t *testing.T) {
	list := trainable(t)[:1]
	trace := &measured.Trace{}
	for i, n := range []int32{500, 3000, 9000, 20000} {
		r := alone(n).Requests[0]
		r.Start, r.End = r.Start.Add(vtime.Duration(i)*vtime.Second), r.End.Add(vtime.Duration(i)*vtime.Second)
		trace.Requests = append(trace.Requests, r)
	}
	prefills, err := Prefills(trace, list[0].Server.Deployment, list[0].Server.Limits)
	if err != nil {
		t.Fatal(err)
	}
	slow := truth()
	slow.Beta[0] = 2 // what the runs say is 1.5, both with 0.3 of feature 18
	for i := range prefills {
		prefills[i].Measured = prefills[i].Predicted(slow)
	}
	o := trainOptions()
	o.HoldOuts = nil
	var got [2]float64
	for k, weight := range []float64{0.1, 1e6} {
		o.Fit.PointWeight = weight
		trained, err := Train(t.Context(), list, prefills, o)
		if err != nil || trained.Prefills != len(prefills) || trained.Fit.Requests <= len(prefills) {
			t.Fatalf("%+v, %v", trained, err)
		}
		got[k] = longToken(trained.Fit.Beta)
	}
	if !(got[0] < 2.2 && got[1] > 2.28) {
		t.Errorf("a token of a long prompt costs %v of its compute, and %v when prefills are all that counts", got[0], got[1])
	}
}
