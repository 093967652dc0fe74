package calibrate

import (
	"math"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"blis/internal/testsize"
	"blis/latency"
)

// publicLoopFit returns the fit to all closed loops with the weights of the shipped set, the
// loops and the options. It is made once.
func publicLoopFit(t *testing.T) (*Fit, []*ClosedLoopSample, FitOptions) {
	t.Helper()
	needMeasured(t)
	testsize.Long(t)
	o := DefaultFit()
	o.Workers, o.Lambda = 2, 0.005
	fitPublicLoops.Do(func() {
		loops, _, err := LoadClosedLoops(filepath.Join(measuredRuns, "closed_loop.csv.gz"), Overrides{})
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range loops {
			l.Weight = 0.05
		}
		fit, err := FitClosedLoops(t.Context(), loops, o)
		if err != nil {
			t.Fatal(err)
		}
		fitPublicLoops.fit, fitPublicLoops.loops = fit, loops
	})
	if fitPublicLoops.fit == nil {
		t.Fatal("no fit")
	}
	return fitPublicLoops.fit, fitPublicLoops.loops, o
}

var fitPublicLoops struct {
	sync.Once
	fit   *Fit
	loops []*ClosedLoopSample
}

// What a set would state of a group of closed loops (model, GPU, precision, TP) that it
// never saw, from the errors on all others, against what is found there. A statement is
// good if most groups are hardly worse than stated, and if it is not a large figure for
// everything.
func TestStatedErrorsAgainstThoseFound(t *testing.T) {
	fit, loops, o := publicLoopFit(t)
	for _, c := range []struct {
		by      LoopHoldOut
		label   string
		reasons []string // of Coverage, for what was held out
		within  float64  // share of groups with found ≤ 1.5 × expected, at least
	}{
		{ByGroup, latency.HeldOutGroup, nil, 0.9},
		{ByLoopModel, latency.HeldOutModel, []string{latency.ModelNotMeasured}, 0.8},
	} {
		v, err := fit.HoldOutLoops(t.Context(), nil, nil, loops, c.by, o)
		if err != nil {
			t.Fatal(err)
		}
		within, groups, ratios := [2]int{}, 0, [2][]float64{}
		for _, g := range v.Groups {
			if g.Points < 5 {
				continue
			}
			found, d, others := 0.0, (*latency.Deployment)(nil), LoopValidation{}
			for i := range v.Results {
				r := &v.Results[i]
				switch of := r.Sample.Group(); {
				case r.Missing != "":
				case of == LoopGroup{Model: g.Model, GPU: g.GPU, Precision: g.Precision, TP: g.TP}:
					found, d = found+100*math.Abs(r.Error())/float64(g.Points), r.Sample.Server.Deployment
				case c.by == ByGroup || of.Model != g.Model:
					others.Results = append(others.Results, *r)
				}
			}
			set := &latency.PhysicsSet{Errors: statedErrors(c.label, others.placed())}
			tpot := set.StatedError(d, c.reasons).TPOT
			groups++
			for i, stated := range []float64{tpot.Expected, tpot.GroupP90} {
				if found <= 1.5*stated {
					within[i]++
				}
				ratios[i] = append(ratios[i], stated/found)
			}
		}
		for i, what := range []string{"expected", "nine of ten groups"} {
			slices.Sort(ratios[i])
			share, ratio := float64(within[i])/float64(groups), percentile(ratios[i], 50)
			t.Logf("%s held out, %d groups, %s: found at most 1.5 × stated in %.1f %%, stated %.2f × found in the median", c.by, groups, what, 100*share, ratio)
			if want := []float64{c.within, 0.9}[i]; share < want || ratio > 3 {
				t.Errorf("want %.0f %% and at most 3", 100*want)
			}
		}
	}
}
