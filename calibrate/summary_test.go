package calibrate

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"blis/calibrate/measured"
)

// scored is a comparison of means alone.
func scored(m Metric, measured, predicted float64) Comparison {
	return Comparison{Scores: []Score{{m, "mean", measured, predicted}}}
}

func TestSummaries(t *testing.T) {
	a, b, c := scored(TTFT, 10, 11), scored(TTFT, 10, 8), scored(TTFT, 100, 130)
	b.Scores = append(b.Scores, Score{E2E, "p99", 50, 40})
	// Two runs of one model with +10 and −20 %, one of another with +30 %.
	list := summarise([]judgedRun{{model: "small", Comparison: &a}, {model: "small", Comparison: &b}, {model: "large", Comparison: &c}, {model: "large", Comparison: &Comparison{}}})
	if len(list) != 2 {
		t.Fatalf("%+v", list)
	}
	near := func(x, y float64) bool { return math.Abs(x-y) < 1e-12 }
	if s := list[0]; s.Metric != TTFT || s.Statistic != "mean" || s.Runs != 3 || !near(s.Median, 0.2) || !near(s.Mean, 0.2) || !near(s.Worst, 0.3) || !near(s.Bias, 0.2/3) {
		t.Errorf("%+v", s)
	}
	if s := list[0]; s.Models != 2 || !near(s.ModelMean, (0.15+0.3)/2) || !near(s.ModelBias, (-0.05+0.3)/2) || !near(s.WorstError, 0.3) {
		t.Errorf("by model: %+v", s)
	}
	if s := list[1]; s != (Summary{E2E, "p99", 1, 1, s.Median, s.Median, s.Median, -s.Median, s.Median, -s.Median, -s.Median, 0}) || !near(s.Median, 0.2) {
		t.Errorf("%+v", s)
	}
	if list := summarise(nil); list != nil {
		t.Errorf("%+v", list)
	}
	// Groups of loops off by 10 and 30 % (one model, two TP degrees) and by 20 %; runs have none.
	looped := func(tp int, c *Comparison) judgedRun {
		return judgedRun{"small", c, &LoopGroup{Model: "small", TP: tp}}
	}
	if s := summarise([]judgedRun{looped(1, &a), looped(2, &c), looped(4, &b), {model: "large", Comparison: &c}})[0]; !near(s.GroupP90, 0.28) {
		t.Errorf("nine of ten groups within %v", s.GroupP90)
	}
	of := func(model string) *Sample { return &Sample{Run: &measured.Run{Model: model}} }
	judged := Summarise([]Evaluation{{Sample: of("small"), Comparison: a}, {Sample: of("large"), Comparison: c}})
	if s := judged[0]; len(judged) != 1 || s.Runs != 2 || s.Models != 2 || !near(s.Median, 0.2) {
		t.Errorf("%+v", judged)
	}
}

// rankTwin is Spearman's correlation as defined: that of the ranks, which are
// counted pair by pair, and the pairs in order likewise.
func rankTwin(a, b []float64) (spearman float64, pairs, ordered int) {
	place := func(list []float64, i int) float64 {
		below, equal := 0, 0
		for _, v := range list {
			switch {
			case v < list[i]:
				below++
			case v == list[i]:
				equal++
			}
		}
		return float64(below) + float64(equal+1)/2
	}
	n := float64(len(a))
	middle := (n + 1) / 2
	var xy, xx, yy float64
	for i := range a {
		x, y := place(a, i)-middle, place(b, i)-middle
		xy, xx, yy = xy+x*y, xx+x*x, yy+y*y
		for j := range i {
			d := (a[i] - a[j]) * (b[i] - b[j])
			if a[i] != a[j] {
				pairs++
				if d > 0 {
					ordered++
				}
			}
		}
	}
	if xx == 0 || yy == 0 {
		return 0, pairs, ordered
	}
	return xy / math.Sqrt(xx*yy), pairs, ordered
}

func TestRankings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := values(t, "measured"), values(t, "predicted")
		n := min(len(a), len(b))
		a, b = a[:n], b[:n]
		got := OrderOf(a, b)
		spearman, pairs, ordered := rankTwin(a, b)
		if got.Pairs != pairs || got.Ordered != ordered || math.Abs(got.Spearman-spearman) > 1e-12 {
			t.Fatalf("%v and %v: %+v, want %v, %d of %d", a, b, got, spearman, ordered, pairs)
		}
	})
	for _, c := range []struct {
		name      string
		predicted []float64
		spearman  float64
		ordered   int
	}{
		{"as measured", []float64{1, 2, 30}, 1, 3}, {"the other way round", []float64{3, 2, 1}, -1, 0}, {"all equal", []float64{5, 5, 5}, 0, 0},
	} {
		if got := OrderOf([]float64{10, 20, 21}, c.predicted); math.Abs(got.Spearman-c.spearman) > 1e-12 || got.Pairs != 3 || got.Ordered != c.ordered {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// Cells are the stages of runs, or runs without any. What is overloaded or has
// no prediction is left out, and what is alone has no order.
func TestCellsOfRankings(t *testing.T) {
	runs := []RunResult{
		{All: scored(TTFT, 9, 9), Stages: []Comparison{scored(TTFT, 1, 10), scored(TTFT, 2, 20), {}}},
		{All: scored(TTFT, 3, 15)},
		{All: scored(TTFT, 4, 1), Overloaded: true},
		{All: scored(TTFT, 5, 1), Missing: "no such model"},
		{All: scored(E2E, 5, 1)},
	}
	list := rankings(runs)
	if len(list) != 1 || list[0] != (Ranking{TTFT, 3, Order{list[0].Spearman, 3, 2}}) || math.Abs(list[0].Spearman-0.5) > 1e-12 {
		t.Errorf("%+v", list)
	}
	if list := rankings(runs[1:]); list != nil {
		t.Errorf("one cell each: %+v", list)
	}
}
