package policy

import (
	"strings"

	"blis/workload"
)

// Request is what the control plane and the schedulers may know of a request.
// The true output length is not among it.
type Request struct {
	workload.Identity
	workload.Terms // Spans are valid during the call; Hint is 0 when an instance gave the request back

	Delays  int32 // how often admission has put it off
	Attempt int32 // how often it was routed before: 0 unless an instance gave it back
}

// Signals is a set of the things that a policy may read of the instances.
type Signals uint32

// Signals that exist. A policy's Observes is a union of them; the lookahead
// of a run follows from what its policies declare.
const (
	InFlight   Signals = 1 << iota // the router's own count per instance
	QueueDepth                     // wait queue with the preempted
	BatchSize                      // running list
	KVUse                          // used and free blocks

	// Active is what the router hears of requests that end: how many of a
	// tenant and in all are active, and how many complete per second.
	Active
	// Rates are arrival rates and bursts, of a tenant and in all. The router
	// counts arrivals itself: nobody waits for them.
	Rates

	HitRate       // prefix cache hits, cumulative
	RecentLatency // TTFT and TPOT of the last completions

	// Prefixes is how much of the prompt in hand each instance is expected to
	// have cached: the router's own knowledge, unless its index follows events.
	Prefixes

	// EstimatedWait is how many tokens wait to be prefilled on an instance, and
	// how fast it prefilled lately.
	EstimatedWait

	// ClassLatency is what the router hears of how requests of each SLO class
	// ended: latencies and attained targets of the last ones.
	ClassLatency

	NoSignals Signals = 0
)

var signalNames = [...]string{"in-flight", "queue depth", "batch size", "KV use", "active requests", "arrival rates", "cache hit rate", "recent latency", "expected prefix hits", "estimated wait", "latency by class"}

// String lists the signals of the set, or says "nothing".
func (s Signals) String() string {
	if s == NoSignals {
		return "nothing"
	}
	var names []string
	for i, name := range signalNames {
		if s&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}
