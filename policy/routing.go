package policy

import (
	"math"

	"blis/vtime"
)

// tie is the parameter of the policies that may find several instances
// equally good.
var tie = Parameter{Name: "tie", Type: Choice, Default: "lowest", Choices: []string{"lowest", "random"},
	Help: "among equally good instances: the lowest index, or a draw from the router's random stream"}

var routingTemplates = []template[Routing]{{
	Template: Template{Kind: RoutingKind, Name: "round-robin", Help: "each instance in turn; reads nothing of them (default)"},
	build:    func(values, Env) (Routing, error) { return &roundRobin{}, nil },
}, {
	Template: Template{Kind: RoutingKind, Name: "least-loaded", Help: "the smallest effective load: queue depth + batch size + in-flight",
		Parameters: []Parameter{tie}},
	build: func(v values, env Env) (Routing, error) { return &leastLoaded{newTieBreak(v, env)}, nil },
}, {
	Template: Template{Kind: RoutingKind, Name: "weighted", Help: "the largest weighted sum of scores in [0, 1]; without weights prefix-affinity:3, queue-depth:2, kv-utilization:2",
		Parameters: weightedParameters()},
	build: newWeighted,
}}

// nowhere is the decision when no instance is routable.
var nowhere = RoutingDecision{Target: -1, Reason: NoInstance}

// roundRobin takes the instances in index order and passes over those that
// are not routable.
type roundRobin struct {
	next int // index to try first
}

func (*roundRobin) Observes() Signals { return NoSignals }

func (r *roundRobin) Route(_ *Request, _ float64, _ *RouterState, view *View, _ vtime.Time) RoutingDecision {
	n := view.Len()
	for range n {
		if r.next >= n {
			r.next = 0
		}
		target := r.next
		r.next++
		if view.Routable(target) {
			return RoutingDecision{Target: target, Reason: InTurn}
		}
	}
	return nowhere
}

// leastLoaded takes the smallest effective load.
type leastLoaded struct{ tie tieBreak }

func (*leastLoaded) Observes() Signals { return effectiveLoad }

func (p *leastLoaded) Route(_ *Request, _ float64, _ *RouterState, view *View, _ vtime.Time) RoutingDecision {
	slots := view.read(effectiveLoad)
	target, equal := -1, 0
	least := int64(math.MaxInt64) // more than three counts of 32 bits
	for i := range slots {
		s := &slots[i]
		load := s.load()
		if load > least || !s.Routable {
			continue
		}
		if load == least {
			equal++
			continue
		}
		target, least, equal = i, load, 1
	}
	if target < 0 {
		return nowhere
	}
	if equal > 1 && p.tie.stream != nil {
		for skip := p.tie.stream.IntN(equal); skip > 0; skip-- {
			target++
			for !slots[target].Routable || slots[target].load() != least {
				target++
			}
		}
	}
	return RoutingDecision{Target: target, Reason: LeastLoad}
}

// tieBreak chooses among equally good instances: the lowest index, or with a
// stream a draw, made only when there is a tie.
type tieBreak struct{ stream *vtime.Stream }

func newTieBreak(v values, env Env) tieBreak {
	if v.choice("tie") == "lowest" {
		return tieBreak{}
	}
	if env.Stream == nil {
		panic("policy: tie: random without a stream")
	}
	return tieBreak{env.Stream}
}
