package metrics

import (
	"fmt"

	"blis/vtime"
)

// final says whether a request in state s has left the system.
func (s State) final() bool { return s < Running || s >= Failed && s != Waiting }

// stateOf is the state that a reason belongs to; NoReason goes with any but
// rejected, dropped and failed, which must say why.
var stateOf = [Reasons]State{
	LengthCapped:       Completed,
	PromptTooLong:      Dropped,
	OutputTooLong:      Dropped,
	InsufficientTokens: Rejected,
	RejectAll:          Rejected,
	NoInstance:         Rejected,
	RateLimited:        Rejected,
	OverQuota:          Rejected,
	Saturated:          Rejected,
	ByPolicy:           Rejected,
	InstanceLost:       Failed,
	TransferFailed:     Failed,
	NoDeployment:       Dropped,
	GatewayFull:        Rejected,
	NoEndpoint:         Rejected,
	AtGateway:          TimedOut,
}

// State is the state that a reason explains; of NoReason it means nothing.
func (r Reason) State() State { return stateOf[r] }

// checkOutcome verifies the invariants of a single request: R3 to R7 and M1 of
// docs/invariants.md. It allocates only to say what is wrong.
func checkOutcome(o *Outcome, token, request vtime.Duration) error {
	if problem := checkState(o); problem != "" {
		return violation(o, problem)
	}
	if err := checkPhases(o); err != nil {
		return err
	}
	if problem := checkTokens(o); problem != "" {
		return violation(o, problem)
	}
	if problem := checkHandOver(o); problem != "" {
		return violation(o, problem)
	}
	ttft, hasTTFT := o.TTFT(token)
	if hasTTFT && ttft <= 0 {
		return violation(o, fmt.Sprintf("TTFT is %d µs, must be positive", ttft))
	}
	if e2e, ok := o.E2E(token, request); ok && (e2e <= 0 || e2e < ttft) {
		return violation(o, fmt.Sprintf("E2E is %d µs, must be positive and at least TTFT, %d µs", e2e, ttft))
	}
	return nil
}

// checkState verifies that state, reason, end and instance fit together.
func checkState(o *Outcome) string {
	switch {
	case int(o.State) >= States:
		return fmt.Sprintf("state %d does not exist", o.State)
	case int(o.Reason) >= Reasons:
		return fmt.Sprintf("reason %d does not exist", o.Reason)
	case o.Reason == NoReason && (o.State == Rejected || o.State == Dropped || o.State == Failed):
		return "it has no reason"
	case o.Reason != NoReason && stateOf[o.Reason] != o.State:
		return fmt.Sprintf("its reason is %q, which means %s", o.Reason, stateOf[o.Reason])
	case o.State.final() != (o.Finished != vtime.Never):
		return fmt.Sprintf("finished at %s", o.Finished)
	case o.Instance < 0 && (o.State == Completed || o.State == Running || o.State == Queued):
		return "it was on no instance"
	}
	return ""
}

// checkPhases verifies that each phase comes after the one before. Never is
// the largest time, so nothing may follow a phase that was not reached.
func checkPhases(o *Outcome) error {
	if !(0 <= o.Arrival && o.Arrival <= o.Admitted && o.Admitted <= o.Routed && o.Routed <= o.Queued &&
		o.Queued <= o.Scheduled && o.Scheduled <= o.FirstToken && o.FirstToken <= o.LastToken) {
		return violation(o, "its phases are out of order")
	}
	if o.Arrival == vtime.Never {
		return violation(o, "it never arrived")
	}
	reached := lastPhase(o)
	unreached := func(t vtime.Time) bool { return t == vtime.Never }
	switch {
	case o.Finished < reached:
		return violation(o, fmt.Sprintf("finished at %s, before its last phase at %s", o.Finished, reached))
	case o.State == Completed && (unreached(o.Scheduled) || o.Finished != completion(o)):
		return violation(o, fmt.Sprintf("completed at %s, not with its last token or prefill", o.Finished))
	case o.State == Running && unreached(o.Scheduled), o.State == Queued && unreached(o.Queued):
		return violation(o, "it did not get there")
	case (o.State == Pending || o.State == Rejected) && !unreached(o.Queued):
		return violation(o, fmt.Sprintf("queued at %s", o.Queued))
	case (o.State == Shed || o.State == Expired || o.State == Waiting) && (unreached(o.Admitted) || !unreached(o.Routed)):
		return violation(o, "it was not at the gateway")
	}
	return nil
}

// lastPhase is the time of the last phase that the request reached.
func lastPhase(o *Outcome) vtime.Time {
	last := o.Arrival
	for _, t := range [...]vtime.Time{o.Admitted, o.Routed, o.Queued, o.Scheduled, o.LastToken} {
		if t != vtime.Never {
			last = t
		}
	}
	return last
}

// completion is when a completed request must have finished: with its last
// token, or without one when its prefill ended, which no phase records.
func completion(o *Outcome) vtime.Time {
	if o.Generated == 0 {
		return o.Finished
	}
	return o.LastToken
}

// checkTokens verifies the token counts. A step lasts at least 1 µs and yields
// at most one token of a request.
func checkTokens(o *Outcome) string {
	yielded := o.FirstToken != vtime.Never
	switch {
	case o.Retries < 0 || o.Input < 1 || o.Generated < 0 || o.Preemptions < 0 || o.Recomputed < 0 || o.PrefillLost < 0 || o.DecodeLost < 0:
		return "a count is out of range"
	case o.Cached < 0 || o.Cached >= o.Input:
		return fmt.Sprintf("%d tokens cached of %d; the last one is always computed", o.Cached, o.Input)
	case o.CachedCPU < 0 || o.CachedCPU > o.Cached:
		return fmt.Sprintf("%d tokens cached, %d of them from the CPU tier", o.Cached, o.CachedCPU)
	case o.CachedStorage < 0 || o.CachedStorage > o.Cached-o.CachedCPU:
		return fmt.Sprintf("%d tokens cached, %d of them from the CPU tier and %d from storage tiers", o.Cached, o.CachedCPU, o.CachedStorage)
	case yielded != (o.Generated > 0) || yielded != (o.LastToken != vtime.Never):
		return fmt.Sprintf("%d tokens, the first at %s, the last at %s", o.Generated, o.FirstToken, o.LastToken)
	case yielded && int64(o.LastToken-o.FirstToken) < int64(o.Generated)-1,
		o.Generated == 1 && o.LastToken != o.FirstToken:
		return fmt.Sprintf("%d tokens cannot come from %s to %s", o.Generated, o.FirstToken, o.LastToken)
	case o.Preemptions == 0 && o.Redirects == 0 && (o.Recomputed > 0 || o.PrefillLost > 0 || o.DecodeLost > 0):
		return fmt.Sprintf("%d tokens recomputed in %d µs without a preemption", o.Recomputed, o.PrefillLost+o.DecodeLost)
	}
	return checkLost(o)
}

// checkLost verifies that the time lost to preemption is part of the phase in
// which it was lost. For a request without a first token the end of prefill is
// when it left.
func checkLost(o *Outcome) string {
	if o.PrefillLost == 0 && o.DecodeLost == 0 {
		return ""
	}
	ended := min(o.FirstToken, o.Finished)
	if ended != vtime.Never && o.PrefillLost > ended.Sub(o.Scheduled) {
		return fmt.Sprintf("lost %d µs of a prefill of %d µs", o.PrefillLost, ended.Sub(o.Scheduled))
	}
	if o.State == Completed && o.DecodeLost > 0 && (o.Generated == 0 || o.DecodeLost > o.LastToken.Sub(o.FirstToken)) {
		return fmt.Sprintf("lost %d µs of the decode from %s to %s", o.DecodeLost, o.FirstToken, o.LastToken)
	}
	return ""
}

// violation says what is wrong with o, and all of its numbers.
func violation(o *Outcome, problem string) error {
	state := "?"
	if int(o.State) < States {
		state = o.State.String()
	}
	return fmt.Errorf("request %d (%s, instance %d): %s; arrival %s, admitted %s, routed %s, queued %s, scheduled %s, first token %s, last token %s, finished %s, input %d, cached %d, generated %d, preemptions %d",
		o.ID, state, o.Instance, problem, o.Arrival, o.Admitted, o.Routed, o.Queued, o.Scheduled, o.FirstToken, o.LastToken, o.Finished,
		o.Input, o.Cached, o.Generated, o.Preemptions)
}
