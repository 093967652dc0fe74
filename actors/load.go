package actors

import (
	"blis/setup"
)

// Load is how loaded the instances of a run were. Shares are nil where there is
// nothing to divide by.
type Load struct {
	// Share is offered requests per second / Capacity. Near 1 and above it queues
	// grow. It is an estimate, as Capacity is.
	Share *float64
	// Capacity is the requests per second that the instances sustain: see
	// latency.Capacity, for the mean output and the mean prompt without cached
	// tokens of completed requests, and the mean number of ready instances. Of
	// prefill and decode instances the weaker pool counts.
	Capacity *float64

	MaxSeqs *float64 // mean running requests / max-num-seqs
	KV      *float64 // mean share of KV blocks in use
	Budget  *float64 // mean tokens of a step / max-num-batched-tokens
}

// Load computes the load from what the run measured.
func (r *Result) Load() Load {
	all, cfg := &r.Report.Overall, &r.Config
	use := all.Resources
	l := Load{KV: use.KVMean}
	if use.MeanRunning != nil {
		l.MaxSeqs = share(*use.MeanRunning, float64(cfg.MaxNumSeqs))
	}
	steps := &use.Counters
	if steps.Steps > 0 {
		l.Budget = share(float64(steps.ScheduledTokens)/float64(steps.Steps), float64(cfg.MaxNumBatchedTokens))
	}
	length := float64(span(r.Began, r.End))
	if r.rest.deployments == nil || all.E2E == nil || length == 0 {
		return l
	}
	found := 0.0
	if all.CacheHitRate != nil {
		found = *all.CacheHitRate
	}
	input := float64(float64(float64(all.InputTokens)/float64(all.Injected)) * (1 - found))
	life := map[*setup.Pool]int64{} // of the instances of each pool, added up, µs
	for i := range r.rest.deployments {
		for _, p := range r.rest.deployments[i].Pools() {
			if k := len(life); len(r.Report.PerPool) == 0 {
				life[p] = steps.LifeMicros
			} else {
				life[p] = r.Report.PerPool[k].Resources.Counters.LifeMicros
			}
		}
	}
	capacity := 0.0
	for i := range r.rest.deployments {
		rate, _ := r.rest.deployments[i].Capacity(input, float64(all.OutputTokens)/float64(all.E2E.N), func(p *setup.Pool) float64 { return float64(life[p]) / length })
		capacity += rate
	}
	l.Capacity = &capacity
	if offered := r.Report.OfferedPerSecond; offered != nil {
		l.Share = share(*offered, capacity)
	}
	return l
}

// share is a/b, nil if b is not above 0.
func share(a, b float64) *float64 {
	if !(b > 0) {
		return nil
	}
	q := a / b
	return &q
}
