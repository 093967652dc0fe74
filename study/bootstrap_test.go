package study

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"blis/actors"
	"blis/internal/testsize"
	"blis/metrics"
	"blis/vtime"
)

// Every series has as many windows as the run, and blocks stay together.
func TestWeightsAreBlocks(t *testing.T) {
	for _, c := range []struct{ n, block int }{{20, 1}, {20, 2}, {37, 3}, {200, 20}} {
		var first [][]int32
		drawWeights(5, c.n, c.block, func(series int, weights []int32) {
			sum, alone := int32(0), 0
			for i, w := range weights {
				sum += w
				if w > 0 && (i == 0 || weights[i-1] == 0) && (i == c.n-1 || weights[i+1] == 0) {
					alone++
				}
			}
			if int(sum) != c.n || alone > 1 && c.block > 1 { // the last block may be cut to one window
				t.Fatalf("%d windows in blocks of %d, series %d: %v", c.n, c.block, series, weights)
			}
			first = append(first, slices.Clone(weights))
		})
		if len(first) != resamples {
			t.Fatalf("%d series, want %d", len(first), resamples)
		}
		again := 0
		drawWeights(5, c.n, c.block, func(series int, weights []int32) {
			if !slices.Equal(weights, first[series]) {
				again++
			}
		})
		if again > 0 {
			t.Errorf("the same seed draws other windows in %d series", again)
		}
	}
}

// A percentile of a weighted series is that of the samples written down as often
// as their windows come: the quick search against a sorted list.
func TestRanksOfWeightedSeries(t *testing.T) {
	const seed = 3
	draws := vtime.NewStream(seed, "ranks")
	for trial := range 40 {
		n := 20 + draws.IntN(20)
		var values []valueInWindow
		for range 1 + draws.IntN(3000) {
			values = append(values, valueInWindow{int64(draws.IntN(500)), int32(draws.IntN(n))})
		}
		table := newRankTable(values, n)
		weights := make([]int32, n)
		var all []int64
		for w := range weights {
			weights[w] = int32(draws.IntN(4))
		}
		for _, v := range values {
			for range weights[v.window] {
				all = append(all, v.value)
			}
		}
		slices.Sort(all)
		for rank := range all {
			value, next := table.at(int64(rank), weights)
			if value != all[rank] || next != all[min(rank+1, len(all)-1)] {
				t.Fatalf("seed %d, trial %d, rank %d of %d: %d and %d, want %d and %d", seed, trial, rank, len(all), value, next, all[rank], all[min(rank+1, len(all)-1)])
			}
		}
	}
}

// observedRun runs a cluster and keeps what the bootstrap keeps.
func observedRun(t *testing.T, cfg actors.Config) (*sample, *actors.Result) {
	t.Helper()
	fitness, err := metrics.ParseFitness(cfg.FitnessWeights)
	if err != nil {
		t.Fatal(err)
	}
	s := &sample{fitness: fitness}
	cfg.Row = s.observe
	r, err := actors.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	s.figures = r.Figures()
	return s, r
}

// With every window once the bootstrap sees the run itself: each measure that it
// knows is the run's, to the bit. So measures have one definition.
func TestWeightsOfOneAreTheRun(t *testing.T) {
	for name, change := range map[string]func(*actors.Config){
		"plain":    func(*actors.Config) {},
		"targets":  func(c *actors.Config) { c.SLOTargets = "standard:ttft=30ms,tpot=14ms" },
		"rejected": func(c *actors.Config) { c.AdmissionPolicy, c.TokenBucketRefillRate = "token-bucket", 20000 },
		"timeouts": func(c *actors.Config) { c.Timeout, c.Rate = 3*vtime.Second, 200 },
		"cut":      func(c *actors.Config) { c.Horizon, c.AdmissionLatency = 2*vtime.Second, 30*vtime.Millisecond },
		"measured": func(c *actors.Config) { c.MeasureFrom, c.MeasureTo = vtime.Second, 3*vtime.Second },
		"short":    func(c *actors.Config) { c.TotalKVBlocks, c.PrefixTokens = 300, 64 },
		"spec": func(c *actors.Config) {
			c.WorkloadSpec, c.NumRequests = "../examples/workloads/noisy-neighbour.yaml", 800
		},
	} {
		cfg := small()
		cfg.NumRequests, cfg.FitnessWeights = 500, "p99_ttft@100ms:2,throughput:1,jain:1"
		change(&cfg)
		s, r := observedRun(t, cfg)
		cut := spanOf([]*sample{s})
		if cut.windows == 0 {
			cut.windows = 7 // a number is as good as another here
		}
		table := newTable(s, &cut)
		weights := make([]int32, cut.windows)
		for w := range weights {
			weights[w] = 1
		}
		judged := table.figures(weights)
		score := s.fitness.Of(judged)
		for _, m := range Measures() {
			if !resampled(&m, &s.fitness) {
				continue
			}
			if d := cmp.Diff(m.of(r.Figures(), r.Fitness), m.of(judged, score), cmpopts.EquateApprox(1e-15, 0)); d != "" {
				t.Errorf("%s: %s: %s", name, m.Name, d)
			}
		}
	}
}

// series is a stationary one with this correlation between neighbours.
func series(draws *vtime.Stream, n int, correlation float64) []float64 {
	list := make([]float64, n)
	x := draws.NormFloat64()
	for i := range list {
		list[i] = x
		x = correlation*x + math.Sqrt(1-correlation*correlation)*draws.NormFloat64()
	}
	return list
}

// Blocks get longer with the memory of a series, and are short without.
func TestBlocksFollowTheMemory(t *testing.T) {
	mean := func(correlation float64) float64 {
		draws, sum := vtime.NewStream(9, "memory"), 0.0
		for range 200 {
			sum += blockLength(series(draws, 200, correlation))
		}
		return sum / 200
	}
	none, some, much := mean(0), mean(0.5), mean(0.8)
	// For AR(1) Politis and White's length is (6φ²/(1−φ²)²·n)^⅓: 8.1 and 15.8 of 200 windows.
	if none > 4 || some < 7 || some > 13 || much < 15 || much > 28 {
		t.Errorf("blocks of %.1f, %.1f, %.1f windows at correlations of 0, 0.5 and 0.8", none, some, much)
	}
	if n := blockLength(make([]float64, 50)); n != 1 {
		t.Errorf("blocks of %v in a series that never changes", n)
	}
}

// synthetic is a run whose windows have requests with exponential latencies
// around a level that remembers, and beside it the same run under another
// bundle, a little slower: what the bootstrap must give intervals for.
func synthetic(draws *vtime.Stream, windows, perWindow int, correlation float64) (base, other *sample) {
	level := series(draws, windows, correlation)
	base, other = &sample{figures: emptyRun()}, &sample{figures: emptyRun()}
	for w := range windows {
		for k := range perWindow {
			at := vtime.Time((w*perWindow + k) * 1000)
			common := 1e5 * math.Exp(0.3*level[w]) * draws.ExpFloat64()
			for i, s := range []*sample{base, other} {
				us := int64(common*(1+0.05*float64(i))) + int64(2e4*draws.ExpFloat64())
				o := observed{arrival: at, latency: [sampledLatencies]int64{us, -1, -1, -1}, completed: true}
				o.counts[injected], o.counts[completed] = 1, 1
				s.requests = append(s.requests, o)
			}
		}
	}
	return base, other
}

func emptyRun() *metrics.RunFigures {
	seconds := 1.0
	return &metrics.RunFigures{Report: &metrics.Report{Window: metrics.Window{Seconds: &seconds}}}
}

// Of many runs of a stationary process the intervals at 95 % hold the true value
// in 90 to 98 %: of means and percentiles, and of differences between bundles.
func TestIntervalsCover(t *testing.T) {
	runs := testsize.Of(40, 40, 200)
	if text := os.Getenv("BLIS_COVERAGE_RUNS"); text != "" {
		runs, _ = strconv.Atoi(text)
	}
	names := []string{"mean_ttft", "p50_ttft", "p99_ttft"}
	measures, err := SelectMeasures("", names)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		windows, perWindow int
		correlation        float64
	}{{200, 20, 0}, {200, 20, 0.6}, {60, 20, 0.3}} {
		t.Run(fmt.Sprintf("%d windows of %d at %v", c.windows, c.perWindow, c.correlation), func(t *testing.T) {
			draws := vtime.NewStream(17, fmt.Sprintf("cover/%v", c))
			truth := limits(c.correlation, measures)
			held := make([][2]int, len(names))
			for run := range runs {
				base, other := synthetic(draws, c.windows, c.perWindow, c.correlation)
				r := resampledPair(base, other, measures, uint64(run))
				for m := range measures {
					for i, x := range [2]struct{ mean, half, want float64 }{
						{*r.Bundles[0].Estimates[m].Mean, *r.Bundles[0].Estimates[m].HalfWidth, truth[m][0]},
						{r.Bundles[1].Estimates[m].Difference.Mean, *r.Bundles[1].Estimates[m].Difference.HalfWidth, truth[m][1]},
					} {
						if math.Abs(x.mean-x.want) <= x.half {
							held[m][i]++
						}
					}
				}
			}
			for m := range measures {
				for i, what := range []string{"", "difference of "} {
					share := float64(held[m][i]) / float64(runs)
					t.Logf("%s%s: %.1f %%", what, names[m], 100*share)
					slack := 3 * math.Sqrt(0.9*0.1/float64(runs)) // of the count itself
					if share < 0.90-slack || share > 0.98+slack {
						t.Errorf("intervals of the %s%s hold the true value in %.1f %% of %d runs, want 90 to 98", what, names[m], 100*share, runs)
					}
				}
			}
		})
	}
}

// limits is what measures of base, and differences of other to it, tend to.
func limits(correlation float64, measures []Measure) [][2]float64 {
	draws := vtime.NewStream(4, "limits")
	base, other := synthetic(draws, 20_000, 10, correlation)
	var values [2][]*float64
	for i, s := range []*sample{base, other} {
		cut := span{first: 0, last: s.requests[len(s.requests)-1].arrival, windows: 1}
		judged := newTable(s, &cut).figures([]int32{1})
		for m := range measures {
			values[i] = append(values[i], measures[m].of(judged, nil))
		}
	}
	var list [][2]float64
	for m := range measures {
		list = append(list, [2]float64{*values[0][m], *values[1][m] - *values[0][m]})
	}
	return list
}

// resampledPair is the comparison of two samples.
func resampledPair(base, other *sample, measures []Measure, seed uint64) *Result {
	samples := []*sample{base, other}
	cut := spanOf(samples)
	r := &Result{Confidence: 0.95, Margin: 0.01, Measures: measures, Bundles: make([]Compared, 2)}
	tables := []*table{newTable(base, &cut), newTable(other, &cut)}
	ones := slices.Repeat([]int32{1}, cut.windows)
	var values [][]Values
	for _, t := range tables {
		judged := t.figures(ones)
		var v Values
		for m := range measures {
			v = append(v, measures[m].of(judged, nil))
		}
		values = append(values, []Values{v})
	}
	r.evaluate(values)
	needed := neededBlock(tables)
	r.Intervals = Intervals{Method: Bootstrap, Windows: cut.windows, Block: min(needed, cut.windows/fewestBlocks)}
	first := tables[0].resample(measures, seed, r.Intervals.Block)
	r.setIntervals(0, first, first)
	r.setIntervals(1, tables[1].resample(measures, seed, r.Intervals.Block), first)
	return r
}
