package metrics

import "math"

// Counters are what an instance counts while it runs. They cover its whole
// life, not only the measured window. All are plain integers, because the
// engine adds to them in its innermost loop; integrals over time are in units
// times µs.
type Counters struct {
	// Steps executed, and the tokens scheduled in them: all, for requests in
	// prefill, for requests in decode.
	Steps           int64 `json:"steps"`
	ScheduledTokens int64 `json:"scheduled_tokens"`
	PrefillTokens   int64 `json:"prefill_tokens"`
	DecodeTokens    int64 `json:"decode_tokens"`

	Preemptions        int64 `json:"preemptions"`         // victims
	AllocationFailures int64 `json:"allocation_failures"` // attempts to allocate KV blocks that failed
	Recomputed         int64 `json:"recomputed_tokens"`   // prefilled again after preemption
	LengthCapped       int64 `json:"length_capped"`       // requests cut short by max-model-len

	// LifeMicros is the time from ready to removed, or to the end of the run;
	// the owner of the instance sets it then. Means over time divide by it.
	LifeMicros int64 `json:"life_us"`
	BusyMicros int64 `json:"busy_us"` // a step was executing

	TotalBlocks int64 `json:"total_blocks"` // usable blocks of the KV cache
	PeakBlocks  int64 `json:"peak_blocks"`  // most in use at once
	BlockMicros int64 `json:"block_us"`     // ∫ used blocks dt

	PeakRunning   int64 `json:"peak_running"` // most requests in the running list at once
	RunningMicros int64 `json:"running_us"`   // ∫ batch size dt
	PeakWaiting   int64 `json:"peak_waiting"` // most requests in the wait queue at once
	WaitingMicros int64 `json:"waiting_us"`   // ∫ queue depth dt

	// Tokens looked up in the prefix cache and found there, at first
	// admissions and at re-admissions after preemption.
	LookedUpTokens int64 `json:"looked_up_tokens"`
	CachedTokens   int64 `json:"cached_tokens"`
	RelookedTokens int64 `json:"relooked_up_tokens"`
	RecachedTokens int64 `json:"recached_tokens"`

	// Time in which requests waited for a place in the batch (max_num_seqs), KV
	// blocks, or token budget.
	LimitMaxSeqsMicros int64 `json:"limit_seats_us"`
	LimitKVMicros      int64 `json:"limit_kv_us"`
	LimitBudgetMicros  int64 `json:"limit_budget_us"`

	// Anomalies; docs/metrics.md says what they are.
	PriorityInversions int64 `json:"priority_inversion"`
	HeadOfLineBlocked  int64 `json:"head_of_line_blocking"`
	BlockedHeads       int64 `json:"blocked_head"`
	PreemptionStorms   int64 `json:"preemption_storm"`
}

// Merge adds the counters of another instance. Peaks become the larger of the
// two: they were not reached at the same time. Sums end at the largest int64:
// instances that wait 146,000 years for a request pass it together.
func (c *Counters) Merge(o *Counters) {
	sums, peaks := c.fields()
	otherSums, otherPeaks := o.fields()
	for i := range sums {
		*sums[i] += min(*otherSums[i], math.MaxInt64-*sums[i])
	}
	for i := range peaks {
		*peaks[i] = max(*peaks[i], *otherPeaks[i])
	}
}

// Fold is a hash of all counters.
func (c *Counters) Fold() uint64 {
	var values []uint64
	sums, peaks := c.fields()
	for _, p := range append(sums[:plainSums:plainSums], peaks[:]...) {
		values = append(values, uint64(*p))
	}
	for i, p := range sums[plainSums:] {
		if *p > 0 { // an anomaly more to be had changes no digest
			values = append(values, uint64(i), uint64(*p))
		}
	}
	return foldInts(values...)
}

// plainSums is how many of the sums are no anomalies.
const plainSums = 21

// fields are those that merge by addition, and those that merge by maximum.
// Together they are all; a test counts them. Sums end with the anomalies.
func (c *Counters) fields() (sums [plainSums + 4]*int64, peaks [3]*int64) {
	return [plainSums + 4]*int64{
		&c.Steps, &c.ScheduledTokens, &c.PrefillTokens, &c.DecodeTokens,
		&c.Preemptions, &c.AllocationFailures, &c.Recomputed, &c.LengthCapped,
		&c.LifeMicros, &c.BusyMicros, &c.TotalBlocks, &c.BlockMicros,
		&c.RunningMicros, &c.WaitingMicros,
		&c.LookedUpTokens, &c.CachedTokens, &c.RelookedTokens, &c.RecachedTokens,
		&c.LimitMaxSeqsMicros, &c.LimitKVMicros, &c.LimitBudgetMicros,
		&c.PriorityInversions, &c.HeadOfLineBlocked, &c.BlockedHeads, &c.PreemptionStorms,
	}, [3]*int64{&c.PeakBlocks, &c.PeakRunning, &c.PeakWaiting}
}
