package metrics

import "blis/vtime"

// HistogramSeries is a histogram for each bin of a time series.
type HistogramSeries struct {
	// Bounds are the inclusive upper bounds of the buckets but for the last, which has none.
	Bounds []int64
	// Counts are the observations of each bin, len(Bounds)+1 of one after those of the other.
	Counts []int64
	// Sums are Σ of the observations of each bin.
	Sums []int64
}

// StepTokenBounds are the buckets in which vLLM counts the tokens of steps
// (vllm:iteration_tokens_total, V1).
var StepTokenBounds = [...]int64{1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384}

// ITLBounds are those of inter-token latencies (vllm:inter_token_latency_seconds, V1), in µs.
var ITLBounds = [...]int64{
	10_000, 25_000, 50_000, 75_000, 100_000, 150_000, 200_000, 300_000, 400_000, 500_000, 750_000,
	1_000_000, 2_500_000, 5_000_000, 7_500_000, 10_000_000, 20_000_000, 40_000_000, 80_000_000,
}

// newHistogramSeries returns one with an empty first bin.
func newHistogramSeries(bounds []int64) *HistogramSeries {
	h := &HistogramSeries{Bounds: bounds}
	h.extend()
	return h
}

// extend begins another bin.
func (h *HistogramSeries) extend() {
	h.Counts = append(h.Counts, make([]int64, len(h.Bounds)+1)...)
	h.Sums = append(h.Sums, 0)
}

// Observe counts n observations of a value in the present bin.
func (h *HistogramSeries) Observe(value, n int64) {
	bucket := 0
	for bucket < len(h.Bounds) && value > h.Bounds[bucket] {
		bucket++
	}
	h.Counts[len(h.Counts)-len(h.Bounds)-1+bucket] += n
	h.Sums[len(h.Sums)-1] += value * n
}

// histograms are those that are kept.
func (s *TimeSeries) histograms() []*HistogramSeries {
	if s.ITL == nil {
		return nil
	}
	return []*HistogramSeries{s.StepTokens, s.ITL}
}

// ObserveITL counts n gaps between tokens that end in the present bin. It does nothing without
// histograms.
func (s *TimeSeries) ObserveITL(gap vtime.Duration, n int) {
	if s.ITL != nil {
		s.ITL.Observe(int64(gap), int64(n))
	}
}

// ObserveStep counts a step of so many tokens that begins in the present bin. It does nothing without
// histograms.
func (s *TimeSeries) ObserveStep(tokens int64) {
	if s.StepTokens != nil {
		s.StepTokens.Observe(tokens, 1)
	}
}
