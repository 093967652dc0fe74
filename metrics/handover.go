package metrics

import (
	"fmt"

	"blis/vtime"
)

// HandOver is what became of a request before the instance that its Outcome tells of: another
// instance computed its prompt and handed the KV over (prefill/decode disaggregation). Times are
// absolute; vtime.Never where the request did not get there.
type HandOver struct {
	Instance int32 // index of the instance that computed the prompt; −1: nobody handed the request over

	// As in Outcome and Progress, on that instance: where the prompt was looked up and computed.
	Expected                         int32
	Cached, CachedCPU, CachedStorage int32
	Preemptions, Recomputed          int32
	Lost                             vtime.Duration // time lost to preemption there

	Queued, Scheduled vtime.Time // on that instance, the first time
	Ended             vtime.Time // end of the step in which its prefill ended

	// Of the pull of its KV. A pull that the request did not outlive has no end.
	PullStart, PullEnd vtime.Time
	RemoteTokens       int32 // prompt tokens that need not be computed again since their KV was pulled; they are in Progress.Cached
}

// NoHandOver is the hand-over of a request that nobody handed over.
func NoHandOver() HandOver {
	return HandOver{Instance: -1, Queued: vtime.Never, Scheduled: vtime.Never, Ended: vtime.Never, PullStart: vtime.Never, PullEnd: vtime.Never}
}

// HandedOver is the hand-over of a request whose prefill ended at now, as far as o tells it: what the
// instance that computed the prompt says of it.
func HandedOver(o *Outcome, now vtime.Time) HandOver {
	return HandOver{
		Instance: o.Instance, Expected: o.Expected, Cached: o.Cached, CachedCPU: o.CachedCPU, CachedStorage: o.CachedStorage,
		Preemptions: o.Preemptions, Recomputed: o.Recomputed, Lost: o.PrefillLost + o.DecodeLost,
		Queued: o.Queued, Scheduled: o.Scheduled, Ended: now, PullStart: vtime.Never, PullEnd: vtime.Never,
	}
}

// Made reports whether the request was handed over.
func (h *HandOver) Made() bool { return h.Instance >= 0 }

// Lookup is what caches had of a prompt where it was computed, in tokens: on the instance of the request,
// or on the one that handed it over, if its KV came. So each prompt is looked up once.
type Lookup struct {
	Instance     int32 // where
	Expected     int32 // by the router
	Cached       int32
	CPU, Storage int32 // of the cached ones, read from the CPU tier and from storage tiers
}

// Lookup returns the lookup of the prompt of a request that was scheduled.
func (o *Outcome) Lookup() Lookup {
	if h := &o.HandOver; h.RemoteTokens > 0 {
		return Lookup{h.Instance, h.Expected, h.Cached, h.CachedCPU, h.CachedStorage}
	}
	return Lookup{o.Instance, o.Expected, o.Cached, o.CachedCPU, o.CachedStorage}
}

// checkHandOver verifies that the hand-over of a request fits its other phases: R11 of
// docs/invariants.md. A request that went on elsewhere has been queued before its last hand-over.
func checkHandOver(o *Outcome) string {
	h := &o.HandOver
	if !h.Made() {
		if *h != NoHandOver() {
			return fmt.Sprintf("nobody handed it over, but %+v", *h)
		}
		return ""
	}
	lost := h.Lost < 0 || h.Lost > h.Ended.Sub(h.Scheduled) || h.Preemptions == 0 && (h.Lost > 0 || h.Recomputed > 0)
	switch {
	case !(o.Admitted <= h.Queued && h.Queued <= h.Scheduled && h.Scheduled < h.Ended && h.Ended < vtime.Never):
		return fmt.Sprintf("its prefill for another instance is out of order: queued at %s, scheduled at %s, ended at %s", h.Queued, h.Scheduled, h.Ended)
	case h.PullStart == vtime.Never && h.PullEnd != vtime.Never || h.PullStart != vtime.Never && h.PullEnd <= h.PullStart:
		return fmt.Sprintf("its KV is pulled from %s to %s", h.PullStart, h.PullEnd)
	case o.Redirects == 0 && (h.Ended >= o.Queued || h.PullStart != vtime.Never && (h.PullStart < o.Queued || o.Scheduled < h.PullStart)):
		return fmt.Sprintf("its prefill ended at %s, and its pull began at %s", h.Ended, h.PullStart)
	case o.Redirects == 0 && h.RemoteTokens > 0 && o.FirstToken < h.PullEnd:
		return fmt.Sprintf("its pull ended at %s, after its first token", h.PullEnd)
	case h.Cached < 0 || h.Cached >= o.Input || h.CachedCPU < 0 || h.CachedStorage < 0 || h.CachedCPU+h.CachedStorage > h.Cached:
		return fmt.Sprintf("its prefill found %d tokens cached of %d, %d of them in the CPU tier and %d in storage tiers", h.Cached, o.Input, h.CachedCPU, h.CachedStorage)
	case h.RemoteTokens < 0 || h.RemoteTokens > o.Cached-o.CachedCPU-o.CachedStorage || h.RemoteTokens > 0 && h.PullStart == vtime.Never:
		return fmt.Sprintf("%d tokens cached, %d of them pulled", o.Cached, h.RemoteTokens)
	case h.Preemptions < 0 || h.Recomputed < 0 || lost:
		return fmt.Sprintf("its prefill recomputed %d tokens and lost %d µs in %d preemptions", h.Recomputed, h.Lost, h.Preemptions)
	}
	return ""
}
