package engine

import (
	"math"

	"blis/metrics"
	"blis/vtime"
)

// diagnosis counts the anomalies of one instance and passes them to the observer,
// with the formations. docs/metrics.md says step by step what each anomaly is.
// Nothing of it feeds back into what the instance does.
type diagnosis struct {
	requests *requests
	counters *metrics.Counters
	observer Observer  // nil: none
	seen     Formation // at hand; kept only for an observer

	prioritised bool    // a request was queued
	priority    float64 // of all requests that were queued, while there is no priorityIndex

	storm storm
}

// queued takes in slot i, which is about to be queued. The priority index begins
// with the second priority.
func (d *diagnosis) queued(i int32) {
	r, priority := d.requests, d.requests.at(i).Priority
	switch {
	case r.priorities != nil:
		r.priorities.add(i)
	case !d.prioritised:
		d.prioritised, d.priority = true, priority
	case priority != d.priority:
		r.priorities = newPriorityIndex(r)
		r.priorities.add(i)
	}
}

// begins clears what was seen of the formation before.
func (d *diagnosis) begins() {
	if d.observer != nil {
		d.seen.clear()
	}
}

// admits notes for the observer that s is admitted with cached tokens.
func (d *diagnosis) admits(s *slot, cached int32) {
	if d.observer != nil {
		d.seen.admit(s, cached)
	}
}

// preempts passes to the observer that s is about to lose its blocks for another
// request, for which those that are free do not suffice.
func (d *diagnosis) preempts(s, by *slot, free int, now vtime.Time) {
	if d.observer != nil {
		d.seen.Preempted = append(d.seen.Preempted, s.ID)
		d.observer.Preempted(now, Preemption{s.ID, by.ID, s.computed, free})
	}
}

// formed passes the formation of b to the observer, unless it did nothing.
func (d *diagnosis) formed(b *batch, f *batcher) {
	if d.observer != nil && (!b.empty() || b.preempted > 0) {
		d.seen.fill(b, f)
		d.observer.Formed(b.formedAt, &d.seen)
	}
}

// admitted counts the requests just admitted that are scheduled for the first
// time while one of higher priority stays in the queue. A request in the queue
// now was there when the formation began.
func (d *diagnosis) admitted(items []item, now vtime.Time) {
	index := d.requests.priorities
	if index == nil || d.requests.waiting() == 0 {
		return
	}
	highest := index.highest()
	for _, it := range items {
		s := d.requests.at(it.slot)
		if s.preemptions > 0 || s.Priority >= highest {
			continue
		}
		d.counters.PriorityInversions++
		if d.observer != nil {
			w := d.requests.at(index.first(highest).slot)
			d.pass(now, PriorityInversion, w.Priority-s.Priority, w.ID, s.ID)
		}
	}
}

// completed counts, once each, the requests that wait with a higher priority
// than s, which completes, and were queued before it.
func (d *diagnosis) completed(s *slot, now vtime.Time) {
	index := d.requests.priorities
	if index == nil || d.requests.waiting() == 0 {
		return
	}
	index.overtaken(s, func(w *slot) {
		d.counters.HeadOfLineBlocked++
		if d.observer != nil {
			d.pass(now, HeadOfLineBlocking, float64(now.Sub(w.Queued)), w.ID, s.ID)
		}
	})
}

// headBlocked counts the step just formed, whose queue head does not fit, if
// requests wait behind the head.
func (d *diagnosis) headBlocked(head int32, now vtime.Time) {
	waiting := d.requests.waiting()
	if waiting < 2 {
		return
	}
	d.counters.BlockedHeads++
	if d.observer != nil {
		d.pass(now, BlockedHead, float64(waiting), d.requests.at(head).ID)
	}
}

// preempted counts a storm if the formation at now, which preempts n requests,
// begins one.
func (d *diagnosis) preempted(n int, now vtime.Time) {
	if n > 0 && d.storm.begins(n, int64(d.requests.running()), now) {
		d.counters.PreemptionStorms++
		if d.observer != nil {
			d.pass(now, PreemptionStorm, float64(d.storm.recent(now)))
		}
	}
}

// pass passes an anomaly to the observer.
func (d *diagnosis) pass(now vtime.Time, kind AnomalyKind, severity float64, requests ...int64) {
	severity = max(-math.MaxFloat64, min(severity, math.MaxFloat64))
	d.observer.Anomaly(now, Anomaly{kind, requests, severity})
}

// storm remembers the times of the last preemptions, as many as can matter.
type storm struct {
	times []vtime.Time // a ring
	most  int          // requests that can run
	n     int64        // preemptions so far
	last  vtime.Time   // the last formation with too many of them
	any   bool         // there was one
}

// stormSpan is the time over which preemptions add up to a storm, and the time
// without too many of them that ends one.
const stormSpan = vtime.Second

// begins takes in a formation at now that preempts n requests and leaves the given
// number running. It reports whether a storm begins with it: more preemptions
// within a second than requests running. It is the same storm while less than a
// second passes between two such formations.
func (w *storm) begins(n int, running int64, now vtime.Time) bool {
	if w.times == nil {
		w.times = make([]vtime.Time, w.most+1)
	}
	size := int64(len(w.times))
	for range n {
		w.times[w.n%size] = now
		w.n++
	}
	if w.n <= running || now.Sub(w.times[(w.n-1-running)%size]) >= stormSpan {
		return false
	}
	begins := !w.any || now.Sub(w.last) >= stormSpan
	w.any, w.last = true, now
	return begins
}

// recent returns the number of preemptions less than a second old, of those remembered.
func (w *storm) recent(now vtime.Time) int64 {
	n, size := int64(0), int64(len(w.times))
	for n < min(w.n, size) && now.Sub(w.times[(w.n-1-n)%size]) < stormSpan {
		n++
	}
	return n
}
