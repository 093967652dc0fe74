package calibrate

import (
	"errors"
	"math"
	"testing"

	"blis/calibrate/measured"
)

// plantedLoops are closed loops of three models whose TPOT is that of a server with the
// coefficients of truth.
func plantedLoops(t *testing.T) []*ClosedLoopSample {
	t.Helper()
	var list []*ClosedLoopSample
	for _, d := range rigs {
		for _, x := range [][3]int32{{200, 60, 1}, {200, 60, 16}, {3000, 40, 4}, {3000, 40, 16}, {1000, 200, 64}, {100, 30, 2}} {
			p := &measured.ClosedLoop{Line: 2, Model: d.model, GPU: "H100", Input: x[0], Output: x[1], Concurrency: x[2], TP: d.tp, PP: 1, AttentionDP: 1, TTFT: 1, TPOT: 1}
			s, err := NewClosedLoopSample(p, Overrides{})
			if err != nil {
				t.Fatal(err)
			}
			predicted, err := s.predict(truth())
			if err != nil {
				t.Fatal(err)
			}
			p.TPOT = predicted.TPOT
			list = append(list, s)
		}
	}
	return list
}

func worstLoop(t *testing.T, list []*ClosedLoopSample, c *Coefficients) float64 {
	t.Helper()
	worst := 0.0
	for _, s := range list {
		p, err := s.predict(c)
		if err != nil {
			t.Fatal(err)
		}
		worst = math.Max(worst, math.Abs(p.TPOT/s.Point.TPOT-1))
	}
	return worst
}

func TestFitToClosedLoopsFindsTheirTPOT(t *testing.T) {
	list := plantedLoops(t)
	usual := make([]float64, columns)
	for i, b := range physicsBounds {
		usual[i] = b.usual
	}
	if before := worstLoop(t, list, coefficientsOf(usual)); before < 0.05 {
		t.Fatalf("the usual values are %v off at worst: nothing to fit", before)
	}
	fit, err := FitClosedLoops(t.Context(), list, DefaultFit())
	if err != nil {
		t.Fatal(err)
	}
	if e := worstLoop(t, list, &fit.Coefficients); e > 0.003 || !fit.Converged || fit.Requests != len(list) {
		t.Errorf("worst error %v after %d replays, %d rows", e, fit.Replays, fit.Requests)
	}
	for i := range fit.Alpha {
		if want := physicsBounds[betas+i].usual; math.Abs(fit.Alpha[i]-want) > 1e-15 {
			t.Errorf("α%d is %v, usually %v: TPOT says nothing of it", i+1, fit.Alpha[i], want)
		}
	}
	o := DefaultFit()
	o.Workers = 7
	if other, err := FitClosedLoops(t.Context(), list, o); err != nil || other.Coefficients != fit.Coefficients {
		t.Errorf("with other workers %+v, %v", other, err)
	}
}

// Runs and closed loops of one server are fitted together, and weights say how much a
// loop counts beside a run.
func TestRunsAndClosedLoopsAreFittedTogether(t *testing.T) {
	loops := plantedLoops(t)
	list := trainable(t)[:3]
	o := DefaultFit()
	errorOf := func(weight float64) float64 {
		for _, l := range loops {
			l.Point.TPOT *= 1.3 // the loops say otherwise than the runs
			l.Weight = weight
		}
		fit, err := fitRuns(t.Context(), list, nil, o, loops...)
		if err != nil {
			t.Fatal(err)
		}
		e := worstLoop(t, loops, &fit.Coefficients)
		for _, l := range loops {
			l.Point.TPOT /= 1.3
		}
		return e
	}
	if light, heavy := errorOf(1e-3), errorOf(1e3); heavy > light-0.05 {
		t.Errorf("worst error %v with little weight, %v with much", light, heavy)
	}
	o.Iterations, o.Polish = 2, 3
	if _, err := fitRuns(t.Context(), list, nil, o, loops...); err != nil {
		t.Error(err)
	}
	if fit, err := FitClosedLoops(t.Context(), nil, DefaultFit()); err == nil || fit != nil {
		t.Errorf("%+v, %v", fit, err)
	}
	ctx := &patience{t.Context(), 3}
	if _, err := FitClosedLoops(ctx, loops, DefaultFit()); !errors.Is(err, errImpatient) {
		t.Error(err)
	}
}

// A fold does not know what it is tested on: if the loops of one model are slower than
// all others say, only the fits with them know it.
func TestHeldOutLoopsAreNotLearnedFrom(t *testing.T) {
	loops := plantedLoops(t)
	odd := rigs[1].model
	for _, l := range loops {
		if l.Point.Model == odd {
			l.Point.TPOT *= 1.5
		}
	}
	o := DefaultFit()
	fit, err := FitClosedLoops(t.Context(), loops, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []LoopHoldOut{ByLoopModel, ByGroup} {
		v, err := fit.HoldOutLoops(t.Context(), nil, nil, loops, h, o)
		if err != nil {
			t.Fatal(err)
		}
		if len(v.Results) != len(loops) || len(v.Groups) != len(rigs) || v.All.Points != len(loops) {
			t.Fatalf("%+v", v)
		}
		for _, g := range v.Groups {
			if g.Model == odd && math.Abs(g.Bias+1.0/3) > 0.1 {
				t.Errorf("%s held out: %+v, want a third too fast", h, g)
			}
		}
	}
	// Runs of a model are held out with its loops.
	run := trainable(t)[2]
	for i := range run.Run.Requests {
		r := &run.Run.Requests[i]
		r.E2E = r.TTFT + (r.E2E-r.TTFT)*3/2
	}
	run2, err := run.withFamily(Physics)
	if err != nil {
		t.Fatal(err)
	}
	with, err := fit.HoldOutLoops(t.Context(), []*Sample{run2}, nil, loops, ByGroup, o)
	if err != nil {
		t.Fatal(err)
	}
	without, err := fit.HoldOutLoops(t.Context(), []*Sample{run2}, nil, loops, ByLoopModel, o)
	if err != nil {
		t.Fatal(err)
	}
	for k, g := range with.Groups {
		if other := without.Groups[k]; g.Model == odd && math.Abs(g.Bias) > math.Abs(other.Bias)-0.02 {
			t.Errorf("with a run of the model %+v, without %+v", g, other)
		}
	}
}

func TestFoldsOfRunsLearnFromNoLoopOfTheirModel(t *testing.T) {
	loops := plantedLoops(t)
	folds, _ := makeFolds(trainable(t), ByModel, 0)
	for _, f := range folds {
		left := f.loops(loops)
		for _, l := range left {
			if l.Point.Model == f.name {
				t.Errorf("the fold of %s learns from a loop of it", f.name)
			}
		}
		if len(left) != len(loops)*2/3 {
			t.Errorf("%s: %d of %d loops", f.name, len(left), len(loops))
		}
	}
}

// A model's own fit learns what is peculiar to it, as far as the weight of the distance
// to the fit to all lets it, and no further. What is held out is learned by neither fit.
func TestOwnFitIsDrawnToAll(t *testing.T) {
	list := plantedLoops(t)
	slow := list[0].Server.Deployment.Model.Name
	var own, beside []*ClosedLoopSample
	for _, l := range list {
		if l.Server.Deployment.Model.Name != slow {
			beside = append(beside, l)
			continue
		}
		l.Point.TPOT *= 1.25
		own = append(own, l)
	}
	train := func(weight float64) *Trained {
		o := TrainOptions{Name: "own", Data: "planted", Fit: DefaultFit(), Loops: own, Beside: beside}
		o.Fit.Lambda, o.Fit.Own = 0.01, weight
		trained, err := Train(t.Context(), nil, nil, o)
		if err != nil {
			t.Fatal(err)
		}
		return trained
	}
	free, tied := train(1e-6), train(1e6)
	if f, g := worstLoop(t, own, &free.Fit.Coefficients), worstLoop(t, own, &tied.Fit.Coefficients); f > g/2 {
		t.Errorf("by itself off by %v at worst, tied to the others by %v", f, g)
	}
	for i, v := range tied.Fit.Beta {
		if general := tied.Fit.general.Beta[i]; math.Abs(v-general) > 1e-6 {
			t.Errorf("β%d is %v, of all models %v", i+1, v, general)
		}
	}
	if len(free.Loops) != 2 || len(free.Loops[1].Results) != len(own) || len(free.Set.TrainedOn.Models) != 1 {
		t.Errorf("%d validations, %v", len(free.Loops), free.Set.TrainedOn.Models)
	}
	// All loops of the slow model are one group, so no fit knows that it is slow.
	for i := range free.Loops[1].Results {
		if e := free.Loops[1].Results[i].Error(); e > -0.1 {
			t.Errorf("held out, and predicted %+.1f %%: who told?", 100*e)
		}
	}
	if _, err := Train(t.Context(), nil, nil, TrainOptions{Name: "own", Data: "planted", Fit: DefaultFit(), Loops: own, Beside: beside}); err == nil {
		t.Error("other models beside, and no weight for the distance to them")
	}
}
