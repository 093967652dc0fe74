package metrics

import (
	"blis/vtime"
)

// phase is a part of the life of a request that one instance hands over to another. All of them
// together are its E2E.
type phase int

const (
	frontEndPhase     phase = iota // arrival to the queue of the prefill instance, and the overheads of the client
	prefillQueuePhase              // to the first step there
	prefillPhase                   // to the end of the prefill
	handOverPhase                  // to the queue of the instance where it goes on
	decodeQueuePhase               // to its admission, which begins the pull
	transferPhase                  // to its first step; 0 if nothing was pulled
	decodePhase                    // to its end
	phases
)

// handedOver is what a cell knows of requests that were handed over.
type handedOver struct {
	requests int64                // of the cell
	remote   int64                // tokens that were pulled for them
	phases   [phases]Distribution // of completed ones, µs
}

// handOvers returns what c knows of requests that were handed over, to count one more.
func (c *cell) handOvers() *handedOver {
	if c.handedOver == nil {
		c.handedOver = new(handedOver)
	}
	return c.handedOver
}

// phases returns the phases of a completed request that was handed over. One that went on on a third
// instance has none: it was queued before it was handed over.
func (o *Outcome) phases(overheads vtime.Duration) (p [phases]vtime.Duration, ok bool) {
	h := &o.HandOver
	if !h.Made() || o.Redirects > 0 {
		return p, false
	}
	admitted := min(h.PullStart, o.Scheduled)
	p[frontEndPhase] = h.Queued.Sub(o.Arrival) + overheads
	p[prefillQueuePhase] = h.Scheduled.Sub(h.Queued)
	p[prefillPhase] = h.Ended.Sub(h.Scheduled)
	p[handOverPhase] = o.Queued.Sub(h.Ended)
	p[decodeQueuePhase] = admitted.Sub(o.Queued)
	p[transferPhase] = o.Scheduled.Sub(admitted)
	p[decodePhase] = o.Finished.Sub(o.Scheduled)
	return p, true
}

// addHandedOver counts the phases of a completed request, and its split: the step that computes the last
// token of the prompt again is prefill there.
func (c *cell) addHandedOver(o *Outcome, p *[phases]vtime.Duration) {
	for i, d := range p {
		c.handedOver.phases[i].Add(int64(d))
	}
	prefilled, lost := min(o.FirstToken, o.Finished), o.HandOver.Lost
	c.split.frontEnd.add(int64(p[frontEndPhase]))
	c.split.queue.add(int64(p[prefillQueuePhase] + p[decodeQueuePhase]))
	c.split.prefill.add(int64(p[prefillPhase] - lost + prefilled.Sub(o.Scheduled) - o.PrefillLost))
	c.split.handOver.add(int64(p[handOverPhase] + p[transferPhase]))
	c.split.decode.add(int64(o.Finished.Sub(prefilled) - o.DecodeLost))
	c.split.recompute.add(int64(o.PrefillLost + o.DecodeLost + lost))
}

// HandOverPhases are the phases of completed requests that one instance handed over to another. Their
// means add up to the mean E2E of these requests. Nil without any.
type HandOverPhases struct {
	FrontEnd     *Summary `json:"front_end"`     // arrival to the queue of the prefill instance, and the overheads of the client
	PrefillQueue *Summary `json:"prefill_queue"` // to the first step there
	Prefill      *Summary `json:"prefill"`       // to the end of the prefill
	HandOver     *Summary `json:"hand_over"`     // to the queue of the decode instance
	DecodeQueue  *Summary `json:"decode_queue"`  // to the admission there, which begins the pull
	Transfer     *Summary `json:"transfer_wait"` // to the first step there; 0 if nothing was pulled
	Decode       *Summary `json:"decode"`        // to the end
}

// handOverPhases reports those of a cell, nil if none of its requests was handed over and completed.
func (all *collection) handOverPhases(c *cell) *HandOverPhases {
	if c.handedOver == nil || c.handedOver.phases[0].N() == 0 {
		return nil
	}
	of := func(p phase) *Summary { return all.summaries.add(&c.handedOver.phases[p]) }
	return &HandOverPhases{
		FrontEnd: of(frontEndPhase), PrefillQueue: of(prefillQueuePhase), Prefill: of(prefillPhase), HandOver: of(handOverPhase),
		DecodeQueue: of(decodeQueuePhase), Transfer: of(transferPhase), Decode: of(decodePhase),
	}
}

// Means are the means of the phases in their order.
func (p *HandOverPhases) Means() (list [phases]float64) {
	for i, s := range [phases]*Summary{p.FrontEnd, p.PrefillQueue, p.Prefill, p.HandOver, p.DecodeQueue, p.Transfer, p.Decode} {
		list[i] = s.Mean
	}
	return list
}
