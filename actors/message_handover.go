package actors

import (
	"blis/lookahead"
	"blis/metrics"
	"blis/vtime"
)

// A hand-over travels with its request, where there was one.

// handOverFields is the number of fields that writeHandOver writes.
func handOverFields(h *metrics.HandOver) int {
	if !h.Made() {
		return 0
	}
	return 10
}

// writeHandOver writes what became of a request before, nothing if nobody handed it over.
func writeHandOver(out *lookahead.Outbox, arrival vtime.Time, h *metrics.HandOver) {
	if !h.Made() {
		return
	}
	for _, t := range handOverTimes(h) {
		out.Int(since(arrival, *t))
	}
	out.Int(int64(h.Lost))
	for _, n := range handOverCounts(h) {
		out.Int(n.word())
	}
}

// readHandOver is the inverse of writeHandOver, of a hand-over that was made.
func readHandOver(b *lookahead.Decoder, arrival vtime.Time, h *metrics.HandOver) {
	for _, t := range handOverTimes(h) {
		*t = after(arrival, b.Int())
	}
	h.Lost = vtime.Duration(b.Int())
	for _, n := range handOverCounts(h) {
		n.set(b.Int())
	}
}

// handOverTimes are the times of h, in the order in which they travel.
func handOverTimes(h *metrics.HandOver) [5]*vtime.Time {
	return [...]*vtime.Time{&h.Queued, &h.Scheduled, &h.Ended, &h.PullStart, &h.PullEnd}
}

// handOverCounts are the counts of h, in the order in which they travel.
func handOverCounts(h *metrics.HandOver) [4]counts {
	return [...]counts{{&h.Instance, &h.RemoteTokens}, {&h.Cached, &h.CachedCPU}, {&h.CachedStorage, &h.Preemptions}, {&h.Recomputed, &h.Expected}}
}
