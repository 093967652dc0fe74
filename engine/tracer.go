package engine

import (
	"math"

	"blis/vtime"
)

// Tracer hears what happens inside an instance, at the time of the event that
// does it. What it is given is valid during the call, and none of it may be
// changed.
type Tracer interface {
	// Formed takes a step that was formed at now and schedules something.
	Formed(now vtime.Time, s Step)
	// Preempted takes a request that is about to lose its blocks.
	Preempted(now vtime.Time, p Preemption)
	// Odd takes an anomaly just when Counters count it.
	Odd(now vtime.Time, o Oddity)
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

// Oddity is an anomaly. Its requests are those concerned, the one that suffers
// first.
type Oddity struct {
	Kind     OddKind
	Requests []int64
	Severity float64 // finite; in the unit of the kind
}

// OddKind is which of the anomalies of one instance it is; docs/metrics.md
// defines them.
type OddKind uint8

// Kinds, with the requests and the unit of severity of each.
const (
	PriorityInversion  OddKind = iota // who stays waiting, who was scheduled; difference of their priorities
	HeadOfLineBlocking                // who waits, who completes; µs for which the former has waited
	BlockedHead                       // the head; requests that wait
	PreemptionStorm                   // none; preemptions within the second, at most one more than there are seats
)

// odd tells the tracer of an anomaly.
func (e *Engine) odd(kind OddKind, severity float64, requests ...int64) {
	severity = max(-math.MaxFloat64, min(severity, math.MaxFloat64))
	e.cfg.Tracer.Odd(e.now, Oddity{kind, requests, severity})
}

// tellInversion is odd for s, which is scheduled while the highest priority of
// those who wait is this.
func (e *Engine) tellInversion(s *slot, highest float64) {
	p := &e.precedence
	i := p.ranks.next(0, func(r rank) bool { return r.waiting >= highest })
	w := e.slot(p.places[i].slot)
	e.odd(PriorityInversion, w.Priority-s.Priority, w.ID, s.ID)
}

// tellStep tells the tracer of a batch that was just formed.
func (e *Engine) tellStep(b *batch) {
	start := b.formedAt
	if e.current != nil {
		start = e.current.end
	}
	e.cfg.Tracer.Formed(e.now, Step{e.running, e.waiting, b.sums.PrefillTokens, b.sums.DecodeTokens, e.UsedBlocks(), start, start.Add(b.duration)})
}

// recentPreemptions is how many of those that a storm remembers are less than
// a second old.
func (w *storm) recentPreemptions(now vtime.Time) int64 {
	n, size := int64(0), int64(len(w.times))
	for n < min(w.n, size) && now.Sub(w.times[(w.n-1-n)%size]) < stormSpan {
		n++
	}
	return n
}
