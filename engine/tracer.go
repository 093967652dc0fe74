package engine

import "blis/vtime"

// Observer hears what happens inside an instance, at the time of the event that
// does it. What it is given is valid during the call, and none of it may be
// changed.
type Observer interface {
	// Formed takes a step that was formed at now and schedules something.
	Formed(now vtime.Time, s Step)
	// Preempted takes a request that is about to lose its blocks.
	Preempted(now vtime.Time, p Preemption)
	// Odd takes an anomaly just when Counters count it.
	Anomaly(now vtime.Time, o Anomaly)
}

// Step is a step as it was formed. It goes from Start to End, which with async
// scheduling may be two steps away.
type Step struct {
	Running, Waiting            int32 // requests in the running list and the wait queue
	PrefillTokens, DecodeTokens int64
	Used                        int // KV blocks that requests hold
	Start, End                  vtime.Time
}

// Preemption is a request that loses its blocks so that another gets some; For
// is itself when it gives way to those before it.
type Preemption struct {
	Request, For int64
	Computed     int32 // its tokens in the cache
	Free         int   // blocks that were free, and not enough
}

// Anomaly is an anomaly. Its requests are those concerned, the one that suffers
// first.
type Anomaly struct {
	Kind     AnomalyKind
	Requests []int64
	Severity float64 // finite; in the unit of the kind
}

// AnomalyKind is which of the anomalies of one instance it is; docs/metrics.md
// defines them.
type AnomalyKind uint8

// Kinds, with the requests and the unit of severity of each.
const (
	PriorityInversion  AnomalyKind = iota // who stays waiting, who was scheduled; difference of their priorities
	HeadOfLineBlocking                    // who waits, who completes; µs for which the former has waited
	BlockedHead                           // the head; requests that wait
	PreemptionStorm                       // none; preemptions within the second, at most one more than there are seats
)

// observeStep tells the observer of a batch that was just formed.
func (e *Engine) observeStep(b *batch) {
	e.cfg.Observer.Formed(e.now, Step{e.requests.running(), e.requests.waiting(), b.sums.PrefillTokens, b.sums.DecodeTokens, e.UsedBlocks(), b.start, b.end})
}
