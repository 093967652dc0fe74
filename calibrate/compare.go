package calibrate

import (
	"math"
	"slices"

	"github.com/montanaflynn/stats"

	"blis/calibrate/measured"
)

// Metric is a latency of a request as its client sees it.
type Metric string

// Metrics.
const (
	TTFT Metric = "ttft"
	TPOT Metric = "tpot"
	E2E  Metric = "e2e"
)

// Metrics are all of them, in the order of reports.
var Metrics = []Metric{TTFT, TPOT, E2E}

// Statistics of a metric over the requests of a run, in the order of reports.
var Statistics = []string{"mean", "p50", "p90", "p99"}

// Score is one statistic of one metric, measured and predicted, in ms.
type Score struct {
	Metric    Metric  `json:"metric"`
	Statistic string  `json:"statistic"` // mean, p50, p90, p99
	Measured  float64 `json:"measured_ms"`
	Predicted float64 `json:"predicted_ms"`
}

// Error is the relative error, above 0 when the prediction is too high.
func (s *Score) Error() float64 { return s.Predicted/s.Measured - 1 }

// Comparison compares measured latencies of requests with predicted ones.
type Comparison struct {
	Requests     int                // that completed in both
	Scores       []Score            // by metric, then statistic
	KS           map[Metric]float64 // Kolmogorov–Smirnov distance of the two distributions
	RequestError map[Metric]float64 // median of the absolute relative errors of single requests
}

// compare compares requests [from, to) of the sample with their replay. It leaves
// out requests that did not complete in both, and those that are not wanted;
// nil: all are wanted.
func (s *Sample) compare(predicted []Predicted, from, to int, wanted func(*Predicted, *measured.Request) bool) *Comparison {
	values := map[Metric]*[2][]float64{}
	for _, m := range Metrics {
		values[m] = &[2][]float64{}
	}
	errors := map[Metric][]float64{}
	c := &Comparison{KS: map[Metric]float64{}, RequestError: map[Metric]float64{}}
	for i := from; i < to; i++ {
		p, m := &predicted[i], &s.Run.Requests[i]
		if !s.usable(p, m) || wanted != nil && !wanted(p, m) {
			continue
		}
		c.Requests++
		pair := func(k Metric, measured, predicted float64) {
			errors[k] = append(errors[k], math.Abs(predicted/measured-1))
			values[k][0] = append(values[k][0], measured/1e3)
			values[k][1] = append(values[k][1], predicted/1e3)
		}
		pair(TTFT, float64(m.TTFT), p.TTFT)
		pair(E2E, float64(m.E2E), p.E2E)
		if m.E2E > m.TTFT && m.Output > 1 { // no relative error of answers that came in one piece
			pair(TPOT, tpot(m), p.TPOT)
		}
	}
	for _, k := range Metrics {
		v := values[k]
		if len(v[0]) == 0 {
			continue
		}
		a, b := statistics(v[0]), statistics(v[1])
		for i, name := range Statistics {
			c.Scores = append(c.Scores, Score{k, name, a[i], b[i]})
		}
		c.KS[k] = ksDistance(v[0], v[1])
		slices.Sort(errors[k])
		c.RequestError[k] = percentile(errors[k], 50)
	}
	return c
}

// tpot returns the mean time per output token after the first, µs.
func tpot(m *measured.Request) float64 { return float64(m.E2E-m.TTFT) / float64(m.Output-1) }

// statistics sorts v, which is not empty, and returns its Statistics.
func statistics(v []float64) [4]float64 {
	slices.Sort(v)
	mean, _ := stats.Mean(v) // fails for an empty list only
	return [4]float64{mean, percentile(v, 50), percentile(v, 90), percentile(v, 99)}
}

// percentile returns a percentile of a sorted list that is not empty: linear
// interpolation at rank p/100·(n−1), as in docs/metrics.md. Percentile of
// montanaflynn/stats is the same on amd64 only: it does not round the product,
// so a compiler for arm64 may fuse it with the sum.
func percentile(sorted []float64, p float64) float64 {
	rank := p / 100 * float64(len(sorted)-1)
	i := int(math.Floor(rank))
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + float64((rank-float64(i))*(sorted[i+1]-sorted[i]))
}

// ksDistance returns the Kolmogorov–Smirnov distance of two sorted samples: the
// largest difference of their distribution functions. KolmogorovSmirnov of gonum
// adds 1/n again and again, which is less exact.
func ksDistance(a, b []float64) float64 {
	var i, j int
	var d float64
	for i < len(a) && j < len(b) {
		v := min(a[i], b[j])
		for i < len(a) && a[i] <= v {
			i++
		}
		for j < len(b) && b[j] <= v {
			j++
		}
		d = max(d, math.Abs(float64(i)/float64(len(a))-float64(j)/float64(len(b))))
	}
	return d
}
