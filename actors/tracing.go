package actors

import (
	"fmt"
	"math"
	"slices"

	"blis/engine"
	"blis/lookahead"
	"blis/policy"
	"blis/trace"
	"blis/vtime"
	"blis/workload"
)

// Tracing asks a run for a decision trace (package trace).
type Tracing struct {
	Level    trace.Level
	Consumer trace.Consumer // gets the records, on one goroutine at a time; nil with level None

	// Counterfactual is the number of candidates that a routing decision lists,
	// with their scores and signals; 0: none. From 1 on the run reads the load of
	// all instances at each routing decision, which costs parallelism where no
	// policy reads it.
	Counterfactual int
}

// check checks what was asked for.
func (t *Tracing) check() error {
	switch {
	case t.Level > trace.Detailed:
		return inputErrorf("trace level %d: want at most %d, detailed", t.Level, trace.Detailed)
	case t.Level != trace.None && t.Consumer == nil:
		return inputErrorf("trace level %v has no consumer", t.Level)
	case t.Counterfactual < 0:
		return inputErrorf("--counterfactual-k is %d: want 0 (off) or more", t.Counterfactual)
	case t.Counterfactual > 0 && t.Level == trace.None:
		return inputErrorf("--counterfactual-k is %d without a trace: want --trace-level decisions or detailed with it", t.Counterfactual)
	}
	return nil
}

// counterfactualSignals are the signals that a run observes for its candidates.
func counterfactualSignals(t *Tracing) policy.Signals {
	if t.Counterfactual == 0 {
		return policy.NoSignals
	}
	return policy.QueueDepth | policy.BatchSize | policy.InFlight
}

// shownSignals are the signals that candidates and snapshots have.
const shownSignals = loadSignals | policy.InFlight

// tracing is the router's part in a trace.
type tracing struct {
	level          trace.Level
	most           int            // candidates of a decision; 0: no counterfactuals
	counterfactual policy.Signals // observed for candidates alone
	shown          policy.Signals // that routing decisions see
	hints          []string       // that the priority policy gives
	named          [][]string     // the scorers of the routing policies that explain their scores, by pool
	again          bool           // the next routing decision is about a request that has its priority
	best           []candidate    // of the current decision
	shares         []float64
	keys           []uint64 // of the blocks of the current prompt
}

// counterfactualSignals are those that a counterfactual trace alone reads.
func (t *tracing) counterfactualSignals() policy.Signals {
	if t == nil {
		return policy.NoSignals
	}
	return t.counterfactual
}

// candidate is an instance that could be chosen.
type candidate struct {
	instance int
	score    float64
}

// newTracing returns nil when the run is not traced.
func newTracing(c *Tracing, of *fleet, counterfactual, shown policy.Signals) *tracing {
	if c.Level == trace.None {
		return nil
	}
	t := &tracing{level: c.Level, most: c.Counterfactual, counterfactual: counterfactual, shown: shown, hints: of.pools[0].hints}
	for i, s := range of.pools {
		t.named = append(t.named, nil)
		if e, ok := s.endpoints.routing.(policy.Explainer); ok {
			t.named[i] = e.Scorers()
		}
		s.endpoints.holdings = holdingsOf(s.endpoints)
	}
	return t
}

// decided is the result of a routing decision.
type decided struct {
	target           int
	forced, migrated bool
}

// question is what a routing policy was asked.
type question struct {
	request *policy.Request
	state   *policy.RouterState
}

// routed sends the routing decision about d to the tracer, while the view shows what
// the policy saw.
func (t *tracing) routed(at *endpoints, out *lookahead.Outbox, now vtime.Time, d *engine.Delivery, choice *policy.RoutingDecision, of question, what decided) {
	view := &at.cluster.view
	what.migrated, t.again = what.migrated || t.again, false
	pool := 0
	if len(at.places) > 0 {
		pool = at.places[0].pool.index
	}
	named := t.named[pool]
	m := tracedRouting{decided: what, pool: pool, reason: choice.Reason, hit: -1, signals: t.shown, filtered: choice.FilteredOut, hinted: d.Hints.Used(), counterfactual: t.most > 0, snapshots: t.level == trace.Detailed}
	if at.prefixes != nil && what.target >= 0 {
		m.hit = at.expected(what.target, d.Input)
	}
	m.held = t.look(at, of.request, what.target)
	if m.snapshots {
		t.keys = workload.AppendKeys(t.keys[:0], of.request.Spans, at.plan.BlockSize, int(d.Input/at.plan.BlockSize))
		m.keys, m.state, m.kept = t.keys, of.state, of.state.Kept(d.Tenant, now)
	}
	if t.most > 0 {
		t.rank(view, choice)
		if m.candidates = t.best[:min(len(t.best), t.most)]; len(t.best) > 0 {
			m.best = t.best[0].score
		}
		if what.target >= 0 {
			m.score = t.score(view, choice, what.target)
		}
	}
	if choice.Scores != nil && len(m.candidates) > 0 && len(named) > 0 {
		m.explain = at.routing.(policy.Explainer)
		m.shares, m.scratch = len(named), &t.shares
	}
	m.send(out, now, d, at)
}

// score is the score of instance i: from the policy, or else minus its requests.
func (t *tracing) score(view *policy.View, choice *policy.RoutingDecision, i int) float64 {
	if choice.Scores != nil {
		return choice.Scores[i]
	}
	s := view.Slot(i)
	return float64(-(int64(s.Queue) + int64(s.Batch) + int64(s.InFlight)))
}

// rank makes t.best the candidates with the largest scores, the best first; of equal
// ones the one with the lower index.
func (t *tracing) rank(view *policy.View, choice *policy.RoutingDecision) {
	t.best = t.best[:0]
	if n := len(choice.Scores); choice.Scores != nil && n != view.Len() {
		panic(fmt.Sprintf("actors: the routing policy gives %d scores: want one for each of %d instances", n, view.Len()))
	}
	for i := range view.Len() {
		if _, out := slices.BinarySearch(choice.FilteredOut, int32(i)); out || !view.Routable(i) {
			continue
		}
		c := candidate{i, t.score(view, choice, i)}
		if math.IsNaN(c.score) || math.IsInf(c.score, 0) {
			panic(fmt.Sprintf("actors: the routing policy scores instance %d with %v: want a finite number", i, c.score))
		}
		if len(t.best) < t.most {
			t.best = append(t.best, c)
		} else if last := &t.best[len(t.best)-1]; c.score > last.score {
			*last = c
		} else {
			continue
		}
		for k := len(t.best) - 1; k > 0 && t.best[k].score > t.best[k-1].score; k-- {
			t.best[k], t.best[k-1] = t.best[k-1], t.best[k]
		}
	}
}
