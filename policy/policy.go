package policy

import (
	"strings"

	"blis/workload"
)

// Request is what the control plane and the schedulers may know of a request. They
// do not know the true output length.
type Request struct {
	workload.Identity
	workload.Terms // Spans are valid during the call; Hint is 0 when an instance gave the request back

	Delays  int32 // decisions of admission that delayed it
	Attempt int32 // earlier routings: 0 unless an instance handed it back
}

// Signals is a set of things that a policy may read of the instances.
type Signals uint32

// All signals. A policy's Observes is a union of them; the lookahead of a run
// follows from what its policies declare.
const (
	InFlight   Signals = 1 << iota // the router's own count per instance
	QueueDepth                     // length of the wait queue, with preempted requests
	BatchSize                      // length of the running list
	KVUse                          // used and free blocks

	// Active is what the router hears of requests that end: the numbers of active
	// requests, of a tenant and in all, and completions per second.
	Active
	// Rates are arrival rates and bursts, of a tenant and in all. The router
	// counts arrivals itself, so a run does not wait for them.
	Rates

	HitRate       // prefix cache hits, cumulative
	RecentLatency // TTFT and TPOT of the last completions

	// Prefixes is the part of the present prompt that each instance is expected
	// to have cached: the router's own knowledge, unless its index follows events.
	Prefixes

	// EstimatedWait is the number of tokens that wait to be prefilled on an
	// instance, and the speed of its last prefills.
	EstimatedWait

	// ClassLatency is what the router hears of the last requests of each SLO
	// class: latencies and attained targets.
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
