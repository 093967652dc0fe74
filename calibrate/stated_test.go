package calibrate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"blis/calibrate/measured"
	"blis/latency"
)

// judgedOn is an evaluation of E2E for a model on a GPU at a TP degree, off by a share.
func judgedOn(model, gpu string, tp int, off float64) Evaluation {
	d := &latency.Deployment{Model: &latency.ModelSpec{Name: model}, GPU: &latency.Hardware{Name: gpu}, TP: tp}
	return Evaluation{Sample: &Sample{Server: &Server{Deployment: d}}, Comparison: scored(E2E, 1, 1+off)}
}

// A file states errors over all runs, and over those of one GPU and TP where they are of
// so many models that no single one decides.
func TestFilesStateErrorsOfAllRunsAndOfPlacesWithEnoughModels(t *testing.T) {
	everywhere := []Evaluation{
		judgedOn("a", "H100", 1, 0.1), judgedOn("b", "H100", 1, -0.2), judgedOn("c", "H100", 1, 0.3), judgedOn("c", "H100", 1, 0.1),
		judgedOn("a", "H100", 2, 0.5), judgedOn("b", "H100", 2, 0.5), judgedOn("a", "B200", 1, -0.4),
	}
	for name, x := range map[string]struct {
		runs []Evaluation
		want string
	}{
		"many places": {everywhere, " 0: 7 of 3, mean 30, by models 29.44, bias 13.89, worst 50; H100 0: 6 of 3, mean 28.33, by models 28.33, bias 21.67, worst 50; H100 1: 4 of 3, mean 17.5, by models 16.67, bias 3.33, worst 30"},
		"one GPU":     {everywhere[:6], " 0: 6 of 3, mean 28.33, by models 28.33, bias 21.67, worst 50; H100 1: 4 of 3, mean 17.5, by models 16.67, bias 3.33, worst 30"},
		"one place":   {everywhere[:4], " 0: 4 of 3, mean 17.5, by models 16.67, bias 3.33, worst 30"},
		"none":        {nil, ""},
	} {
		var got []string
		for _, e := range statedErrors(latency.HeldOutModel, (&HeldOut{Evaluations: x.runs}).placed()) {
			if e.HeldOut != latency.HeldOutModel || e.Metric != "e2e" || e.Statistic != "mean" {
				t.Errorf("%s: %+v", name, e)
			}
			got = append(got, fmt.Sprintf("%s %d: %d of %d, mean %v, by models %v, bias %v, worst %v", e.GPU, e.TP, e.Runs, e.Models, e.MeanAPEPercent, e.ModelMeanAPEPercent, e.BiasPercent, e.WorstPercent))
		}
		if got := strings.Join(got, "; "); got != x.want {
			t.Errorf("%s: %s\nwant %s", name, got, x.want)
		}
	}
}

// Benchmarks of users in closed loops count for TPOT beside the runs, under the hold-out
// of the same name; those that were not predicted do not.
func TestClosedLoopsCountAmongTheErrorsOfAFile(t *testing.T) {
	loop := func(model string, off float64, missing string) LoopResult {
		d := &latency.Deployment{Model: &latency.ModelSpec{Name: model}, GPU: &latency.Hardware{Name: "B200"}, TP: 8}
		return LoopResult{
			Sample:    &ClosedLoopSample{Point: &measured.ClosedLoop{TPOT: 1000}, Server: &Server{Deployment: d}},
			Predicted: ClosedLoopPrediction{TPOT: 1000 * (1 + off)}, Missing: missing,
		}
	}
	run := judgedOn("a", "H100", 1, 0.2)
	run.Scores = append(run.Scores, Score{TPOT, "mean", 10, 11})
	held := LoopValidation{Results: []LoopResult{loop("a", 0.3, ""), loop("b", -0.5, ""), loop("c", 9, "does not fit"), loop("d", 0.1, "")}}
	trained := &Trained{HeldOut: []HeldOut{{By: ByModel, Evaluations: []Evaluation{run}}}, Loops: []LoopValidation{{}, held, held}}
	var got []string
	for _, e := range trained.errors() {
		got = append(got, fmt.Sprintf("%s %s %s %d: %d of %d, by models %v, worst %v", e.HeldOut, e.Metric, e.GPU, e.TP, e.Runs, e.Models, e.ModelMeanAPEPercent, e.WorstPercent))
	}
	want := []string{
		"leave-one-model-out tpot  0: 4 of 3, by models 26.67, worst -50",
		"leave-one-model-out e2e  0: 1 of 1, by models 20, worst 20",
		"leave-one-model-out tpot B200 0: 3 of 3, by models 30, worst -50",
		"leave-one-group-out tpot  0: 3 of 3, by models 30, worst -50",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}
