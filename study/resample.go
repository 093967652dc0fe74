package study

import (
	"math"
	"slices"

	"blis/metrics"
)

// unsampled are the measures that are not sums over requests: gaps between tokens
// are not kept one by one, and cost is paid by time.
var unsampled = []string{"p50_itl", "p90_itl", "p99_itl", "replica_hours", "scale_efficiency", "completed_per_replica_hour", "cost"}

// resampled reports whether the bootstrap knows a measure: an interval of
// fitness needs all that is weighed.
func resampled(m *Measure, fitness *metrics.Fitness) bool {
	if m.Name != "fitness" {
		return !slices.Contains(unsampled, m.Name)
	}
	for i := range fitness.Terms {
		if slices.Contains(unsampled, fitness.Terms[i].Measure.Name) {
			return false
		}
	}
	return true
}

// resample is every measure over all series: [measure][series], NaN where it
// could not be measured; nil for measures that the bootstrap does not know.
func (t *table) resample(measures []Measure, seed uint64, block int) [][]float64 {
	series := make([][]float64, len(measures))
	for m := range measures {
		if resampled(&measures[m], &t.sample.fitness) {
			series[m] = make([]float64, resamples)
		}
	}
	drawWeights(seed, t.windows, block, func(at int, weights []int32) {
		judged := t.figures(weights)
		score := t.sample.fitness.Of(judged)
		for m := range measures {
			if series[m] == nil {
				continue
			}
			series[m][at] = math.NaN()
			if v := measures[m].of(judged, score); v != nil {
				series[m][at] = *v
			}
		}
	})
	return series
}

// figures returns the figures of the run as if each window had come as often as
// its weight says. Figures that do not depend on requests stay. Weights of 1
// give the run itself.
func (t *table) figures(weights []int32) *metrics.RunFigures {
	var n [counted]float64
	for w, times := range weights {
		for k, count := range t.counts[w] {
			n[k] += float64(float64(times) * float64(count))
		}
	}
	judged := *t.sample.figures
	report := *judged.Report
	judged.Report = &report
	s := &report.Overall
	seconds := 0.0
	if report.Window.Seconds != nil {
		seconds = *report.Window.Seconds
	}
	s.States[metrics.Completed], s.Injected = int64(n[completed]), int64(n[injected])
	s.RequestsPerSecond, s.TokensPerSecond = share(n[completed], seconds), share(n[outputTokens], seconds)
	s.Goodput, s.SLOAttainment = nil, nil
	if n[targeted] > 0 {
		s.Goodput, s.SLOAttainment = share(n[attained], seconds), share(n[attained], n[targeted])
	}
	admitted := n[injected] - n[undecided] - n[refused]
	s.AdmissionRate = share(admitted, admitted+n[refused])
	s.CacheHitRate = share(n[cached], n[lookedUp])
	s.PreemptionRate = share(n[preemptions], n[completed])
	s.TTFT, s.TPOT = t.summary(ofTTFT, weights), t.summary(ofTPOT, weights)
	s.E2E, s.SchedulingDelay = t.summary(ofE2E, weights), t.summary(ofSchedulingDelay, weights)
	s.ITL = t.gapSummary(weights)
	s.TailBlowUp = metrics.TailBlowUp{TTFT: blowUp(s.TTFT), TPOT: blowUp(s.TPOT), E2E: blowUp(s.E2E)}
	report.JainIndex = t.jain(n[injected], n[outputTokens], weights)
	return &judged
}

// share is a/b; nil if b is not positive.
func share(a, b float64) *float64 {
	if b <= 0 {
		return nil
	}
	q := a / b
	return &q
}

func blowUp(s *metrics.Summary) *float64 {
	if s == nil {
		return nil
	}
	return share(s.P99, s.P50)
}

// summary is the summary of a latency: mean and percentiles, as package metrics
// defines them.
func (t *table) summary(latency int, weights []int32) *metrics.Summary {
	r := &t.ranked[latency]
	n, sum := int64(0), 0.0
	for w, times := range weights {
		n += int64(times) * t.sizes[w][latency]
		sum += float64(float64(times) * float64(t.sums[w][latency]))
	}
	if n == 0 {
		return nil
	}
	percentile := func(p int64) float64 {
		low, high := r.at((n-1)/100*p+(n-1)%100*p/100, weights)
		hundredths := (n - 1) % 100 * p % 100
		return float64(low) + float64(float64(float64(high-low)*float64(hundredths))/100)
	}
	return &metrics.Summary{N: n, Mean: sum / float64(n), P50: percentile(50), P90: percentile(90), P99: percentile(99)}
}

// gapSummary has the mean of ITL alone.
func (t *table) gapSummary(weights []int32) *metrics.Summary {
	n, sum := 0.0, 0.0
	for w, times := range weights {
		n += float64(float64(times) * float64(t.gaps[w]))
		sum += float64(float64(times) * float64(t.itl[w]))
	}
	if n == 0 {
		return nil
	}
	return &metrics.Summary{N: int64(n), Mean: sum / n}
}

// jain is Jain's index over tenants that have requests; of a single one it is 1
// unless nothing was used.
func (t *table) jain(requests, used float64, weights []int32) *float64 {
	if t.tenants == nil {
		if requests == 0 || used == 0 {
			return nil
		}
		one := 1.0
		return &one
	}
	n, sum, squares := 0.0, 0.0, 0.0
	for from := 0; from < len(t.tenants); {
		to, has, x := from, false, 0.0
		for ; to < len(t.tenants) && t.tenants[to].tenant == t.tenants[from].tenant; to++ {
			times := weights[t.tenants[to].window]
			has = has || times > 0
			x += float64(float64(times) * float64(t.tenants[to].used))
		}
		if has {
			n++
			sum += x
			squares += float64(x * x)
		}
		from = to
	}
	return share(float64(sum*sum), float64(n*squares))
}
