package actors

import (
	"fmt"
	"math"

	"blis/engine"
	"blis/lookahead"
	"blis/policy"
	"blis/setup"
	"blis/trace"
	"blis/vtime"
)

// newDeciders returns the policies of the router about requests of all pools.
func newDeciders(p *setup.Plan, q *policies) deciders {
	d := deciders{priority: q.priority, reads: q.priority.Observes(), hints: q.hints, inversions: policy.NewClassInversions(p.Source.Labels())}
	if len(q.hints) > 0 {
		d.hinter = q.priority.(policy.Hinter)
	}
	return d
}

// hint gives d, the request of ask, its hints, after its priority. They stay as they are
// until the request ends, as the priority does. Zeros have no sign, so that hints that
// travel are the same as before.
func (p *deciders) hint(d *engine.Delivery, ask *policy.Request, st *policy.RouterState, now vtime.Time) {
	if d.Hints == nil {
		d.Hints = new(policy.Hints)
	}
	h := d.Hints
	*h = policy.Hints{}
	p.hinter.Hint(ask, st, now, h)
	for k, x := range h {
		switch {
		case math.IsNaN(x) || math.IsInf(x, 0):
			panic(fmt.Sprintf("actors: hint %d of request %d is %v: want a finite number", k, d.ID, x))
		case x == 0:
			h[k] = 0
		case k >= len(p.hints):
			panic(fmt.Sprintf("actors: the priority policy sets hint %d of request %d: it has %d", k, d.ID, len(p.hints)))
		}
	}
}

// writeHints writes the first n hints.
func writeHints(out *lookahead.Outbox, h *policy.Hints, n int) {
	for k := range n {
		out.Float(h[k])
	}
}

// readHints is the inverse of writeHints. It uses the memory of h again; nil: there is none.
func readHints(b *lookahead.Decoder, h *policy.Hints, n int) *policy.Hints {
	if h == nil {
		if n == 0 {
			return nil
		}
		h = new(policy.Hints)
	}
	*h = policy.Hints{}
	for k := range n {
		h[k] = b.Float()
	}
	return h
}

// readHints makes hints of a record of n that are in the message and zeros; nil if the priority
// policy gives none.
func (t *tracer) readHints(b *lookahead.Decoder, n int) []trace.Hint {
	for k := range t.store.hints {
		t.store.hints[k].Value = 0
		if k < n {
			t.store.hints[k].Value = b.Float()
		}
	}
	return t.store.hints
}

// namedHints returns hints of records with these names.
func namedHints(names []string) (list []trace.Hint) {
	for _, name := range names {
		list = append(list, trace.Hint{Name: name})
	}
	return list
}
