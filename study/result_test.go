package study

import (
	"math"
	"strings"
	"testing"

	"blis/metrics"
)

// replicates are values of one measure; NaN stands for a missing one.
func replicates(list []float64) []Values {
	var all []Values
	for _, x := range list {
		v := Values{nil}
		if !math.IsNaN(x) {
			v[0] = &x
		}
		all = append(all, v)
	}
	return all
}

func TestVerdicts(t *testing.T) {
	none := math.NaN()
	for _, c := range []struct {
		name       string
		better     metrics.Direction
		base, with []float64
		margin     float64
		want       Verdict
	}{
		{"lower is better", metrics.Lower, []float64{100, 110, 90}, []float64{50, 61, 39}, 0.01, Better},
		{"lower is worse", metrics.Higher, []float64{100, 110, 90}, []float64{50, 61, 39}, 0.01, Worse},
		{"higher is better", metrics.Higher, []float64{1, 2, 3}, []float64{2, 3.1, 4}, 0.01, Better},
		{"higher is worse", metrics.Lower, []float64{1, 2, 3}, []float64{2, 3.1, 4}, 0.01, Worse},
		{"paired: the same difference in spite of much traffic", metrics.Lower, []float64{100, 1000, 10000}, []float64{90, 990, 9990}, 0.001, Better},
		{"the interval holds 0", metrics.Lower, []float64{100, 110, 90}, []float64{80, 140, 75}, 0.01, NoDifference},
		{"equal", metrics.Lower, []float64{100, 110, 90}, []float64{100, 110, 90}, 0, NoDifference},
		{"equal and 0", metrics.Lower, []float64{0, 0, 0}, []float64{0, 0, 0}, 0, NoDifference},
		{"too small to matter", metrics.Lower, []float64{100, 110, 90}, []float64{99.5, 109.5, 89.5}, 0.01, NoDifference},
		{"small and no margin", metrics.Lower, []float64{100, 110, 90}, []float64{99.5, 109.5, 89.5}, 0, Better},
		{"just the margin", metrics.Lower, []float64{100, 100}, []float64{99, 99}, 0.01, Better},
		{"from nothing", metrics.Higher, []float64{0, 0, 0}, []float64{0.5, 0.4, 0.5}, 0.01, Better},
		{"from below 0", metrics.Higher, []float64{-10, -10}, []float64{-5, -5}, 0.01, Better},
		{"missing in the baseline", metrics.Lower, []float64{1, none, 1}, []float64{1, 1, 1}, 0.01, NotMeasured},
		{"missing in the bundle", metrics.Lower, []float64{1, 1, 1}, []float64{1, 1, none}, 0.01, NotMeasured},
		{"missing everywhere", metrics.Lower, []float64{none, none}, []float64{none, none}, 0.01, NotMeasured},
		{"one replicate", metrics.Lower, []float64{1}, []float64{2}, 0.01, Undecided},
		{"no replicate", metrics.Lower, nil, nil, 0.01, Undecided},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Result{Confidence: 0.95, Margin: c.margin, Measures: []Measure{{Name: "x", Better: c.better}}, Bundles: make([]Compared, 2)}
			r.evaluate([][]Values{replicates(c.base), replicates(c.with)})
			r.giveVerdicts()
			base, e := r.Bundles[0].Estimates[0], r.Bundles[1].Estimates[0]
			if e.Verdict != c.want || base.Verdict != Baseline || base.Difference != nil {
				t.Errorf("%q, baseline %q, want %q", e.Verdict, base.Verdict, c.want)
			}
			if (e.Difference == nil) != (c.want == NotMeasured || c.name == "no replicate") {
				t.Errorf("difference %v", e.Difference)
			}
			for _, x := range []*float64{base.Mean, base.HalfWidth, e.Mean, e.HalfWidth} {
				if x != nil && (math.IsNaN(*x) || math.IsInf(*x, 0)) {
					t.Errorf("%v in a result", *x)
				}
			}
		})
	}
}

func TestDifferencesAreOfPairs(t *testing.T) {
	r := Result{Confidence: 0.95, Measures: []Measure{{Name: "x", Better: metrics.Lower}}, Bundles: make([]Compared, 2)}
	r.evaluate([][]Values{replicates([]float64{100, 200, 600}), replicates([]float64{90, 185, 580})})
	d := r.Bundles[1].Estimates[0].Difference
	// Differences −10, −15, −20: mean −15, s 5, half-width 4.303·5/√3; 300 is the mean of the baseline.
	if want := 4.302652729911275 * 5 / math.Sqrt(3); d.Mean != -15 || math.Abs(*d.HalfWidth-want) > 1e-8 || *d.Relative != -0.05 {
		t.Errorf("difference %v ± %v (%v), want -15 ± %v (-0.05)", d.Mean, *d.HalfWidth, *d.Relative, want)
	}
	from0 := Result{Confidence: 0.95, Measures: r.Measures, Bundles: make([]Compared, 2)}
	from0.evaluate([][]Values{replicates([]float64{0, 0}), replicates([]float64{1, 2})})
	if d := from0.Bundles[1].Estimates[0].Difference; d.Relative != nil {
		t.Errorf("%v relative to 0", *d.Relative)
	}
	below := Result{Confidence: 0.95, Measures: r.Measures, Bundles: make([]Compared, 2)}
	below.evaluate([][]Values{replicates([]float64{-10, -10}), replicates([]float64{-5, -5})})
	if d := below.Bundles[1].Estimates[0].Difference; *d.Relative != 0.5 {
		t.Errorf("from -10 to -5 is %v of the baseline, want 0.5 up", *d.Relative)
	}
}

func TestConstantReplicatesAreSaid(t *testing.T) {
	for _, c := range []struct {
		with []float64
		want bool
	}{{[]float64{1, 1}, true}, {[]float64{1, 2}, false}, {[]float64{1, math.NaN()}, false}, {[]float64{math.NaN(), math.NaN()}, true}} {
		r := Result{Confidence: 0.95, Intervals: Intervals{Method: FromSeeds}, Measures: []Measure{{Name: "x"}}, Bundles: make([]Compared, 2), Replicates: make([]Seeds, 2)}
		r.evaluate([][]Values{replicates([]float64{3, 3}), replicates(c.with)})
		if got := strings.Contains(strings.Join(r.warnings(), "\n"), "seeds change nothing"); got != c.want {
			t.Errorf("%v: warned is %v", c.with, got)
		}
	}
}

// An objective that is measured nowhere is said: it ranks nobody.
func TestObjectivesWithoutValuesAreSaid(t *testing.T) {
	none := []float64{math.NaN(), math.NaN()}
	for _, c := range []struct {
		name       string
		base, with []float64
		seeds      int
		want       bool
	}{
		{"nowhere", none, none, 2, true},
		{"in one run", none, []float64{math.NaN(), 1}, 2, false},
		{"in the baseline", []float64{1, 2}, none, 2, false},
		{"before the first run", nil, nil, 0, false},
	} {
		measures := []Measure{{Name: "x"}, {Name: "goodput"}}
		r := Result{Confidence: 0.95, Measures: measures, Objectives: measures[1:], Bundles: make([]Compared, 2), Replicates: make([]Seeds, c.seeds)}
		both := func(second []float64) (list []Values) {
			for _, v := range replicates(second) {
				list = append(list, append(Values{new(float64)}, v...))
			}
			return list
		}
		r.evaluate([][]Values{both(c.base), both(c.with)})
		const want = "ranks do not go by what no run has a value of: goodput"
		if notes := strings.Join(r.warnings(), "\n"); strings.Contains(notes, want) != c.want {
			t.Errorf("%s: %q", c.name, notes)
		}
	}
}
