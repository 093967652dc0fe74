package actors

import (
	"math/bits"

	"blis/engine"
	"blis/lookahead"
	"blis/policy"
	"blis/trace"
	"blis/vtime"
)

// The message of a routing decision to the tracer, the longest of all. It is
// written from what the router has at hand and read into the record of the
// trace: its numbers and flags, the candidates of a counterfactual trace, the
// snapshots of a detailed one.

// tracedRouting is a routing decision on its way to the tracer.
type tracedRouting struct {
	decided
	pool    int // among which it was made
	reason  policy.Reason
	hit     int32          // prompt tokens expected to be cached at the target; −1: unknown
	signals policy.Signals // that candidates and snapshots have

	counterfactual bool        // it has candidates
	score, best    float64     // of the target and of the best candidate
	candidates     []candidate // the best ones
	explain        policy.Explainer
	shares         int // terms of a candidate's score; 0: they are not sent
	scratch        *[]float64

	hinted   int     // hints of the request, up to the last that is not 0
	held     held    // who has the beginning of the prompt
	filtered []int32 // that filters left out

	// With level detailed:
	snapshots bool     // of all instances
	keys      []uint64 // of the blocks of the prompt that others may have
	state     *policy.RouterState
	kept      policy.Kept
}

// Flags in the message.
const (
	flagForced   = 1 << iota
	flagMigrated // its priority is that of before
	flagCounterfactual
	flagExplained
	flagHeld
	flagFiltered
	flagHints
)

func (t *tracedRouting) flags() uint64 {
	return bit(t.forced)*flagForced | bit(t.migrated)*flagMigrated | bit(t.counterfactual)*flagCounterfactual | bit(t.explain != nil)*flagExplained | bit(t.held.known)*flagHeld | bit(len(t.filtered) > 0)*flagFiltered | bit(t.hinted > 0)*flagHints
}

// fields is the number of fields of the message.
func (t *tracedRouting) fields(at *endpoints) int {
	n, signals := 6, bits.OnesCount32(uint32(t.signals))
	if t.counterfactual {
		n += 3 + len(t.candidates)*(2+t.shares+signals)
	}
	if t.held.known {
		n += heldFields
	}
	if len(t.filtered) > 0 {
		n += 1 + len(t.filtered)
	}
	if t.hinted > 0 {
		n += 1 + t.hinted
	}
	if t.snapshots {
		n += t.stateFields() + at.behind()*(1+signals)
	}
	return n
}

// send sends the decision about d, made at now.
func (t *tracedRouting) send(out *lookahead.Outbox, now vtime.Time, d *engine.Delivery, at *endpoints) {
	out.Begin(collectorID, lookahead.Key{At: now, Class: vtime.ClassDelivery}, kindTracedRouting, t.fields(at))
	writeSubject(out, &d.Identity)
	out.Uint(uint64(t.pool)<<16 | t.flags()<<8 | uint64(t.reason))
	out.Float(d.Priority)
	out.Int(int64(at.instance(t.target)))
	out.Int(int64(t.hit))
	if t.counterfactual {
		t.writeCandidates(out, at)
	}
	if t.held.known {
		t.held.write(out, at)
	}
	if len(t.filtered) > 0 {
		out.Int(int64(len(t.filtered)))
		for _, i := range t.filtered {
			out.Int(int64(at.instance(int(i))))
		}
	}
	if t.hinted > 0 {
		out.Int(int64(t.hinted))
		writeHints(out, d.Hints, t.hinted)
	}
	if t.snapshots {
		t.writeState(out)
		t.writeSnapshots(out, at)
	}
	out.End()
}

// readRouting is the inverse of send. It reports whether the request migrated,
// and so has had its priority before.
func (t *tracer) readRouting(at vtime.Time, b *lookahead.Decoder, r *trace.Routing) (migrated bool) {
	subject := readSubject(b)
	word := b.Uint()
	flags, pool := word>>8&0xff, int(word>>16)
	*r = trace.Routing{
		Type: "routing", At: at, Request: subject.ID, Tenant: t.tenant(&subject), Class: t.class(&subject), Input: subject.Input,
		Reason: policy.Reason(word & 0xff).String(), Pool: t.fleet.pools[pool].name, Forced: flags&flagForced != 0, Priority: b.Float(),
	}
	s := &t.store
	if s.target = int(b.Int()); s.target >= 0 {
		r.Target = &s.target
	}
	if s.hit = int32(b.Int()); s.hit >= 0 {
		r.ExpectedHit = &s.hit
	}
	if flags&flagCounterfactual != 0 {
		t.readCandidates(b, r, pool, flags&flagExplained != 0)
	}
	if flags&flagHeld != 0 {
		r.Held = s.known.readHeld(b)
	}
	if s.filtered == nil {
		s.filtered = []int{} // none is a list too
	}
	r.FilteredOut = s.filtered[:0]
	if flags&flagFiltered != 0 {
		for range b.Int() {
			r.FilteredOut = append(r.FilteredOut, int(b.Int()))
		}
		s.filtered = r.FilteredOut
	}
	n := int64(0)
	if flags&flagHints != 0 {
		n = b.Int()
	}
	r.Hints = t.readHints(b, int(n))
	if t.level == trace.Detailed {
		r.Prefix, r.State = s.known.readState(b)
		t.readSnapshots(b, &s.snapshots)
		r.Snapshots = &s.snapshots
	}
	mustDecode(b)
	return flags&flagMigrated != 0
}

func (t *tracedRouting) writeCandidates(out *lookahead.Outbox, at *endpoints) {
	out.Float(t.score)
	out.Float(t.best)
	out.Int(int64(len(t.candidates)))
	for _, c := range t.candidates {
		out.Int(int64(at.instance(c.instance)))
		out.Float(c.score)
		if t.explain != nil {
			*t.scratch = t.explain.Explain(c.instance, (*t.scratch)[:0])
			for _, share := range (*t.scratch)[:t.shares] {
				out.Float(share)
			}
		}
		writeSignals(out, t.signals, at.cluster.view.Slot(c.instance))
	}
}

func (t *tracer) readCandidates(b *lookahead.Decoder, r *trace.Routing, pool int, explained bool) {
	s := &t.store
	s.score, s.best = b.Float(), b.Float()
	n := int(b.Int())
	if n > 0 {
		r.Best = &s.best
		if r.Target != nil {
			s.regret = max(0, s.best-s.score)
			r.Score, r.Regret = &s.score, &s.regret
		}
	}
	for len(s.candidates) < n {
		s.candidates = append(s.candidates, seenCandidate{shares: []trace.Breakdown{}})
	}
	s.list = s.list[:0]
	for i := range n {
		seen := &s.candidates[i]
		c := trace.Candidate{Instance: int(b.Int()), Score: b.Float()}
		seen.shares = seen.shares[:0]
		if explained {
			for _, name := range t.named[pool] {
				seen.shares = append(seen.shares, trace.Breakdown{Scorer: name, Share: b.Float()})
			}
		}
		c.Breakdown = seen.shares
		for k, p := range [...]**int32{&c.QueueDepth, &c.BatchSize, &c.InFlight} {
			if t.shown&tracedSignals[k] != 0 {
				seen.signals[k] = int32(b.Int())
				*p = &seen.signals[k]
			}
		}
		if t.shown&policy.KVUse != 0 {
			seen.used = b.Int()
			c.UsedBlocks = &seen.used
		}
		s.list = append(s.list, c)
	}
	r.Candidates = s.list
	if n == 0 {
		r.Candidates = []trace.Candidate{}
	}
}

// writeSnapshots writes those of all instances up to the newest of the endpoints. Instances that are
// none of these are not routable, and nothing is shown of them.
func (t *tracedRouting) writeSnapshots(out *lookahead.Outbox, at *endpoints) {
	view, seat := &at.cluster.view, 0
	for i := range at.behind() {
		if at.places[seat].instance != i {
			out.Uint(0)
			writeSignals(out, t.signals, policy.Slot{})
			continue
		}
		out.Uint(bit(view.Routable(seat)))
		writeSignals(out, t.signals, view.Slot(seat))
		seat++
	}
}

// behind is the number of instances up to the newest of the endpoints.
func (s *endpoints) behind() int { return s.instance(len(s.places)-1) + 1 }

// readSnapshots reads to the end of the message.
func (t *tracer) readSnapshots(b *lookahead.Decoder, s *trace.Snapshots) {
	s.Routable, s.QueueDepth, s.BatchSize, s.InFlight, s.UsedBlocks = s.Routable[:0], s.QueueDepth[:0], s.BatchSize[:0], s.InFlight[:0], s.UsedBlocks[:0]
	for b.Left() > 0 {
		s.Routable = append(s.Routable, b.Uint() == 1)
		for k, list := range [...]*[]int32{&s.QueueDepth, &s.BatchSize, &s.InFlight} {
			if t.shown&tracedSignals[k] != 0 {
				*list = append(*list, int32(b.Int()))
			}
		}
		if t.shown&policy.KVUse != 0 {
			s.UsedBlocks = append(s.UsedBlocks, b.Int())
		}
	}
}

// tracedSignals are the signals that candidates and snapshots have, in the order
// in which they travel.
var tracedSignals = [...]policy.Signals{policy.QueueDepth, policy.BatchSize, policy.InFlight, policy.KVUse}

func writeSignals(out *lookahead.Outbox, signals policy.Signals, s policy.Slot) {
	for i, v := range [...]int64{int64(s.Queue), int64(s.Batch), int64(s.InFlight), s.Used} {
		if signals&tracedSignals[i] != 0 {
			out.Int(v)
		}
	}
}
