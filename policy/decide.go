package policy

import (
	"blis/vtime"
	"blis/workload"
)

// Request is what the control plane and the schedulers may know of a request. They
// do not know the true output length.
type Request struct {
	workload.Identity
	workload.Terms // Spans are valid during the call; Hint is 0 when an instance gave the request back

	Delays  int32 // decisions of admission that delayed it
	Attempt int32 // earlier routings: 0 unless an instance handed it back

	// Hints are what the priority policy says of it besides its priority, for routing
	// policies; nil for the others. They are valid during the call.
	Hints *Hints
}

// Admission decides whether a request enters the cluster. It is asked at
// arrival plus admission latency, and again after each Delay.
type Admission interface {
	Observes() Signals
	Decide(req *Request, st *RouterState, now vtime.Time) AdmissionDecision
}

// Priority gives an admitted request its priority, once: higher is more
// urgent. The score is finite. One that is a Hinter gives hints too.
type Priority interface {
	Observes() Signals
	Score(req *Request, st *RouterState, now vtime.Time) float64
}

// Routing picks the instance of an admitted request.
type Routing interface {
	Observes() Signals
	Route(req *Request, priority float64, st *RouterState, view *View, now vtime.Time) RoutingDecision
}

// RouteObserver is a Routing that remembers where requests went. OnRouted is
// called after Route with the same request and the instance that gets it: the one
// that Route chose, unless the request was forced elsewhere.
type RouteObserver interface {
	OnRouted(req *Request, target int)
}

// Explainer is a Routing whose scores are sums of shares in a fixed order.
type Explainer interface {
	// Scorers names the terms of every sum, in their order.
	Scorers() []string
	// Explain appends the terms of the score that instance i, a routable one, had
	// in the last decision. Added up from 0 in their order they are
	// RoutingDecision.Scores[i], bit by bit. Explain is called before OnRouted.
	Explain(i int, shares []float64) []float64
}

// Autoscale decides at each evaluation about the number of instances.
type Autoscale interface {
	Observes() Signals
	Evaluate(ctx *AutoscaleContext) ScaleDecision
}

// Verdict is the outcome of an admission decision.
type Verdict uint8

// Verdicts.
const (
	Admit  Verdict = iota
	Reject         // terminal
	Delay          // the same request is decided again later and keeps its number
)

// AdmissionDecision is a verdict, with the time to wait for a Delay (at least
// 1 µs) and the reason for a Reject or Delay.
type AdmissionDecision struct {
	Verdict Verdict
	Reason  Reason
	Wait    vtime.Duration
}

// RoutingDecision names the instance that gets the request.
type RoutingDecision struct {
	Target int // index in the view; −1 when no instance was routable
	Reason Reason
	// Scores has one entry per instance of the view, in [0, 1], −1 for those
	// that were not routable; nil from policies that do not score. The policy
	// reuses it: it is valid until the next call of Route.
	Scores []float64
	// FilteredOut are the routable instances that a filter left out, ascending; nil: none. It is valid as long as Scores.
	FilteredOut []int32
}

// AutoscaleContext is what an autoscaler sees at an evaluation: everything up
// to Now, what happens at Now included.
type AutoscaleContext struct {
	Now        vtime.Time
	Interval   vtime.Duration // between evaluations; with a trigger by events, the shortest one
	Replicas   int32          // starting, warming or serving, or pending, for no node has had room: the number if nothing is decided
	Ready      int32          // replicas that are warming or serving
	Min, Max   int32          // bounds on Replicas
	MaxNumSeqs int32          // max_num_seqs of every instance
	View       *View          // every instance there ever was; see Phase
	State      *RouterState

	// AtGateway is the number of requests that wait at the gateway; 0 without flow control.
	AtGateway int64

	// LastScale is the time of the last change of the number of replicas asked
	// for; vtime.Never: it has not changed yet.
	LastScale vtime.Time
}

// Fault is the panic of a policy that cannot decide because of what its user wrote. The
// run ends with it as an error in the user's input. Its text is one line.
type Fault interface {
	error
	PolicyFault()
}

// Printer is a policy that has something to say to its author. Printed is called when a
// run is over.
type Printer interface {
	Printed() string // lines, each with its end
}

// Watched is an Autoscale that asks for more replicas when a signal is beyond a
// threshold. Watched is called when a run is over.
type Watched interface {
	Watched() Watch
}

// Watch says how near a signal came to its threshold.
type Watch struct {
	Signal  string  // as its parameter names it
	Limit   float64 // beyond which more replicas are asked for
	Nearest float64 // value at the evaluation at which it came nearest; meaningless without Known
	Known   bool    // the signal could be measured
	Passed  bool    // the signal was beyond the limit
}

// SinceLastScale returns the time since LastScale, and whether there was one.
func (c *AutoscaleContext) SinceLastScale() (ago vtime.Duration, ever bool) {
	if c.LastScale == vtime.Never {
		return 0, false
	}
	return c.Now.Sub(c.LastScale), true
}

// ScaleAction is the direction of a scale decision.
type ScaleAction uint8

// Scale actions.
const (
	Hold ScaleAction = iota
	ScaleUp
	ScaleDown
)

// ScaleDecision asks for Target replicas; with Hold, Target is the present number.
// The caller brings Target within the bounds.
type ScaleDecision struct {
	Action ScaleAction
	Target int32
	Reason Reason
}

// Reason says why a policy decided as it did.
type Reason uint8

// Reasons.
const (
	NoReason           Reason = iota
	InsufficientTokens        // token-bucket: the bucket holds less than the prompt costs
	RejectAll                 // reject-all
	NoInstance                // routing: no instance is routable
	InTurn                    // round-robin: the next in order
	LeastLoad                 // least-loaded: the smallest effective load; session-hash: the fewest requests in flight
	BestScore                 // weighted: the largest weighted sum
	RateLimited               // rate-limit: too many requests
	OverQuota                 // tenant-quota: the tenant has too many active requests
	Saturated                 // saturation-shed: the cluster is full
	ByPolicy                  // a policy's own reason
	LongestPrefix             // prefix-affinity: the most of the prompt is expected there
	LessOfTwo                 // power-of-two: the less loaded of two drawn
	MostLoad                  // always-busiest: the largest effective load
	AboveThreshold            // threshold: the signal is above up
	BelowThreshold            // threshold: it is below down
	InCooldown                // threshold: it would act, but did so a short while ago
	WithinTolerance           // target-utilization, queue-depth: near enough to the target
	ToTarget                  // target-utilization, queue-depth: as many as the target asks for
	Stabilized                // target-utilization, queue-depth: another number was asked for within the window
	RateOfChange              // target-utilization, queue-depth: as far as the limit to changes lets it go
	OtherWay                  // oscillator: up, then down
	SeatsAbove                // threshold: seats in use are above up, more than KV and queue
	KVAbove                   // threshold: KV blocks in use are
	QueueAbove                // threshold: waiting requests are
	NotSustained              // threshold: it would act, but has not been beyond the threshold for long enough
	SeatsToTarget             // target-utilization: as many as seats in use ask for, the most of the three
	KVToTarget                // target-utilization: as many as KV blocks in use ask for
	QueueToTarget             // target-utilization: as many as waiting requests ask for
	InUse                     // queue-depth: fewer would have too much of their seats or KV blocks in use
	BySession                 // session-hash: the largest hash of session and instance
	reasons
)

var reasonNames = [reasons]string{"", "insufficient tokens", "reject-all", "no instance", "in turn", "least load", "best score",
	"rate limit", "over quota", "saturated", "by policy", "longest prefix", "less loaded of two", "most load",
	"above threshold", "below threshold", "cooldown", "within tolerance", "to target", "stabilized", "rate of change", "other way",
	"seats above threshold", "KV above threshold", "queue above threshold", "not sustained", "seats to target", "KV to target", "queue to target", "in use", "session"}

// String returns the reason in words. One that is not in the list is a policy's
// own.
func (r Reason) String() string {
	if r >= reasons {
		r = ByPolicy
	}
	return reasonNames[r]
}
