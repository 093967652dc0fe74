package report

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"blis/report/plaintext"
	"blis/setup"
	"blis/study"
	"blis/study/pointlog"
)

// TestATextNeedsFewCombinations: it is the same whether the view keeps all or what a text
// shows, and what is kept does not grow with the number of points.
func TestATextNeedsFewCombinations(t *testing.T) {
	seed := rand.Uint64()
	for _, axes := range [][3]int{{2, 3, 2}, {70, 3, 4}, {1, 1, 1}, {4, 21, 20}} {
		random := rand.New(rand.NewPCG(seed, 0))
		var sweep study.Sweep
		sweep.Base = setup.DefaultConfig()
		for i := range axes {
			sweep.Axes = append(sweep.Axes, study.Axis{Name: fmt.Sprintf("axis%d", i)})
		}
		var views []*study.SweepView
		for _, keep := range []study.ViewLimits{{}, SweepTextLimits} {
			v, err := study.NewSweepView(&sweep, []string{"p99_ttft", "cost", "slo_attainment"}, nil, "")
			if err != nil {
				t.Fatal(err)
			}
			v.Keep = keep
			views = append(views, v)
		}
		const replicates = 3
		n := axes[0] * axes[1] * axes[2] * replicates
		for i := range n {
			r := rowOf(random, int64(i), i/replicates, axes)
			for _, v := range views {
				if err := v.Add(&r); err != nil {
					t.Fatal(err)
				}
			}
		}
		var texts []string
		for _, v := range views {
			v.Finish()
			v.Points = int64(n)
			var b strings.Builder
			if err := (&Sweep{SweepView: v, Name: "x"}).Text(&b, plaintext.Style{Width: 100}); err != nil {
				t.Fatal(err)
			}
			texts = append(texts, b.String())
		}
		if texts[0] != texts[1] {
			t.Errorf("seed %d, %v: all kept:\n%s\nfew kept:\n%s", seed, axes, texts[0], texts[1])
		}
		if kept := len(views[1].Groups); kept > SweepTextLimits.Groups {
			t.Errorf("%d combinations are kept", kept)
		}
		for _, e := range views[1].Effects {
			if len(e.Values) > SweepTextLimits.Values+1 {
				t.Errorf("%d values of an axis are kept", len(e.Values))
			}
		}
	}
}

// rowOf is a row of a combination. Some are refused, and some measures have no value.
func rowOf(random *rand.Rand, index int64, combination int, axes [3]int) pointlog.Row {
	r := pointlog.Row{Index: index, Status: pointlog.OK, LatencyModel: "physics", CoefficientSet: "h100", Reasons: map[string]string{"slo_attainment": "none"}}
	for k := len(axes) - 1; k >= 0; k-- {
		r.Axes = append([]pointlog.Coordinate{{Axis: fmt.Sprintf("axis%d", k), Value: json.RawMessage(fmt.Sprint(combination % axes[k]))}}, r.Axes...)
		combination /= axes[k]
	}
	if random.IntN(10) == 0 {
		r.Status, r.Error = pointlog.Refused, "does not fit"
		return r
	}
	a, b := random.Float64(), random.Float64()
	r.Measures = []pointlog.Measured{{Name: "p99_ttft", Value: &a}, {Name: "slo_attainment"}, {Name: "cost", Value: &b}}
	return r
}
