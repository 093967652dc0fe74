package policy

import "blis/vtime"

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
	build: func(v values, env Env) (Routing, error) { return &leastLoaded{tie: newTieBreak(v, env)}, nil },
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
type leastLoaded struct {
	tie      tieBreak
	follower follower
	loads    tournament // the less load, the stronger
}

func (*leastLoaded) Observes() Signals { return effectiveLoad }

func (p *leastLoaded) Route(_ *Request, _ float64, _ *RouterState, view *View, _ vtime.Time) RoutingDecision {
	p.follow(view)
	target := p.tie.choose(&p.loads)
	if target < 0 {
		return nowhere
	}
	return RoutingDecision{Target: target, Reason: LeastLoad}
}

// follow brings the loads up to those of the view.
func (p *leastLoaded) follow(view *View) {
	slots := view.read(effectiveLoad)
	change, anew := p.follower.catchUp(view)
	if !anew {
		for ; change < view.changes; change++ {
			i := view.changed(change)
			p.loads.set(i, idleness(&slots[i]))
		}
		return
	}
	p.loads.reset(len(slots), p.tie.stream != nil)
	players := p.loads.players()
	for i := range slots {
		players[i] = idleness(&slots[i])
	}
	p.loads.survey()
}

// idleness is the strength of an instance for which a small load counts.
func idleness(s *Slot) uint64 {
	if !s.Routable {
		return 0
	}
	return lightness(s.load())
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

// draw chooses among n equals: how many of them are before the chosen one.
func (b tieBreak) draw(n int) int {
	if n < 2 || b.stream == nil {
		return 0
	}
	return b.stream.IntN(n)
}

// choose is one of the best players of a tournament, −1 when all are out.
func (b tieBreak) choose(t *tournament) int {
	switch {
	case t.best() == 0:
		return -1
	case b.stream == nil:
		return t.first()
	}
	return t.nth(b.draw(int(t.equal[1])))
}
