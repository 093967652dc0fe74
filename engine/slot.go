package engine

import (
	"blis/kv"
	"blis/metrics"
	"blis/policy"
	"blis/vtime"
	"blis/workload"
)

// Delivery is a request as it is delivered to an instance.
type Delivery struct {
	workload.Request
	Priority float64
	Admitted vtime.Time
	Expected int32            // prompt tokens that the router expects to be cached here
	Retries  int32            // times that it was lost with an instance before
	HandOver metrics.HandOver // of an engine with Config.Disaggregation; else nobody reads it
	Hints    *policy.Hints    // valid during the call; nil: all 0

	// Attempt tells attempts of one request apart that may come to one instance, whose caches have what the earlier
	// one made: of content without a name nothing is found again.
	Attempt uint32

	// Turn orders requests that are queued at the same microsecond, where their numbers do not: a gateway delivers
	// them in an order of its own. 0: TurnOf its number.
	Turn     int64
	Endpoint uint16 // index in Ranks.Endpoints, of who gets it; engines do not read it
}

// turnBits are the bits of a Turn below the number of a request.
const turnBits = 24

// TurnOf is the Turn of a request by its number.
func TurnOf(number int64) int64 { return number << turnBits }

// turn is the Turn of d.
func (d *Delivery) turn() int64 {
	if d.Turn != 0 {
		return d.Turn
	}
	return TurnOf(d.ID)
}

// slot is a place for a request in the instance. It is used again, the memory of
// its sequence too: a reference to a request is a member, which has its ID.
type slot struct {
	request
	seq kv.Sequence
}

// request is what is known of one request, but for its blocks.
type request struct {
	policy.Waiting // with the request's Identity

	phase     phase          // written by requests.to
	refusal   metrics.Reason // why it will not be let into the wait queue; NoReason: it will
	overdue   bool           // its deadline has passed; it leaves when the step in flight ends
	reclaimed bool           // the gateway evicts it: it leaves as one whose deadline passes
	migrated  bool           // it came from another instance; see migration
	overtaken bool           // counted as overtaken by one that came later

	output int32 // output tokens that its client wants
	target int32 // output tokens that it will deliver: output, or fewer when max-model-len cuts it
	limit  int32 // output tokens after which the scheduler knows that it ends: max_tokens, or output where there is none

	computed  int32 // tokens whose KV exists or is being computed
	generated int32 // output tokens delivered
	inFlight  int32 // output tokens of batches in flight
	lost      int32 // computed tokens when it was preempted or drained last
	deficit   int32 // computed tokens at which its preemptions are made up for

	order       int64 // number of its admission: position in the running list
	joined      int64 // formation in which it first counted as cohort member
	chain       int32 // of cohort.ends: the next slot of the same formation + 1
	group       int32 // ITL group: requests whose inter-token latencies are counted together; −1: not measured
	arrivalSlot int32 // in the priority index, if there is one
	front       int32 // the front end that it came through, of those of data-parallel ranks

	deadline, admitted, routed       vtime.Time
	scheduled, firstToken, lastToken vtime.Time
	evicted                          vtime.Time // first preemption not made up for; Never: none
	prefillLost, decodeLost          vtime.Duration

	cached, cachedCPU, cachedStorage, preemptions, recomputed int32
	expected, retries                                         int32 // as delivered
}

// known returns the number of tokens whose value is known: prompt and delivered.
func (s *slot) known() int32 { return s.Input + s.generated }

// missing returns the number of tokens to be computed until the next is sampled.
func (s *slot) missing() int32 { return s.known() + s.inFlight - s.computed }

// decodes reports whether s has its first token, in flight at least, and has
// computed all before its last.
func (s *slot) decodes() bool { return s.missing() <= 1 && s.generated+s.inFlight > 0 }

// last returns the formation in which a member of the cohort has its last token.
func (s *slot) last() int64 { return s.joined + int64(s.target-s.generated-s.inFlight) - 1 }

// bookRecovery books the time that preemption cost: from the first eviction to
// the end of the step that made up for it.
func (s *slot) bookRecovery(now vtime.Time) {
	if s.firstToken == vtime.Never {
		s.prefillLost += now.Sub(s.evicted)
	} else {
		s.decodeLost += now.Sub(s.evicted)
	}
	s.evicted, s.deficit = vtime.Never, 0
}

// delivery returns s as it was delivered.
func (s *slot) delivery() Delivery {
	d := Delivery{Priority: s.Priority, Admitted: s.admitted, Expected: s.expected, Retries: s.retries, HandOver: metrics.NoHandOver(), Hints: s.Hints}
	d.Identity, d.Output = s.Identity, s.output
	d.MaxOutput, d.Deadline = s.MaxOutput, s.deadline
	d.Spans, d.OutputContent = s.seq.Content()
	d.Attempt = uint32((s.seq.ID() - uint64(s.ID)) >> 32)
	return d
}

// progress returns how far s got; resume is the inverse.
func (s *slot) progress(before migration) metrics.Progress {
	return metrics.Progress{
		Routed: s.routed, Queued: min(s.Queued, before.queued), Scheduled: s.scheduled, FirstToken: s.firstToken, LastToken: s.lastToken,
		PrefillLost: s.prefillLost, DecodeLost: s.decodeLost,
		Cached: s.cached, CachedCPU: s.cachedCPU, CachedStorage: s.cachedStorage, Generated: s.generated, Preemptions: s.preemptions, Recomputed: s.recomputed, Redirects: before.redirects,
	}
}

// resume makes s a slot that got so far elsewhere.
func (s *slot) resume(p *metrics.Progress) migration {
	s.migrated = true
	s.routed, s.scheduled, s.firstToken, s.lastToken = p.Routed, p.Scheduled, p.FirstToken, p.LastToken
	s.prefillLost, s.decodeLost = p.PrefillLost, p.DecodeLost
	s.cached, s.cachedCPU, s.cachedStorage, s.generated, s.preemptions, s.recomputed = p.Cached, p.CachedCPU, p.CachedStorage, p.Generated, p.Preemptions, p.Recomputed
	return migration{p.Queued, p.Redirects}
}
