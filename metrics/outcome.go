package metrics

import (
	"blis/vtime"
	"blis/workload"
)

// State is where a request is at the end of its life, or of the run.
// Every injected request is in exactly one.
type State uint8

// The states in the order in which reports list them.
const (
	Completed State = iota
	Rejected        // by admission, or routing found no instance
	Dropped         // can never be served
	TimedOut
	Aborted // its instance was taken away
	Running // in a batch when the run ended
	Queued  // in a wait queue when the run ended
	Pending // before the queue when the run ended
	States  = int(Pending) + 1
)

var stateNames = [States]string{"completed", "rejected", "dropped", "timed_out", "aborted", "running", "queued", "pending"}

// String is the name of the state in results.
func (s State) String() string { return stateNames[s] }

// Reason says why a request was dropped or rejected, or how it completed.
type Reason uint8

// Reasons.
const (
	NoReason           Reason = iota
	LengthCapped              // completed, cut short by max-model-len
	PromptTooLong             // dropped: L ≥ effective max-model-len
	OutputTooLong             // dropped: L + MaxOutput > effective max-model-len
	InsufficientTokens        // rejected: token bucket
	RejectAll                 // rejected: reject-all
	NoInstance                // rejected: routing found no instance
	RateLimited               // rejected: rate-limit
	OverQuota                 // rejected: tenant-quota
	Saturated                 // rejected: saturation-shed
	ByPolicy                  // rejected: an admission policy's own reason
	Reasons            = int(ByPolicy) + 1
)

var reasonNames = [Reasons]string{"", "length capped", "prompt too long", "prompt + max output too long", "insufficient tokens", "reject-all", "no instance",
	"rate limit", "over quota", "saturated", "by policy"}

// String is the reason in words, empty for NoReason.
func (r Reason) String() string { return reasonNames[r] }

// Outcome is everything that the metrics need of one request, given once:
// when it reaches a final state or, for the rest, when the run ends. Times are
// absolute; vtime.Never where the request did not get there.
type Outcome struct {
	workload.Identity

	State    State
	Reason   Reason
	Instance int32 // index; -1 when it never reached one

	Admitted   vtime.Time // admission decision
	Routed     vtime.Time // routing decision = delivery
	Queued     vtime.Time
	Scheduled  vtime.Time // first batch that gave it tokens
	FirstToken vtime.Time // end of the step that yielded it; O = 0: Never
	LastToken  vtime.Time // end of the step that yielded the last one so far
	Finished   vtime.Time // when it reached State; Never for running, queued, pending

	Cached    int32 // prompt tokens found in the prefix cache at first admission
	Expected  int32 // of them the router expected to be found, in whole blocks
	Generated int32 // output tokens delivered

	Redirects   int32 // times that its instance was taken away and it went on elsewhere
	Preemptions int32
	Recomputed  int32 // tokens prefilled again after preemptions

	// Time lost to preemption before and after the first token: from each
	// eviction to the end of the step that made up for it, or to the end of
	// the request. The report calls it recompute.
	PrefillLost, DecodeLost vtime.Duration
}
