package policy

import (
	"math/bits"
	"slices"

	"blis/vtime"
)

// tie is the parameter of the policies that may find several instances
// equally good.
var tie = Parameter{Name: "tie", Type: Choice, Default: "random", Choices: []string{"random", "lowest"},
	Help: "among equally good instances: a draw by seed, request number and attempt, or the lowest index"}

var routingTemplates = withFilters([]template[Routing]{{
	Template: Template{Kind: RoutingKind, Name: "round-robin", Help: "each instance in turn; reads nothing of them (default)"},
	build:    func(values, Env) (Routing, error) { return &roundRobin{}, nil },
}, {
	Template: Template{Kind: RoutingKind, Name: "least-loaded", Help: "the smallest effective load: queue depth + batch size + in-flight",
		Parameters: []Parameter{tie}},
	build: func(v values, env Env) (Routing, error) {
		return &byLoad{ranking{tie: newTieBreak(v, env)}, LeastLoad}, nil
	},
}, {
	Template: Template{Kind: RoutingKind, Name: weightedName, Help: "the largest weighted sum of scores in [0, 1]; without weights prefix-affinity:3, queue-depth:2, kv-utilization:2",
		Parameters: weightedParameters()},
	build: newWeighted,
}, {
	Template: Template{Kind: RoutingKind, Name: "prefix-affinity", Help: "the longest prefix of the prompt expected in cache, among equals the least loaded; least-loaded when too little is or the load gap is too large",
		Parameters: []Parameter{minMatch, maxImbalance, tie}},
	build: func(v values, env Env) (Routing, error) {
		return &longestPrefix{
			ranking:   ranking{tie: newTieBreak(v, env)},
			index:     env.Prefixes,
			imbalance: v.number(maxImbalance.Name),
			least:     v.number(minMatch.Name),
		}, nil
	},
}, {
	Template: Template{Kind: RoutingKind, Name: "power-of-two", Seeded: true, Help: "two instances drawn by seed, request number and attempt; the one with less effective load"},
	build:    newPowerOfTwo,
}, {
	Template: Template{Kind: RoutingKind, Name: "session-hash", Help: "the largest hash of session and instance: a session stays where it is, and few move when instances come or go; without a session the fewest requests in flight",
		Parameters: []Parameter{tie}},
	build: func(v values, env Env) (Routing, error) { return &sessionHash{tie: newTieBreak(v, env)}, nil },
}, {
	Template: Template{Kind: RoutingKind, Name: "always-busiest", Help: "the largest effective load (pathological, for tests)",
		Parameters: []Parameter{tie}},
	build: func(v values, env Env) (Routing, error) {
		return &byLoad{ranking{tie: newTieBreak(v, env), busiest: true}, MostLoad}, nil
	},
}})

// weightedName is the name of the policy that has scorers.
const weightedName = "weighted"

// noTarget is the decision when no instance is routable.
var noTarget = RoutingDecision{Target: -1, Reason: NoInstance}

// roundRobin takes the routable instances in turn, in index order.
type roundRobin struct {
	next int // index to try first
}

func (*roundRobin) Observes() Signals { return NoSignals }

func (r *roundRobin) Route(_ *Request, _ float64, _ *RouterState, view *View, _ vtime.Time) RoutingDecision {
	present := view.present
	at, next := r.next, int32(r.next)
	if at >= len(present) || present[at] != next { // some before it are gone
		at, _ = slices.BinarySearch(present, next)
	}
	for range present {
		if at == len(present) {
			at = 0
		}
		target := int(present[at])
		at++
		if view.Routable(target) {
			r.next = target + 1
			return RoutingDecision{Target: target, Reason: InTurn}
		}
	}
	return noTarget
}

// tieBreak chooses among equally good instances: by a draw, or the one with the
// lowest index. It draws only when there is a tie.
type tieBreak struct {
	draws  Draws
	lowest bool
}

func newTieBreak(v values, env Env) tieBreak {
	return tieBreak{env.Draws, v.choice("tie") == "lowest"}
}

// draw chooses one of n equals, numbered from 0.
func (b tieBreak) draw(req *Request, n int) int {
	if n < 2 || b.lowest {
		return 0
	}
	return b.draws.IntN(req, 0, n)
}

// choose returns one of the best leaves of t, −1 when all are out.
func (b tieBreak) choose(req *Request, t *maxTree) int {
	switch {
	case t.best() == 0:
		return -1
	case b.lowest:
		return t.first()
	}
	return t.nth(b.draw(req, int(t.equal[1])))
}

// Draws is the randomness of routing policies. A draw is a hash of the run's seed,
// the number of the request and the attempt to route it, not the next value of a
// stream. So the draws of one request do not depend on earlier decisions: a forced
// choice, or a tie that another policy did not have.
//
// The zero Draws have seed 0.
type Draws struct{ seed uint64 }

// NewDraws returns the draws of a run with that seed.
func NewDraws(seed uint64) Draws { return Draws{vtime.Mix(seed + drawsSalt)} }

// drawsSalt makes draws differ from all other uses of the seed.
const drawsSalt = 0x726f757465722121

// IntN returns a number from 0 to n−1 for this attempt to route the request, all
// with equal probability. turn numbers the draws of one decision. n is at least 1.
func (d Draws) IntN(req *Request, turn uint32, n int) int {
	h := vtime.Mix(vtime.Mix(d.seed^uint64(req.ID)) ^ (uint64(uint32(req.Attempt))<<32 | uint64(turn)))
	high, _ := bits.Mul64(h, uint64(n))
	return int(high)
}
