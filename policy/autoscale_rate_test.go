package policy

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"blis/vtime"
	"blis/workload"
)

// arrivals makes ctx know of n requests in the last RateWindow.
func arrivals(ctx *AutoscaleContext, n int) {
	ctx.State = &RouterState{View: ctx.View, Declared: Rates}
	ctx.State.Track(Rates)
	for range n {
		ctx.State.Arrive(workload.Label(0), workload.Label(0), ctx.Now)
	}
}

// TestRatePerReplica: as many replicas as bring the arrivals per second of each to
// the target, whether they are ready or not.
func TestRatePerReplica(t *testing.T) {
	for _, c := range []struct {
		name     string
		target   string
		slots    []Slot
		arrivals int // in 10 s
		want     ScaleDecision
	}{
		{"60 per second at 8.16 each: 7.35, rounded up", "8.16", each(3, Slot{}), 600, ScaleDecision{ScaleUp, 8, ToTarget}},
		{"those that start count", "8.16", append(each(3, Slot{}), starting, starting, starting, starting, starting), 600, ScaleDecision{Hold, 8, WithinTolerance}},
		{"20 per second: 2.45, rounded up", "8.16", each(8, Slot{}), 200, ScaleDecision{ScaleDown, 3, ToTarget}},
		{"10 % more is within the tolerance", "10", each(2, Slot{}), 220, ScaleDecision{Hold, 2, WithinTolerance}},
		{"a tenth of a request more is not", "10", each(2, Slot{}), 221, ScaleDecision{ScaleUp, 3, ToTarget}},
		{"10 % less is", "10", each(2, Slot{}), 180, ScaleDecision{Hold, 2, WithinTolerance}},
		{"less is not, but rounds up to as many", "10", each(2, Slot{}), 179, ScaleDecision{Hold, 2, ToTarget}},
		{"nobody comes: the fewest", "10", each(4, Slot{}), 0, ScaleDecision{ScaleDown, 1, ToTarget}},
	} {
		p := mustScale(t, "target-utilization", Setting{"signal", "rate"}, Setting{"target", c.target}, Setting{"down_window", "0"}, Setting{"up_pods", "99"})
		if p.Observes() != Rates {
			t.Errorf("observes %v, want rates alone", p.Observes())
		}
		ctx := fleet(p, seconds(15), c.slots...)
		ctx.Max = 60
		arrivals(ctx, c.arrivals)
		if got := p.Evaluate(ctx); got != c.want {
			t.Errorf("%s: %+v (%v), want %+v", c.name, got, got.Reason, c.want)
		}
	}
}

// TestRateEqualsItsTwin compares random series with the formula.
func TestRateEqualsItsTwin(t *testing.T) {
	changed := 0
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 79))
		milli := int64(1 + rng.IntN(20_000))
		tolerance := float64(rng.IntN(4)) / 10
		p := mustScale(t, "target-utilization", Setting{"signal", "rate"}, Setting{"target", decimalOf(milli)}, Setting{"tolerance", decimalOf(int64(math.Round(1000 * tolerance)))},
			Setting{"down_window", "0"}, Setting{"up_percent", "1000000"}, Setting{"period", "1"})
		replicas := 1 + rng.IntN(20)
		for step := range 20 {
			ctx := fleet(p, vtime.Time(step+1)*vtime.Time(vtime.Second), each(replicas, Slot{})...)
			ctx.Min, ctx.Max = 1, 1000
			n := rng.IntN(400)
			arrivals(ctx, n)
			ratio := float64(100*n) / float64(milli*int64(replicas))
			want := replicas
			if ratio < 1-tolerance || ratio > 1+tolerance {
				want = min(max(int(math.Ceil(float64(100*n)/float64(milli))), 1), 1000)
			}
			if got := p.Evaluate(ctx); int(got.Target) != want {
				t.Fatalf("seed %d, step %d: %d requests in 10 s at %d thousandths for each of %d replicas: %+v, want %d", seed, step, n, milli, replicas, got, want)
			}
			if want != replicas {
				changed++
			}
			replicas = min(want, 60)
		}
	}
	if changed < 1000 {
		t.Errorf("only %d changes", changed)
	}
}

// decimalOf is thousandths as a parameter.
func decimalOf(thousandths int64) string {
	return strconv.FormatFloat(float64(thousandths)/1000, 'f', 3, 64)
}
