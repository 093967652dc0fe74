package calibrate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"blis/calibrate/measured"
	"blis/vtime"
)

// values draws a sample in which ties are as frequent as in measured times.
func values(t *rapid.T, name string) []float64 {
	random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, name+" seed"), 4))
	kinds := rapid.SampledFrom([]int{1, 3, 20, 1 << 30}).Draw(t, name+" kinds")
	list := make([]float64, 1+rapid.IntRange(0, 40).Draw(t, name+" more"))
	for i := range list {
		list[i] = float64(1+random.IntN(kinds)) / 8
	}
	return list
}

// share is the part of a list that is at most x.
func share(list []float64, x float64) float64 {
	n := 0
	for _, v := range list {
		if v <= x {
			n++
		}
	}
	return float64(n) / float64(len(list))
}

// The distance is the largest difference of the two distribution functions,
// which is at a value of one of the samples.
func TestDistanceIsThatOfTheDistributions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := values(t, "a"), values(t, "b")
		want := 0.0
		for _, x := range slices.Concat(a, b) {
			want = max(want, math.Abs(share(a, x)-share(b, x)))
		}
		slices.Sort(a)
		slices.Sort(b)
		if got, back := ksDistance(a, b), ksDistance(b, a); got != want || back != want {
			t.Fatalf("%v and %v: %v, and %v the other way; by definition %v", a, b, got, back, want)
		}
		if ksDistance(a, a) != 0 {
			t.Fatal("a sample is not 0 from itself")
		}
	})
	if got := ksDistance([]float64{1, 2}, []float64{3, 4, 5}); got != 1 {
		t.Errorf("samples apart: %v", got)
	}
}

// A percentile is by linear interpolation between the order statistics around
// rank p/100·(n−1), counted from 0.
func TestStatistics(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := values(t, "values")
		mean := 0.0
		for _, v := range list {
			mean += v / float64(len(list))
		}
		got := statistics(slices.Clone(list))
		if math.Abs(got[0]-mean) > 1e-12*mean {
			t.Fatalf("mean %v, want %v", got[0], mean)
		}
		for k, p := range []float64{50, 90, 99} {
			rank := p / 100 * float64(len(list)-1)
			// The order statistic i is the least value that more than i are at most.
			order := func(i int) float64 {
				least := math.Inf(1)
				for _, x := range list {
					if int(math.Round(share(list, x)*float64(len(list)))) > i {
						least = min(least, x)
					}
				}
				return least
			}
			low, high := order(int(math.Floor(rank))), order(int(math.Ceil(rank)))
			if want := low + (rank-math.Floor(rank))*(high-low); math.Abs(got[1+k]-want) > 1e-12*want {
				t.Fatalf("p%v of %v is %v, want %v", p, list, got[1+k], want)
			}
		}
	})
	for _, c := range []struct {
		list []float64
		p    float64
		want float64
	}{{[]float64{7}, 50, 7}, {[]float64{7}, 99, 7}, {[]float64{1, 2}, 50, 1.5}, {[]float64{1, 2, 4}, 90, 3.6}, {[]float64{1, 2, 4}, 100, 4}, {[]float64{1, 2, 4}, 0, 1}} {
		if got := percentile(c.list, c.p); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("p%v of %v is %v, want %v", c.p, c.list, got, c.want)
		}
	}
}

// drawPairs is a sample with predictions beside it, both at random.
func drawPairs(t *rapid.T) (*Sample, []Predicted) {
	random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 5))
	n := rapid.IntRange(1, 50).Draw(t, "requests")
	s := &Sample{Run: &measured.Run{}, To: n}
	predicted := make([]Predicted, n)
	for i := range predicted {
		q := measured.Request{Failed: random.IntN(6) == 0, Input: 1 + random.Int32N(100), Output: 1 + random.Int32N(3)}
		if !q.Failed {
			q.TTFT = vtime.Duration(1 + random.Int64N(1000))
			q.E2E = q.TTFT + vtime.Duration(random.Int64N(3)*random.Int64N(5000))
		}
		s.Run.Requests = append(s.Run.Requests, q)
		if random.IntN(6) > 0 {
			p := Predicted{Completed: true, TTFT: float64(random.IntN(1000)), Cached: random.Int32N(q.Input)}
			p.E2E = p.TTFT + float64(random.IntN(5000))
			if q.Output > 1 {
				p.TPOT = (p.E2E - p.TTFT) / float64(q.Output-1)
			}
			predicted[i] = p
		}
	}
	return s, predicted
}

func TestComparisonsCountWhatCompletedInBoth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, predicted := drawPairs(t)
		from := rapid.IntRange(0, s.To).Draw(t, "from")
		to := rapid.IntRange(from, s.To).Draw(t, "to")
		both := func(i int) bool {
			return !s.Run.Requests[i].Failed && predicted[i].Completed && predicted[i].TTFT > 0
		}
		s.From, s.To = from, to
		compareTwin(t, s.compare(predicted, from, to, nil), s, predicted, both)
		compareTwin(t, s.compare(predicted, s.From, s.To, cold), s, predicted, func(i int) bool {
			return both(i) && float64(predicted[i].Cached) < 0.5*float64(s.Run.Requests[i].Input)
		})
	})
}

// compareTwin holds a comparison to one that is made metric by metric.
func compareTwin(t *rapid.T, got *Comparison, s *Sample, predicted []Predicted, wanted func(int) bool) {
	scores, requests := 0, 0
	for i := s.From; i < s.To; i++ {
		if wanted(i) {
			requests++
		}
	}
	for _, m := range Metrics {
		var a, b, each []float64
		for i := s.From; i < s.To; i++ {
			q, p := &s.Run.Requests[i], &predicted[i]
			if !wanted(i) {
				continue
			}
			x, y := float64(q.TTFT), p.TTFT
			switch {
			case m == E2E:
				x, y = float64(q.E2E), p.E2E
			case m == TPOT && (q.Output == 1 || q.E2E == q.TTFT):
				continue
			case m == TPOT:
				x, y = float64(q.E2E-q.TTFT)/float64(q.Output-1), p.TPOT
			}
			a, b, each = append(a, x/1000), append(b, y/1000), append(each, math.Abs(y-x)/x)
		}
		if len(a) == 0 {
			if _, there := got.KS[m]; there || got.score(m, "mean") != nil {
				t.Fatalf("%s of nothing: %+v", m, got)
			}
			continue
		}
		scores += len(Statistics)
		x, y := statistics(a), statistics(b)
		for k, name := range Statistics {
			if g := got.score(m, name); g == nil || g.Measured != x[k] || g.Predicted != y[k] {
				t.Fatalf("%s %s: %+v, want %v and %v", name, m, g, x[k], y[k])
			}
		}
		if middle := statistics(each)[1]; math.Abs(got.RequestError[m]-middle) > 1e-12*middle+1e-15 || got.KS[m] != ksDistance(a, b) {
			t.Fatalf("%s: single requests are off by %v, want %v; distance %v, want %v", m, got.RequestError[m], middle, got.KS[m], ksDistance(a, b))
		}
	}
	if got.Requests != requests || len(got.Scores) != scores {
		t.Fatalf("%d requests, %d scores, want %d, %d", got.Requests, len(got.Scores), requests, scores)
	}
}

func TestComparisonsAtTheEdge(t *testing.T) {
	run := func(requests ...measured.Request) *Sample {
		return &Sample{Run: &measured.Run{Requests: requests}, To: len(requests)}
	}
	good := Predicted{Completed: true, TTFT: 2000, E2E: 5000, TPOT: 3000}
	for _, c := range []struct {
		name      string
		s         *Sample
		predicted []Predicted
		requests  int
		metrics   []Metric
	}{
		{"nothing", run(), nil, 0, nil},
		{"one request", run(measured.Request{Output: 2, TTFT: 1000, E2E: 4000}), []Predicted{good}, 1, Metrics},
		{"one token of output", run(measured.Request{Output: 1, TTFT: 1000, E2E: 1000}), []Predicted{{Completed: true, TTFT: 1500, E2E: 1500}}, 1, []Metric{TTFT, E2E}},
		{"all tokens at once", run(measured.Request{Output: 9, TTFT: 1000, E2E: 1000}), []Predicted{good}, 1, []Metric{TTFT, E2E}},
		{"all failed", run(measured.Request{Output: 2, Failed: true}, measured.Request{Failed: true}), []Predicted{good, good}, 0, nil},
		{"none predicted", run(measured.Request{Output: 2, TTFT: 1000, E2E: 4000}), []Predicted{{}}, 0, nil},
	} {
		got := c.s.compare(c.predicted, c.s.From, c.s.To, nil)
		var metrics []Metric
		for i, s := range got.Scores {
			if i%len(Statistics) == 0 {
				metrics = append(metrics, s.Metric)
			}
			if !(s.Measured > 0) || math.IsInf(s.Error(), 0) || math.IsNaN(s.Error()) {
				t.Errorf("%s: %+v", c.name, s)
			}
		}
		if !slices.Equal(metrics, c.metrics) || got.Requests != c.requests || len(got.KS) != len(metrics) || len(got.RequestError) != len(metrics) {
			t.Errorf("%s: %+v, want %d requests and %v", c.name, got, c.requests, c.metrics)
		}
	}
}
