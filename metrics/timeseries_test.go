package metrics

import (
	"math/rand/v2"
	"testing"

	"blis/vtime"
)

// The time series against their twin, which has the level of every microsecond.
func TestTimeSeriesAgainstEveryMicrosecond(t *testing.T) {
	for seed := range uint64(6) {
		dice := rand.New(rand.NewPCG(seed, 7))
		end := vtime.Time(dice.IntN(5_000_000))
		for _, o := range []TimeSeriesOptions{{}, {Step: vtime.Duration(1000 + dice.IntN(300_000)), Histograms: true}} {
			s, levels, steps := NewTimeSeries(o), make([]int32, end), []vtime.Time{}
			var c Counters
			level, now := int64(0), vtime.Time(0)
			for now < end {
				to := min(end, now+vtime.Time(dice.IntN(2*int(end)/50+1)))
				for i := now; i < to; i++ {
					levels[i] = int32(level)
				}
				now = to
				if s.Due(now) {
					s.Pass(now, &c)
				}
				s.Gauges[RunningGauge].Hold(now, level)
				if dice.IntN(3) > 0 {
					level = int64(dice.IntN(100))
				}
				if now < end {
					c.Steps++
					steps = append(steps, now)
					s.ObserveStep(int64(now % 20_000))
				}
			}
			s.Finish(end, &c)
			width := vtime.Time(s.Width())
			if o.Step == 0 && (end > width*mostBins || width > 1<<leastShift && end <= width/2*mostBins) {
				t.Errorf("seed %d: bins are %v wide in a run of %v", seed, width, end)
			}
			bins := int((end + width - 1) / width)
			if n, m := len(s.Gauges[RunningGauge].Bins), len(s.Counts[StepsCount].Bins); n != bins || m != bins {
				t.Fatalf("seed %d, width %v: %d bins of the gauge, %d of the count, want %d", seed, width, n, m, bins)
			}
			for k, got := range s.Gauges[RunningGauge].Bins {
				of := levels[vtime.Time(k)*width : min(end, vtime.Time(k+1)*width)]
				want := GaugeBin{Min: of[0], Max: of[0], Last: of[len(of)-1]}
				for _, x := range of {
					want.Micros += int64(x)
					want.Min, want.Max = min(want.Min, x), max(want.Max, x)
				}
				if got != want {
					t.Fatalf("seed %d, width %v: bin %d is %+v, want %+v", seed, width, k, got, want)
				}
			}
			for _, at := range steps {
				s.Counts[StepsCount].Bins[at/width]--
				if s.StepTokens != nil {
					bucket := 0
					for bucket < len(StepTokenBounds) && int64(at%20_000) > StepTokenBounds[bucket] {
						bucket++
					}
					s.StepTokens.Counts[int(at/width)*(len(StepTokenBounds)+1)+bucket]--
					s.StepTokens.Sums[at/width] -= int64(at % 20_000)
				}
			}
			left := s.Counts[StepsCount].Bins
			if s.StepTokens != nil {
				left = append(append(left, s.StepTokens.Counts...), s.StepTokens.Sums...)
			}
			for k, n := range left {
				if n != 0 {
					t.Fatalf("seed %d, width %v: count %d is off by %d", seed, width, k, n)
				}
			}
		}
	}
}
