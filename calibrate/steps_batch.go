package calibrate

import (
	"blis/calibrate/measured"
	"blis/latency"
)

// batchOf is the number of the step whose batch ran during the period of step
// n, or why there is no saying.
func (d *StepData) batchOf(n int) (k int, why dropReason) {
	s := &d.Steps[n]
	if k = n; d.Async {
		k--
	}
	switch {
	case s.Period <= 0:
		return 0, noPeriod
	case k < 0 || d.Async && !s.PreviousInSample:
		return 0, noBatch
	case k < warmSteps:
		return 0, warming
	case !d.Steps[k].HasSums:
		return 0, noSums
	case d.waited(n) || d.Async && d.waited(k):
		return 0, idling
	}
	return k, kept
}

// waited reports whether the engine may have run out of work between step n and
// the next, so that the period has idle time in it. With async scheduling it
// then formed the next batch late or, after the wait, two batches at once: the
// periods of both steps are not the periods of batches.
//
// That was so if no request of step n goes on in the next, all of whose requests
// are new. Then no request waited at step n, or else the engine would have
// admitted it at once. Not so with async scheduling, where the blocks that
// they need may belong to a batch that still runs.
func (d *StepData) waited(n int) bool {
	if n+1 >= len(d.Steps) || !d.Steps[n+1].PreviousInSample {
		return false
	}
	s, next := &d.Steps[n], &d.Steps[n+1]
	if next.DecodeRequests > 0 {
		return false
	}
	// Prompts with a context may be half done, or cached: then only the number of
	// those that left tells, where the trace has it.
	gone := s.Running > 0 && next.Finished+next.Preempted >= s.Running
	fresh := next.PrefillContext == 0 && s.Waiting == 0
	return fresh || gone && (d.Async || s.Waiting == 0)
}

// averages are the preemption averages of all steps, for each γ: of latency.md
// 3, starting from 0 wherever the step before is not known.
func (d *StepData) averages() [len(gammas)][]float64 {
	var all [len(gammas)][]float64
	for g, gamma := range gammas {
		all[g] = make([]float64, len(d.Steps))
		ema := 0.0
		for n := range d.Steps {
			s := &d.Steps[n]
			if !s.PreviousInSample {
				ema = 0
			}
			share := float64(s.Preempted) / float64(max(1, s.Running))
			ema = float64(gamma*share) + float64((1-gamma)*ema)
			all[g][n] = ema
		}
	}
	return all
}

// stepBatch is the batch of a step.
func stepBatch(s *measured.Step, ema float64) *latency.Batch {
	return &latency.Batch{
		PrefillTokens: s.PrefillTokens, DecodeTokens: s.DecodeTokens, PrefillRequests: s.PrefillRequests, DecodeRequests: s.DecodeRequests,
		PrefillPairs: s.PrefillPairs, PrefillContext: s.PrefillContext, DecodeContext: s.DecodeContext, SampledRows: s.SampledRows,
		Preempted: s.Preempted, PreemptionEMA: ema,
	}
}
