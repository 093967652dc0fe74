package spec

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// Counts per 10 s are Poisson around the integral of the rate: the sum of
// (count − mean)²/mean is chi-square.
func TestLoadProfilesAreThoseOfTheCounts(t *testing.T) {
	const segments, width, base = 24, 10.0, 3.0 // of 10 s, at 3/s
	steps := func(x float64) float64 {
		switch x = math.Mod(x, 100); {
		case x < 35:
			return 2
		case x < 60:
			return 0
		}
		return 0.5
	}
	spike := func(x float64) float64 {
		if x := math.Mod(x, 60); x >= 20 && x < 25 {
			return 10
		}
		return 1
	}
	wave := func(period, ratio, peak float64) func(float64) float64 {
		return func(x float64) float64 {
			return 1 + (ratio-1)/(ratio+1)*math.Cos(2*math.Pi*(x-peak)/period)
		}
	}
	for name, c := range map[string]struct { // any order: each is a test of its own
		text string
		rate func(second float64) float64 // in multiples of the base
	}{
		"none":     {"", func(float64) float64 { return 1 }},
		"constant": {"load_profile: {type: constant, multiplier: 2.5}", func(float64) float64 { return 2.5 }},
		"step":     {"load_profile: {type: step, repeat: true, segments: [{duration: 35s, multiplier: 2}, {duration: 25s, multiplier: 0}, {duration: 40s, multiplier: 0.5}]}", steps},
		"ramp": {"load_profile: {type: ramp, start: 0.5, segments: [{duration: 100s, multiplier: 4}, {duration: 50s, multiplier: 1}]}", func(x float64) float64 {
			switch {
			case x < 100:
				return 0.5 + 3.5*x/100
			case x < 150:
				return 4 - 3*(x-100)/50
			}
			return 1
		}},
		"diurnal":         {"load_profile: {type: diurnal, period: 120s, peak_to_trough: 10, peak_at: 30s}", wave(120, 10, 30)},
		"spike":           {"load_profile: {type: spike, every: 60s, duration: 5s, factor: 10, first: 20s}", spike},
		"bursty process":  {"arrival: {process: bursty, every: 60s, duration: 5s, factor: 10, first: 20s}", spike},
		"diurnal process": {"arrival: {process: diurnal, period: 80s, peak_to_trough: 4}", wave(80, 4, 40)},
		"windows": {"lifecycle: {windows: [{start_us: 15s, end_us: 80s, trace_rate: 6}, {start_us: 120s, end_us: 200s}]}", func(x float64) float64 {
			switch {
			case x >= 15 && x < 80:
				return 2
			case x >= 120 && x < 200:
				return 1
			}
			return 0
		}},
	} {
		t.Run(name, func(t *testing.T) {
			field := c.text
			if field != "" {
				field = ", " + field
			}
			text := fmt.Sprintf("horizon: %v\nclients: [{rate: %v, %s%s}]", int64(segments*width*1e6), base, lengths, field)
			var counts [statisticSeeds][segments]float64
			for seed := range counts {
				for _, r := range requestsOf(t, text, uint64(seed), 0) {
					counts[seed][int(r.Arrival.Seconds()/width)]++
				}
			}
			statistic, freedom := 0.0, 0.0
			for s := range segments {
				want, sum := 0.0, 0.0
				for i := range 10_000 { // the middles of small steps
					want += base * width / 10_000 * c.rate(width*(float64(s)+(float64(i)+0.5)/10_000))
				}
				for seed := range counts {
					n := counts[seed][s]
					sum += n
					if want > 0 {
						statistic += (n - want) * (n - want) / want
						freedom++
					}
				}
				if bound := 5 * math.Sqrt(want/statisticSeeds); math.Abs(sum/statisticSeeds-want) > bound {
					t.Errorf("segment %d has %v requests, want %v ± %v", s, sum/statisticSeeds, want, bound)
				}
			}
			if p := (distuv.ChiSquared{K: freedom}).CDF(statistic); p < 1e-4 || p > 1-1e-4 {
				t.Errorf("chi-square %v with %v degrees of freedom, p = %v", statistic, freedom, p)
			}
		})
	}
}
