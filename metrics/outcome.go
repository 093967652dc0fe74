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
	Failed  // lost with its instance, which crashed, or the KV of its prompt did not come; it stands here since digests have the numbers
	Shed    // left the queue of the gateway for a request of a higher band
	Expired // waited there too long
	Waiting // there when the run ended
	Evicted // taken from its instance by the gateway, for a request of a higher band
	States  = int(Evicted) + 1
)

var stateNames = [States]string{"completed", "rejected", "dropped", "timed_out", "aborted", "running", "queued", "pending", "failed", "shed", "expired", "gateway", "evicted"}

// Rare reports whether a state is one that most runs cannot have: results list it only where there are such requests.
func (s State) Rare() bool { return s >= Failed }

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
	InstanceLost              // failed: its instance crashed
	TransferFailed            // failed: the KV of its prompt did not come
	NoDeployment              // dropped: no deployment serves its model
	GatewayFull               // rejected: no room in the queue of the gateway
	NoEndpoint                // rejected: the same, while no instance was ready
	AtGateway                 // timed out while it waited there
	Reasons            = int(AtGateway) + 1
)

var reasonNames = [Reasons]string{"", "length capped", "prompt too long", "prompt + max output too long", "insufficient tokens", "reject-all", "no instance",
	"rate limit", "over quota", "saturated", "by policy", "instance lost", "kv transfer", "no deployment for model", "gateway full", "no endpoint", "at the gateway"}

// String is the reason in words, empty for NoReason.
func (r Reason) String() string { return reasonNames[r] }

// Outcome is everything that the metrics need of one request, given once:
// when it reaches a final state or, for the rest, when the run ends. Times are
// absolute; vtime.Never where the request did not get there.
type Outcome struct {
	workload.Identity
	Progress

	State    State
	Reason   Reason
	Pool     int16 // index of the pool of Instance; 0 without one
	Instance int32 // index of the last one; -1 when it never reached one
	Expected int32 // prompt tokens that the router expected to be cached there, in whole blocks
	Retries  int32 // times that it was lost with an instance and sent again, by the router or its client
	HandOver HandOver

	Admitted vtime.Time // admission decision
	Finished vtime.Time // when it reached State; Never for running, queued, pending
}

// Progress is how far a request got on instances: on the only one that had it,
// or on all of them together when instances were taken away.
type Progress struct {
	Routed     vtime.Time // first routing decision = delivery
	Queued     vtime.Time // first
	Scheduled  vtime.Time // first batch that gave it tokens
	FirstToken vtime.Time // end of the step that yielded it; O = 0: Never
	LastToken  vtime.Time // end of the step that yielded the last one so far

	// Time lost to preemption before and after the first token: from each
	// eviction to the end of the step that made up for it, or to the end of
	// the request. The report calls it recompute.
	PrefillLost, DecodeLost vtime.Duration

	Cached    int32 // prompt tokens found in the prefix cache at first admission
	CachedCPU int32 // of them, read from the CPU tier

	CachedStorage int32 // of them, read from a storage tier

	Generated   int32 // output tokens delivered
	Preemptions int32
	Recomputed  int32 // tokens prefilled again after preemptions
	Redirects   int32 // times that its instance was taken away and it went on elsewhere
}

// NoProgress is the progress of a request that no instance has had.
func NoProgress() Progress {
	return Progress{Routed: vtime.Never, Queued: vtime.Never, Scheduled: vtime.Never, FirstToken: vtime.Never, LastToken: vtime.Never}
}
