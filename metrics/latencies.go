package metrics

import "blis/vtime"

// The latencies of one request, as docs/metrics.md defines them. token is α₂, the
// client's overhead per output token, and request its overhead per request.
// The second result of a method is false if the request does not have that
// latency. The methods rely on the invariants that Recorder.Record checks.

// TTFT is the time from arrival to the first token, as the client sees it,
// whatever became of the request later. After a preemption or a hand-back the
// first token counts that the request ever had.
func (o *Outcome) TTFT(token vtime.Duration) (vtime.Duration, bool) {
	if o.FirstToken == vtime.Never {
		return 0, false
	}
	return o.FirstToken.Sub(o.Arrival) + token, true
}

// TotalITL is the sum of the inter-token latencies so far, and their number:
// one for each token after the first.
func (o *Outcome) TotalITL(token vtime.Duration) (total vtime.Duration, samples int64) {
	if o.Generated < 2 {
		return 0, 0
	}
	samples = int64(o.Generated) - 1
	return o.LastToken.Sub(o.FirstToken) + vtime.Duration(samples)*token, samples
}

// E2E is the time from arrival to the end of a completed request, as its
// client sees it. A request without output ends with its prefill.
func (o *Outcome) E2E(token, request vtime.Duration) (vtime.Duration, bool) {
	if o.State != Completed {
		return 0, false
	}
	if o.Generated == 0 {
		return o.Finished.Sub(o.Arrival) + request, true
	}
	ttft, _ := o.TTFT(token)
	itl, _ := o.TotalITL(token)
	return ttft + itl + request, true
}

// TPOT is (E2E − TTFT)/(O−1) in whole µs, truncated, of a completed request of
// at least two tokens.
func (o *Outcome) TPOT(token, request vtime.Duration) (vtime.Duration, bool) {
	itl, samples := o.TotalITL(token)
	if o.State != Completed || samples == 0 {
		return 0, false
	}
	return (itl + request) / vtime.Duration(samples), true
}

// SchedulingDelay is the time from arrival to the first batch.
func (o *Outcome) SchedulingDelay() (vtime.Duration, bool) {
	if o.Scheduled == vtime.Never {
		return 0, false
	}
	return o.Scheduled.Sub(o.Arrival), true
}

// QueueWait is the time from the queue to the first batch.
func (o *Outcome) QueueWait() (vtime.Duration, bool) {
	if o.Scheduled == vtime.Never {
		return 0, false
	}
	return o.Scheduled.Sub(o.Queued), true
}
