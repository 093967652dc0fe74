package metrics

// seconds is the length of the window of the rates; not positive: there is
// none.
func (w *Window) seconds() float64 {
	if w.Seconds == nil {
		return 0
	}
	return *w.Seconds
}

// scope reports c, with ITL from itl, which is nil where its samples are not
// kept. Its summaries are computed later, with all others.
func (all *collection) scope(c *cell, itl *Distribution) Scope {
	completed, w, summarize := c.states[Completed], &all.window, all.summaries.add
	s := Scope{
		Injected: c.injected(), States: c.states, Reasons: c.reasons,
		InputTokens: c.input, CompletedInput: c.served, OutputTokens: c.output, GeneratedTokens: c.generated,
		RequestsPerSecond: ratio(float64(completed), w.seconds()),
		TokensPerSecond:   ratio(float64(c.output), w.seconds()),
		TTFT:              summarize(&c.ttft), TPOT: summarize(&c.tpot), E2E: summarize(&c.e2e),
		SchedulingDelay: summarize(&c.schedulingDelay), QueueWait: summarize(&c.queueWait),
		ITLMean: mean(c.itl, c.itlSamples), ITLSamples: c.itlSamples,
		Split:       newSplit(&c.split, completed),
		Preemptions: c.preemptions, PreemptionRate: ratio(float64(c.preemptions), float64(completed)),
		RecomputedTokens: c.recomputed,
		CachedTokens:     c.cached, CacheHitRate: ratio(float64(c.cached), float64(c.lookedUp)),
	}
	if all.expects() {
		s.ExpectedTokens, s.ExpectedHitRate = &c.expected, ratio(float64(c.expected), float64(c.lookedUp))
	}
	if itl != nil {
		s.ITL = summarize(itl)
	}
	if c.targeted > 0 {
		s.SLOAttainment = ratio(float64(c.attained), float64(c.targeted))
		s.Goodput = ratio(float64(c.attained), w.seconds())
	}
	refused := c.states[Rejected] - c.reasons[NoInstance] // by admission
	s.Admitted = s.Injected - c.undecided - refused
	s.AdmissionRate = ratio(float64(s.Admitted), float64(s.Admitted+refused))
	s.RejectedShare = ratio(float64(c.states[Rejected]), float64(s.Injected))
	return s
}

// newTailBlowUp needs the summaries of s.
func newTailBlowUp(s *Scope) TailBlowUp {
	of := func(l *Summary) *float64 {
		if l == nil {
			return nil
		}
		return ratio(l.P99, l.P50)
	}
	return TailBlowUp{of(s.TTFT), of(s.TPOT), of(s.E2E)}
}

func mean(sum sum128, n int64) *float64 {
	if n == 0 {
		return nil
	}
	m := sum.over(n)
	return &m
}

// ratio is a/b; nil if b is not positive.
func ratio(a, b float64) *float64 {
	if b <= 0 {
		return nil
	}
	q := a / b
	return &q
}

func newSplit(s *split, completed int64) *Split {
	if completed == 0 {
		return nil
	}
	return &Split{
		FrontEnd: s.frontEnd.over(completed), Queue: s.queue.over(completed), Prefill: s.prefill.over(completed),
		Decode: s.decode.over(completed), Recompute: s.recompute.over(completed), HandOver: s.handOver.over(completed),
	}
}

// newResources reports some instances together.
func newResources(counters []Counters) *Resources {
	var all Counters
	var used, capacity sum128 // block·µs
	life, peak := 0.0, (*float64)(nil)
	for i := range counters {
		c := &counters[i]
		all.Merge(c)
		life += float64(c.LifeMicros)
		used.add(c.BlockMicros)
		capacity.addProduct(c.TotalBlocks, c.LifeMicros)
		if p := ratio(float64(c.PeakBlocks), float64(c.TotalBlocks)); p != nil && (peak == nil || *p > *peak) {
			peak = p
		}
	}
	r := &Resources{
		Utilisation: ratio(float64(all.BusyMicros), life),
		MeanRunning: ratio(float64(all.RunningMicros), life), MeanWaiting: ratio(float64(all.WaitingMicros), life),
		KVMean: ratio(used.float(), capacity.float()), KVPeak: peak,
		CacheHitRate:       ratio(float64(all.CachedTokens), float64(all.LookedUpTokens)),
		ReadmissionHitRate: ratio(float64(all.RecachedTokens), float64(all.RelookedTokens)),
		LimitMaxSeqs:       ratio(float64(all.LimitMaxSeqsMicros), life),
		LimitKV:            ratio(float64(all.LimitKVMicros), life),
		LimitBudget:        ratio(float64(all.LimitBudgetMicros), life),
		Limit:              "none",
		Counters:           all,
	}
	largest := limitFloor
	for _, l := range []struct {
		name  string
		share *float64
	}{{"seats", r.LimitMaxSeqs}, {"KV", r.LimitKV}, {"token budget", r.LimitBudget}} {
		if l.share != nil && *l.share > largest {
			largest, r.Limit = *l.share, l.name
		}
	}
	return r
}
